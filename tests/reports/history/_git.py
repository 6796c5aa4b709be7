"""The git that people have, as far as it is there."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from runner.model import RunRecord
from runner.reports.history import person
from runner.reports.schema import Report

AUTHOR = person("engine", "0.1.0")

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


def parted(log: str) -> list[str]:
    """A log, commit by commit."""
    return [each for each in re.split(r"(?m)^commit ", log) if each]


def with_run(report: Report, run: RunRecord) -> Report:
    """A report with another run in the place of the one of its name."""
    runs = tuple(run if one.spec.id == run.spec.id else one for one in report.runs)
    return report.model_copy(update={"runs": runs})
