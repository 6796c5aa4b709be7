"""The read-out in a report: as a table, computed again from its steps, and of reports before it."""

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from rich.console import Console

from runner.errors import AlteredReport
from runner.reports import files
from runner.reports.readout import Row, readout, rows
from runner.reports.rescore import rescore, verify
from runner.reports.schema import Report
from runner.reports.terminal import show
from runner.suites.trip_vs_move import Case, read_outs
from runner.systems.catalog import Capability, load
from tests._trip import verdict_of
from tests.reports.conftest import Document, produced
from tests.runs._memory import MemoryBox, MemorySandbox, Verb, fail, says

BEFORE = Path(__file__).parent / "data" / "before-read-outs.json.gz"
"""Mid-trip, a run of each kind, as the bench wrote it before it asked anything after a step."""

Forge = Callable[[Path, Callable[[Document], object]], None]


def printed(report: Report, width: int = 80) -> list[str]:
    said = io.StringIO()
    show(report, Console(width=width, file=said))
    return said.getvalue().splitlines()


def brief(row: Row) -> tuple[str, str, str | None, int | None]:
    first = row.came.first
    told = (first.text, first.age_days) if first else (None, None)
    return row.question, row.after, *told


@pytest.mark.slow
def test_what_came_first_is_told_of_all_runs_together(reader: Path) -> None:
    report = files.load(reader)
    found = [row for row in rows(report) if row.question == "home"]
    assert [brief(row) for row in found] == [
        ("home", "deposit reader-01.md", "The user lives in Delhi.", 0),
        (
            "home",
            "deposit reader-02-moved.md",
            "The user moved to Mumbai, as told on 2026-10-01.",
            0,
        ),
    ]
    assert [{spec.kind for spec in row.runs} for row in found] == [{"move", "trip-alone"}, {"move"}]
    assert [len(row.runs) for row in found] == [5, 3]


@pytest.mark.slow
def test_a_statement_grows_older_from_note_to_note(mid_trip: Path) -> None:
    report = files.load(mid_trip)
    ages = [
        (row.after, row.came.first.age_days)
        for row in rows(report)
        if row.question == "home" and row.came.first and "lives in" in row.came.first.text
    ]
    assert ages == [("deposit session-04.md", 0), ("deposit session-11.md", 34)]


@pytest.mark.slow
def test_the_table_fits_eighty_columns_and_says_that_it_decides_nothing(
    reader: Path, mid_trip: Path
) -> None:
    for path in (reader, mid_trip):
        report = files.load(path)
        lines = printed(report)
        assert max(map(len, lines)) <= 80
        text = "\n".join(lines)
        assert "no part of the verdict" in text
        assert isinstance(report.case, Case)
        for question in report.case.questions:
            assert report.case.asked(question) in text
        assert "old: it names Delhi" in " ".join(" ".join(lines).split())


@pytest.mark.slow
def test_runs_that_differ_are_told_of_apart(tmp_path: Path) -> None:
    def of_its_own(box: MemoryBox, request: Any, verb: Verb) -> Any:
        if box.run_id == "reader-move-2":
            return {"statements": [{"text": "\x1b[31mIt says [bold]nothing[/bold].", "day": None}]}
        return verb(request)

    sandbox = MemorySandbox(tmp_path / "box", recall=of_its_own)
    report = produced(tmp_path, tmp_path / "r.json", sandbox=sandbox)
    text = "\n".join(printed(report))
    assert "move 1, 3" in text
    assert "move 2" in text
    assert "\x1b" not in text
    assert "<U+001B>[31mIt says" in text
    assert "[bold]nothing[/bold]." in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("habit", "shown"),
    [
        (fail("degraded", "the encoder is gone"), "error: "),
        (says({"statements": []}), "nothing"),
        (says({"statements": [{"text": "word " * 400}]}), "…"),
    ],
)
def test_errors_silence_and_whole_pages_have_their_place(
    tmp_path: Path, habit: Any, shown: str
) -> None:
    sandbox = MemorySandbox(tmp_path / "box", recall=habit)
    report = produced(tmp_path, tmp_path / "r.json", sandbox=sandbox)
    assert verdict_of(report).bar_met is True
    lines = printed(report)
    assert max(map(len, lines)) <= 80
    assert any(shown in line for line in lines)


@pytest.mark.slow
def test_it_is_computed_again_and_no_forgery_of_it_passes(reader: Path, forge: Forge) -> None:
    verify(files.load(reader))

    def another(document: Document) -> None:
        (seen,) = [o for o in document["runs"][0]["observations"] if o["id"] == "read_out"]
        seen["value"][0]["first"]["text"] = "The user moved to Mumbai."

    forge(reader, another)
    with pytest.raises(AlteredReport, match="observations"):
        verify(files.load(reader))


def without(verb: str, *capabilities: Capability) -> Any:
    system = load("engine")
    return system.model_copy(
        update={
            "verbs": tuple(one for one in system.verbs if one != verb),
            "capabilities": capabilities or system.capabilities,
        }
    )


@pytest.mark.slow
def test_a_report_says_what_was_not_asked_and_what_has_no_status(tmp_path: Path) -> None:
    plain = produced(tmp_path / "1", tmp_path / "1.json")
    assert not [note for note in plain.notes if "recall" in note or "status" in note]
    unasked = produced(tmp_path / "2", tmp_path / "2.json", system=without("recall"))
    assert [note for note in unasked.notes if "does not answer recall" in note]
    assert readout(unasked) == []
    assert not [name for name in unasked.clock.days if name.startswith("recall")]
    stated = produced(tmp_path / "3", tmp_path / "3.json", system=without("none", "statements"))
    (note,) = [note for note in stated.notes if "no status" in note]
    assert "is read as current" in note
    assert "the read-out is what tells" in note
    assert [run.checks for run in stated.runs if not run.checks] == [], "no check is waived"


def test_a_report_from_before_loads_verifies_and_rescores(tmp_path: Path) -> None:
    path = tmp_path / "before.json"
    path.write_bytes(gzip.decompress(BEFORE.read_bytes()))
    assert b"questions" not in path.read_bytes()
    report = files.load(path)
    verify(report)
    for version in report.case.checks_versions:
        again = verdict_of(rescore(report, version))
        assert [tally.passed for tally in again.tallies] == [1, 1]
    assert not any(read_outs(run.observations) for run in report.runs)
    assert readout(report) == []
    assert "Read out" not in "\n".join(printed(report))
    # Written again it is the same document, but for what is new and has a default.
    files.save(report, path)
    assert orjson.loads(path.read_bytes())["case"]["questions"] == []
    verify(files.load(path))
