import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from runner.paths import root
from runner.runs.pair_tables import UPSTREAM_FILES

pytestmark = pytest.mark.slow

TOOL = root() / "scripts" / "make_pair_tables.py"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, TOOL, *arguments], capture_output=True, text=True, check=False
    )


def test_the_committed_tables_are_what_it_makes() -> None:
    done = run("--check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.fixture
def published(tmp_path: Path) -> Path:
    rows = [
        {"id": "r1", "class": "dated-update", "older": "A.", "newer": "B.", "expected": "changes"},
        {"id": "r2", "class": "fixed", "older": "C.", "newer": "D.", "expected": "not_changes"},
    ]
    folder = tmp_path / "published"
    folder.mkdir()
    for file in UPSTREAM_FILES.values():
        (folder / file).write_text(json.dumps({"rows": rows}))
    return folder


def test_a_table_of_the_published_pairs_is_written_outside_this_repository(
    published: Path, tmp_path: Path
) -> None:
    made = tmp_path / "made.toml"
    done = run("--upstream", published, "--system", "particles", "-o", made)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(tomllib.loads(made.read_text())["answer"]) == 4
    inside = root() / "fixtures" / "made.toml"
    done = run("--upstream", published, "--system", "particles", "-o", inside)
    assert done.returncode == 2
    assert "elsewhere" in done.stderr
    assert not inside.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--system", "engine"], "-o"),
        (["-o", "x.toml"], "--system"),
        (["--system", "engine", "-o", "x.toml", "--check"], "no --check"),
    ],
)
def test_what_does_not_go_together_is_refused(
    published: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    done = subprocess.run(
        [sys.executable, TOOL, "--upstream", published, *arguments],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert said in done.stderr


def test_a_file_that_is_missing_is_named(published: Path, tmp_path: Path) -> None:
    (published / "gate_pairs.json").unlink()
    done = run("--upstream", published, "--system", "engine", "-o", tmp_path / "made.toml")
    assert done.returncode == 1
    assert "gate_pairs.json" in done.stderr
    assert "Traceback" not in done.stderr
