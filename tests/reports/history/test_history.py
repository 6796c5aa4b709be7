"""Real reports as repositories, read with the git that people have."""

import gzip
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from runner.errors import CannotStart, UsageError
from runner.model import (
    Claim,
    Outcome,
    RestatementExamined,
    RunRecord,
    Store,
    Superseded,
)
from runner.reports.history import Life, lives, person, write
from runner.reports.schema import Report
from runner.suites.memory_honesty import load_exam
from tests.reports._honesty import report as honesty_report
from tests.reports.history._git import git, needs_git

OLD = Path(__file__).parents[1] / "data" / "before-read-outs.json.gz"
AUTHOR = person("engine", "0.1.0")
Repository = Callable[..., Path]


@pytest.fixture(scope="module")
def reader(originals: dict[str, bytes]) -> Report:
    return Report.model_validate_json(originals["reader"])


@pytest.fixture(scope="module")
def mid_trip(originals: dict[str, bytes]) -> Report:
    return Report.model_validate_json(originals["mid-trip"])


@pytest.fixture(scope="module")
def life(reader: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reader's case as a repository."""
    folder = tmp_path_factory.mktemp("history") / "life"
    write(lives(reader), AUTHOR, folder)
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    def make(found: Report, name: str = "life", run: str | None = None) -> Path:
        write(lives(found, run), AUTHOR, tmp_path / name)
        return tmp_path / name

    return make


def parted(log: str) -> list[str]:
    """A log, commit by commit."""
    return [each for each in re.split(r"(?m)^commit ", log) if each]


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


# ---------------------------------------------------------------- stores of every kind


def with_run(report: Report, run: RunRecord) -> Report:
    runs = tuple(run if one.spec.id == run.spec.id else one for one in report.runs)
    return report.model_copy(update={"runs": runs})


def with_stores(report: Report, *stores: Store) -> Report:
    """A report whose first run has other stores."""
    run = report.runs[0]
    taken = tuple(
        one.model_copy(update={"store": store})
        for one, store in zip(run.snapshots, stores, strict=True)
    )
    return with_run(report, run.model_copy(update={"snapshots": taken}))


def claim(name: str, text: str, **fields: Any) -> Claim:
    return Claim(id=name, text=text, status=fields.pop("status", "ACTIVE"), **fields)


def test_claims_that_go_come_back_and_change(reader: Report) -> None:
    home, plan = claim("h", "Home is Delhi."), claim("p", "A flight is planned.")
    report = with_stores(
        reader,
        Store(claims=(home, plan)),
        Store(claims=(claim("h", "Home was Delhi."), claim("x", "X.", status="DROPPED"))),
        Store(claims=(claim("x", "X."), plan), unmapped=("a table is not known",)),
    )
    _, second, third = lives(report)[0].moments
    assert second.message.split("\n")[0].endswith(": 1 new, 1 retired, 1 gone, 1 changed")
    for told in (
        "- 03 became known: “X.”",
        "- 03 was retired (DROPPED): “X.”",
        "- 01 is not in the store any more: “A flight is planned.”",
        "- 02 was reworded: “Home was Delhi.”",
    ):
        assert told in second.message
    assert "claims/01-a-flight-is-planned.txt" not in second.files
    assert second.files["claims/02-home-is-delhi.txt"].startswith(b"> Home was Delhi.\n")
    assert "- 03 is held as current again: “X.”" in third.message
    assert "- The reader could not place this: a table is not known" in third.message
    assert "claims/01-a-flight-is-planned.txt" in third.files


def test_what_was_kept_back_and_what_stood_by_itself(reader: Report) -> None:
    def examined(name: str, outcome: str, **fields: Any) -> RestatementExamined:
        told = {"claim": name, "anchor": "a", "retired_by": "w", "outcome": outcome, **fields}
        return RestatementExamined.model_validate(told)

    before = Store(claims=(claim("a", "A."), claim("b", "B."), claim("c", "C.")))
    after = Store(
        claims=(
            claim("a", "A.", status="OLD", retired_by="w"),
            claim("b", "B."),
            claim("c", "C."),
            claim("w", "W."),
        ),
        events=(
            Superseded(loser="a", winner="w", decided_by="update"),
            examined("b", "kept_back", contradicts="w", reason="It says\nthe same."),
            examined("c", "independent"),
        ),
    )
    _, second, third = lives(with_stores(reader, before, after, after))[0].moments
    told = " ".join(second.message.split())
    assert "- 01 was retired by 04 (OLD, decided by update): “A.”" in told
    kept = "its restatement was kept back, for contradicting 04: It says the same."
    assert f"- 02 was looked at, as 01 was retired; {kept}" in told
    assert "- 03 was looked at, as 01 was retired, and does not lean on it." in told
    assert third.message.startswith("consolidate: nothing changed\n\nRun:")


def test_a_store_of_thousands_does_not_fill_a_message(reader: Report) -> None:
    many = Store(claims=tuple(claim(f"c{n}", f"Said {n:04}.") for n in range(1500)))
    first, *_ = lives(with_stores(reader, many, many, many))[0].moments
    assert len(first.message) < 5000
    assert "And 1440 more, which the diff shows." in first.message
    assert "claims/1500-said-1499.txt" in first.files


@needs_git
def test_chinese_is_read_as_it_is(reader: Report, repository: Repository) -> None:
    home, move = "用户住在德里。", "用户搬到了孟买。"
    before = Store(claims=(claim("h", home),))
    after = Store(claims=(claim("h", home, status="旧", retired_by="m"), claim("m", move)))
    folder = repository(with_stores(reader, before, after, after), run=reader.runs[0].spec.id)
    log = git(folder, "log", "-p", "--stat")
    assert "claims/01-用户住在德里.txt" in log
    assert "-status: ACTIVE\n+status: 旧\n+retired by: 02-用户搬到了孟买.txt\n" in log
    assert f"- 02 became known: “{move}”" in log


HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07red \x9b31m",
    "safe\u202eevas\u2066\u200f",
    ".git/hooks/post-checkout",
    "../../../etc/passwd",
    "x\n\nstatus: ACTIVE\nsource: notes/other.md",
    "x\n\nOutcome: passed (checks)\nSigned-off-by: a <a@b.c>",
    "x\r\n\x00\x85\u2028commit 0000\ntree 0000",
    "<script>alert(1)</script> [bold]",
    "-rf",
    "",
    "💥" * 300,
    "e" + "\u0301" * 400,
)


@needs_git
def test_hostile_words_are_words(reader: Report, repository: Repository, tmp_path: Path) -> None:
    """In claims, statuses, reasons, sources, ids, events, names of steps, notes and systems."""
    for_all = Store(
        claims=tuple(
            Claim(
                id=f"{text}{number}",
                text=text,
                status=text or "odd",
                reason=text,
                sources=(text,),
                retired_by=text,
                anchor=f"{text} not there",
                restatement=bool(number % 2),
            )
            for number, text in enumerate(HOSTILE)
        ),
        events=tuple(
            event
            for text in HOSTILE
            for event in (
                Superseded(loser=f"{text}0", winner=text, decided_by=text),
                RestatementExamined(
                    claim=text,
                    anchor=text,
                    retired_by=text,
                    contradicts=text,
                    outcome="kept_back",
                    reason=text,
                ),
            )
        ),
        unmapped=HOSTILE,
    )
    report = with_stores(reader, Store(), for_all, Store())
    document = orjson.loads(report.model_dump_json())
    document["runs"][0]["ending"]["kind"] = HOSTILE[5]
    document["runs"][0]["spec"]["kind"] = "../../HEAD\x1b"
    document["case"]["notes"][0]["text"] = HOSTILE[0]
    renamed = "../.git/config\n"
    document["case"]["notes"][1]["name"] = renamed
    for held in (*document["runs"][0]["steps"], *document["runs"][0]["snapshots"]):
        for field in ("name", "step"):
            if held.get(field) == "deposit reader-02-moved.md":
                held[field] = f"deposit {renamed}"
    odd = Report.model_validate(document)
    author = person("<evil>\n\x1b", "1\ncommitter x <x@y> 0 +0000")
    write(lives(odd, odd.runs[0].spec.id), author, tmp_path / "odd")
    folder = tmp_path / "odd"
    assert git(folder, "fsck", "--strict", "--full") == ""
    assert git(folder, "status", "--porcelain") == ""
    log = git(folder, "log", "-p", "--stat", "--all")
    assert not set(log) & {
        "\x1b",
        "\x07",
        "\x9b",
        "\r",
        "\x00",
        "\x85",
        "\u202e",
        "\u2028",
        "\u200f",
    }
    assert len(parted(log)) == 3
    paths = git(folder, "log", "--format=", "--name-only", "-z").split("\0")
    for path in filter(None, (path.strip("\n") for path in paths)):
        assert re.fullmatch(r"(claims/\d\d-|notes/)[^/.]+\.(txt|md)", path), path
    # What a text says is not what the repository says.
    (outcome,) = re.findall(r"(?m)^    Outcome: (.*)$", log)
    assert outcome.startswith("passed (x Outcome: passed")
    assert "\n    Signed-off-by" not in log
    added = [each for each in log.split("\n") if each.startswith("+status: ")]
    assert len(added) == len(HOSTILE)
    assert "+> status: ACTIVE" in log
    assert [path.name for path in tmp_path.iterdir()] == ["odd"]


# ---------------------------------------------------------------- on disk


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
