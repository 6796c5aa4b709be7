"""What is done to a disk, and what is not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.errors import CannotStart, UsageError
from runner.reports.history import Life, lives, write
from runner.reports.schema import Report
from runner.suites.memory_honesty import load_exam
from tests.reports._honesty import report as honesty_report
from tests.reports.history._git import AUTHOR


def test_nothing_that_is_there_is_changed(reader: Report, tmp_path: Path) -> None:
    full, file, link = tmp_path / "full", tmp_path / "file", tmp_path / "link"
    full.mkdir()
    (full / "mine").touch()
    file.write_text("mine")
    link.symlink_to(tmp_path / "nowhere")
    for there in (full, file, link):
        with pytest.raises(UsageError):
            write(lives(reader), AUTHOR, there)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "full", "link", "mine"]
    empty = tmp_path / "empty"
    empty.mkdir()
    write(lives(reader), AUTHOR, empty)
    assert (empty / ".git" / "HEAD").read_text() == "ref: refs/heads/runs/move-1\n"


def test_the_folder_one_stands_in_is_not_taken_away(
    reader: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="the folder you are in"):
        write(lives(reader), AUTHOR, Path())


def test_broken_off_it_leaves_nothing(reader: Report, tmp_path: Path) -> None:
    first, *rest = lives(reader)

    def torn() -> Iterator[Life]:
        yield first
        raise KeyboardInterrupt

    class Torn(tuple[Life, ...]):
        def __iter__(self) -> Iterator[Life]:
            return torn()

    with pytest.raises(KeyboardInterrupt):
        write(Torn((first, *rest)), AUTHOR, tmp_path / "life")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(CannotStart, match="cannot be written"):
        write(lives(reader), AUTHOR, Path("/proc/memory-bench/life"))


def test_reports_without_stores_are_refused() -> None:
    answered = honesty_report(load_exam("dev"), score=0.75)
    with pytest.raises(UsageError, match="A report of memory-honesty has no history"):
        lives(answered)
