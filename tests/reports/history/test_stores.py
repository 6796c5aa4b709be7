"""Stores as files and messages: changing ones, large ones, Chinese and hostile ones."""

import re
from pathlib import Path
from typing import Any

import orjson

from runner.model import Claim, RestatementExamined, Store, Superseded
from runner.reports.history import lives, person, write
from runner.reports.schema import Report
from tests.reports.history._git import git, needs_git, parted, with_run
from tests.reports.history.conftest import Repository


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
