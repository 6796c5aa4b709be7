"""Real reports as repositories, read with the git that people have."""

import gzip
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from runner.errors import UsageError
from runner.model import Outcome
from runner.reports.history import lives, write
from runner.reports.schema import Report
from tests.reports.history._git import AUTHOR, git, needs_git, parted, with_run
from tests.reports.history.conftest import Repository

OLD = Path(__file__).parents[1] / "data" / "before-read-outs.json.gz"


# ---------------------------------------------------------------- as git reads it


@needs_git
def test_it_is_a_sound_repository_with_a_branch_a_run(life: Path) -> None:
    assert git(life, "fsck", "--strict", "--full") == ""
    assert git(life, "status", "--porcelain") == ""
    assert git(life, "branch", "--show-current") == "runs/move-1\n"
    assert git(life, "branch", "--format=%(refname:short)").split() == [
        "runs/move-1",
        "runs/move-2",
        "runs/move-3",
        "runs/trip-alone-1",
        "runs/trip-alone-2",
    ]
    assert sorted(path.name for path in life.iterdir()) == [".git", "claims", "notes"]


@needs_git
def test_the_log_shows_when_the_memory_changed_its_mind(life: Path) -> None:
    first, move, last = parted(git(life, "log", "-p", "--reverse", "--date=short"))
    assert "new file" in first
    assert "+> The user lives in Delhi." in first
    assert "+status: ACTIVE" in first
    assert "+**User:** I live in Delhi" in first
    # Both homes, by the words that were told in the same diff.
    assert move.count("-status: ACTIVE\n+status: SUPERSEDED\n+reason: SUPERSEDED_BY_UPDATE\n") == 2
    winner = "03-the-user-moved-to-mumbai-as-told-on-2026-10-01.txt"
    assert move.count(f"+retired: 2026-10-01\n+retired by: {winner}\n") == 2
    assert "+**User:** I moved to Mumbai." in move
    assert "deposit reader-02-moved.md: 1 new, 2 retired" in move
    assert "- 02 was retired by 03 (SUPERSEDED_BY_UPDATE, decided by" in move
    assert "consolidate: nothing changed" in last
    assert "diff" not in last
    dates = re.findall(r"(?m)^Date: +(\S+)$", first + move + last)
    assert dates == ["2026-09-01", "2026-10-01", "2026-10-01"]


@needs_git
def test_every_commit_says_whose_it_is_and_what_it_rests_on(reader: Report, life: Path) -> None:
    run = reader.runs[0]
    form = "%an|%ae|%cn|%at %ct|%(trailers:key=Store,valueonly)"
    told = [each for each in git(life, "log", "--reverse", f"--format={form}").split("\n") if each]
    acted = [step for step in run.steps if step.snapshot]
    for line, step in zip(told, acted, strict=True):
        assert step.saw is not None
        moment = int(step.saw.timestamp())
        assert line == (
            "engine 0.1.0|engine@systems.invalid|engine 0.1.0"
            f"|{moment} {moment}|sha256:{step.snapshot}"
        )
    last = git(life, "log", "-1", "--format=%(trailers)")
    assert "Run: reader-move-1\n" in last
    assert "Outcome: passed (checks)\n" in last
    note = git(life, "log", "--reverse", "--format=%(trailers:key=Note,valueonly)").split()[:2]
    assert note == ["notes/reader-01.md", f"sha256:{reader.case.notes[0].sha256}"]  # type: ignore[union-attr]


@needs_git
def test_a_run_made_again_has_the_same_files(life: Path) -> None:
    """Ids and times of day are others; what the memory believed is not."""
    trees = {git(life, "log", "--format=%T", f"runs/move-{number}") for number in (1, 2, 3)}
    assert len(trees) == 1


def test_the_same_report_makes_the_same_commits(mid_trip: Report, tmp_path: Path) -> None:
    again = Report.model_validate_json(mid_trip.model_dump_json())
    one = write(lives(mid_trip), AUTHOR, tmp_path / "one")
    other = write(lives(again), AUTHOR, tmp_path / "other")
    assert [branch.tip for branch in one] == [branch.tip for branch in other]
    files = [
        {path.relative_to(side): path.read_bytes() for path in side.glob("*/*.*")}
        for side in (tmp_path / "one", tmp_path / "other")
    ]
    assert files[0] == files[1]


def test_restatements_have_their_anchors(mid_trip: Report) -> None:
    move = lives(mid_trip)[0].moments[-1]
    (flight,) = (path for path in move.files if "a-flight-back" in path or "as-of-2026-10" in path)
    told = move.files[flight].decode()
    assert "status: ACTIVE\nrestatement: yes\nanchor: " in told
    anchor = re.search(r"anchor: (.+)", told)
    assert anchor is not None
    assert b"reason: SUPERSEDED_BY_UPDATE" in move.files[f"claims/{anchor[1]}"]
    assert " restated" in move.message.split("\n")[0]
    assert re.search(
        r"- \d\d restates \d\d as history, as \d\d was retired\s+by \d\d:", move.message
    )


# ---------------------------------------------------------------- other reports


@needs_git
def test_what_an_older_report_did_not_read_is_named(repository: Repository) -> None:
    old = Report.model_validate_json(gzip.decompress(OLD.read_bytes()))
    folder = repository(old)
    assert git(folder, "fsck", "--strict") == ""
    before, last = parted(git(folder, "log", "--reverse", "--stat", "--date=short"))
    assert "- The store was not read after deposit session-04.md." in before
    assert "Date:   2026-10-08" in before
    assert "notes/session-04.md" in before
    assert "- The store was not read after deposit session-12-moved.md." in last
    assert "notes/session-12-moved.md" in last


def test_a_run_that_broke_off_says_so_in_its_last_commit(reader: Report) -> None:
    run = reader.runs[0]
    steps = [step for step in run.steps if step.verb != "recall"][:2]
    steps[1] = steps[1].model_copy(update={"snapshot": None, "error": "no answer\n\x1b[2J"})
    ending = run.ending.model_copy(update={"outcome": Outcome.ERRORED, "kind": "driver"})
    broken = run.model_copy(
        update={"steps": tuple(steps), "snapshots": run.snapshots[:1], "ending": ending}
    )
    (found,) = lives(with_run(reader, broken), run.spec.id)
    first, last = found.moments
    assert "Outcome" not in first.message
    assert last.message.startswith("deposit reader-02-moved.md: its store was not read\n")
    assert "Outcome: errored (driver)\n" in last.message
    assert "which failed: no answer <U+001B>[2J." in " ".join(last.message.split())
    assert {path for path in last.files if path.startswith("claims")} == {
        path for path in first.files if path.startswith("claims")
    }
    assert "notes/reader-02-moved.md" in last.files


def test_a_clock_that_was_not_seen_is_noon(reader: Report) -> None:
    run = reader.runs[0]
    steps = tuple(step.model_copy(update={"saw": None}) for step in run.steps)
    (found,) = lives(with_run(reader, run.model_copy(update={"steps": steps})), run.spec.id)
    assert [moment.at for moment in found.moments] == [
        datetime(2026, 9, 1, 12, tzinfo=UTC),
        datetime(2026, 10, 1, 12, tzinfo=UTC),
        datetime(2026, 10, 1, 12, tzinfo=UTC),
    ]


def test_one_run_alone(reader: Report, tmp_path: Path) -> None:
    (branch,) = write(lives(reader, "reader-trip-alone-2"), AUTHOR, tmp_path / "one")
    assert branch.life.branch == "runs/trip-alone-2"
    with pytest.raises(
        UsageError, match=r"has no run 'reader-move-9'.*reader-move-1, reader-move-2"
    ):
        lives(reader, "reader-move-9")


def test_where_no_store_was_read_there_is_no_history(reader: Report) -> None:
    bare = tuple(run.model_copy(update={"snapshots": ()}) for run in reader.runs)
    with pytest.raises(UsageError, match="no history to tell"):
        lives(reader.model_copy(update={"runs": bare}))
    with pytest.raises(UsageError, match="has no run"):
        lives(reader.model_copy(update={"runs": ()}))
