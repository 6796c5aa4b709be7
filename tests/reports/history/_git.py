"""The git that people have, as far as it is there."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git command")


def git(folder: Path, *args: str) -> str:
    """What git prints of a repository, with nobody's own settings."""
    nobody = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["git", "-C", str(folder), "-c", "safe.directory=*", *args],
        env={**os.environ, **nobody},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    # Bytes that are no text would be a fault, and so would a carriage return that is read over.
    return done.stdout.decode()
