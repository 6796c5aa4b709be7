import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["scripts/bench", "scripts/test", ".ci/run"])
def test_the_commands_can_be_run(name: str) -> None:
    file = ROOT / name
    assert os.access(file, os.X_OK)
    assert file.read_text().startswith("#!/usr/bin/env bash\n")
    subprocess.run(["bash", "-n", str(file)], check=True)


def test_help_needs_nothing_and_names_every_option() -> None:
    done = subprocess.run(
        [str(ROOT / "scripts/test"), "--help"],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    )
    assert "--unit" in done.stdout
    assert "--all-images" in done.stdout
    assert not done.stderr


def test_the_lock_of_uv_is_by_digest_alone() -> None:
    lines = (ROOT / "scripts/uv.txt").read_text().splitlines()
    entries = [line.strip() for line in lines if not line.startswith("#")]
    assert entries[0].startswith("uv==")
    assert all(entry.startswith("--hash=sha256:") for entry in entries[1:])
    assert len(entries) > 2
