"""``bench history``, as it is typed."""

from pathlib import Path

from runner.reports import files
from runner.suites.memory_honesty import load_exam
from tests.commands.conftest import Bench
from tests.reports._honesty import report as honesty_report


def test_a_repository_is_made_and_told_of(bench: Bench, reader: Path) -> None:
    done = bench("history", reader, "--git", "life")
    assert done.code == 0, done.err
    first, *_, last = done.out.splitlines()
    assert first.startswith("runs/move-1: 3 commits, passed (checks), ")
    assert len(done.out.splitlines()) == 6
    assert last == "Read it with: git -C life log -p --reverse"
    head = Path("life/.git/refs/heads/runs/move-1").read_text()
    assert head.startswith(first.rsplit(" ", 1)[1])
    done = bench("history", reader, "--git", "life")
    assert done.code == 2
    assert "is not empty" in done.err


def test_one_run(bench: Bench, reader: Path) -> None:
    done = bench("history", reader, "--git", "life", "--run", "reader-trip-alone-1")
    assert done.code == 0, done.err
    assert [path.name for path in Path("life/.git/refs/heads/runs").iterdir()] == ["trip-alone-1"]
    done = bench("history", reader, "--git", "other", "--run", "another")
    assert (done.code, Path("other").exists()) == (2, False)


def test_what_has_no_history_is_refused_before_it_is_opened(bench: Bench, tmp_path: Path) -> None:
    """A held-out set is not opened: its sealed answers are not even looked for."""
    path = tmp_path / "report.json"
    files.save(honesty_report(load_exam("heldout")), path)
    for sealed in tmp_path.glob("*.gz"):
        sealed.unlink()
    done = bench("history", path, "--git", "life")
    assert done.code == 2
    assert "A report of memory-honesty has no history" in " ".join(done.err.split())
    assert not Path("life").exists()


def test_what_is_no_whole_report_is_refused(bench: Bench, reader: Path) -> None:
    reader.write_bytes(reader.read_bytes().replace(b"moved to Mumbai", b"moved to Munich"))
    assert bench("history", reader, "--git", "life").code == 7
    reader.write_text("{}")
    assert bench("history", reader, "--git", "life").code == 7
    assert bench("history", "nowhere.json", "--git", "life").code == 2
    assert not Path("life").exists()
