"""Reports of the learning suite: saved, verified, altered, printed."""

from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from runner.errors import AlteredReport
from runner.model import Ending, Outcome
from runner.reports import files
from runner.reports.learning import nights, title
from runner.reports.rescore import verify
from runner.reports.schema import Report
from runner.reports.terminal import render
from runner.suites.honesty_learning import LessonVerdict
from tests.reports._learning import report
from tests.reports._printed import Printable, printed
from tests.suites.honesty_learning._kit import BACKUPS, LEAVE, ROWS, learned, lesson, said

NIGHT = learned(
    said(ROWS[0]["week1"], BACKUPS), unproved=[said(ROWS[1]["week1"], LEAVE, why="a scrap")]
)
WITHOUT = learned(said(ROWS[0]["week1"], BACKUPS), said(ROWS[3]["week1"], BACKUPS), proof=False)
WEAK: dict[str, Any] = {"second": {"w001": None, "w002": None}}


@pytest.fixture
def proved() -> Report:
    return report(before=WEAK, after={"second": {"w002": None}, "night": NIGHT})


@pytest.fixture
def unproved() -> Report:
    after = {"second": {"w002": None, "w004": [BACKUPS]}, "night": WITHOUT}
    return report(proof=False, before=WEAK, after=after)


def told(*things: Printable) -> str:
    return " ".join(" ".join(printed(*things)).split())


def of_nights(reports: list[Report]) -> str:
    return " ".join(f"{head} {told(sheets)}" for head, sheets in nights(reports))


def test_a_saved_report_is_read_and_computed_again(proved: Report, tmp_path: Path) -> None:
    files.save(proved, tmp_path / "report.json")
    read = files.load(tmp_path / "report.json")
    verify(read)
    assert read == proved.model_copy(update={"integrity": read.integrity})
    assert isinstance(read.verdict, LessonVerdict)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"page":"Ops/Backups.md"', '"page":"Leave.md"', "observations"),
        ('"declined":3', '"declined":2', "tells of"),
    ],
)
def test_what_was_learned_cannot_be_altered(proved: Report, old: str, new: str, says: str) -> None:
    [before, after] = proved.runs
    night = next(step for step in after.steps if step.verb == "learn")
    altered = night.model_validate_json(night.model_dump_json().replace(old, new, 1))
    assert altered != night
    steps = tuple(altered if step.verb == "learn" else step for step in after.steps)
    forged = proved.model_copy(update={"runs": (before, after.model_copy(update={"steps": steps}))})
    with pytest.raises(Exception, match=says):
        verify(forged)


def test_a_verdict_cannot_be_altered(proved: Report) -> None:
    assert isinstance(proved.verdict, LessonVerdict)
    better = proved.verdict.model_copy(update={"paired": None})
    with pytest.raises(AlteredReport, match="verdict"):
        verify(proved.model_copy(update={"verdict": better}))


def test_both_ways_to_learn_stand_side_by_side(proved: Report, unproved: Report) -> None:
    text = of_nights([proved, unproved])
    assert f"router on {title(lesson())}" in text
    assert text.count("before · · 0/1 [0–98] 2/2 [16–100] 1/3 [1–91]") == 1
    assert "after, with proof 1 0 0/2 [0–84] 2/2 [16–100] 2/3 [9–99]" in text
    assert "after, without proof 2 1 1/3 [1–91] 1/2 [1–99] 2/3 [9–99]" in text
    assert "1 kept out for want of a proof (1 of them right), 3 declined" in text
    assert "with proof, minus before" in text
    assert "neighbours refused -50.0" in text


def test_runs_before_that_differ_are_both_told(proved: Report) -> None:
    other = report(proof=False, after={"night": WITHOUT})
    text = of_nights([proved, other])
    first = "before · · 0/1 [0–98] 2/2 [16–100] 1/3 [1–91]"
    assert f"{first} before · · 0/3 [0–71] 2/2 [16–100] 3/3 [29–100]" in text
    assert "should not differ" in text


def test_one_report_on_the_terminal(proved: Report, unproved: Report) -> None:
    for one, way in ((proved, "each at most\n"), (unproved, "each at most, no proof\n")):
        lines = printed(render(one))
        assert max(map(cell_len, lines)) <= 80
        whole = "\n".join(line.rstrip() for line in lines)
        assert "Honesty learning, vault1: router" in whole
        assert f"5 pairs, 5 pages {way}" in whole
        assert "bar" not in whole.split()
        assert "The scripted model knows the right pages" in whole


def test_a_night_that_failed_is_no_night() -> None:
    gone = Ending(outcome=Outcome.ERRORED, kind="provider", detail="provider: gone")
    for kind in ("before", "after"):
        one = report(ended={kind: gone})
        text = told(render(one)) + of_nights([one])
        assert "provider. provider: gone" in text
        assert "minus before" not in text
        assert ("after, with proof" in text) is (kind == "before")
    both = report(ended={"before": gone, "after": gone})
    assert "week 2" not in told(render(both))
    assert isinstance(both.verdict, LessonVerdict)
    assert both.verdict.runs == ()
