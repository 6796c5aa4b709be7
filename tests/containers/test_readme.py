"""The output that the README shows is the output that its command gives."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from runner.paths import root

pytestmark = pytest.mark.containers

SAMPLE = re.compile(
    r"<!-- sample: bench (.*?) -->\n```\n(.*?)\n```\n<!-- end of sample -->", re.DOTALL
)


def shape(text: str) -> list[str]:
    """Lines without what may differ from machine to machine: seconds, and white space."""
    found = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0] in ("move", "trip-alone") and words[-1].replace(".", "").isdigit():
            words[-1] = "SECONDS"
        found.append(re.sub("─+", "-", " ".join(words)))
    return found


def test_the_sample_is_what_the_command_prints(tmp_path: Path) -> None:
    found = SAMPLE.search((root() / "README.md").read_text())
    assert found is not None
    arguments, shown = found.groups()
    done = subprocess.run(
        [sys.executable, "-c", "from runner.commands import main; main()", *arguments.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert shape(done.stdout.rstrip()) == shape(shown)
