"""The router's figures on the development sets: they may only get better."""

import subprocess
import sys
from pathlib import Path

import pytest

from runner.paths import root

pytestmark = pytest.mark.slow

TOOL = root() / "scripts" / "tune_router.py"
FILE = root() / "fixtures" / "honesty" / "router-dev.toml"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, TOOL, *arguments], capture_output=True, text=True, check=False
    )


def test_no_figure_has_fallen() -> None:
    done = run("--check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_is_committed_is_what_the_router_does(tmp_path: Path) -> None:
    """A figure that rose is committed, so that it cannot fall again unseen."""
    fresh = tmp_path / "router-dev.toml"
    assert run("--write", "--file", fresh).returncode == 0
    assert fresh.read_text() == FILE.read_text(), "run scripts/tune_router.py --write"


@pytest.mark.parametrize(
    ("better", "fallen"),
    [
        ("right = 1000", "dev: right was 1000"),
        ("refused = 1000", "dev: refused was 1000"),
        ("wrong = -1", "dev: wrong was -1"),
    ],
)
def test_one_that_falls_is_named_and_never_written(
    tmp_path: Path, better: str, fallen: str
) -> None:
    what = better.split(" = ")[0]
    lines = FILE.read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith(f"{what} = "))
    lines[at] = better
    file = tmp_path / "router-dev.toml"
    file.write_text("\n".join(lines) + "\n")
    for mode in ("--check", "--write"):
        done = run(mode, "--file", file)
        assert done.returncode == 1
        assert done.stdout.startswith(fallen)
    assert better in file.read_text()


def test_no_held_out_set_is_opened() -> None:
    assert "heldout" not in TOOL.read_text()
    assert "images/router" not in (root() / "fixtures" / "honesty" / "sets.toml").read_text()
