"""How much the answers moved between runs, in the terminal, in the report and on the page."""

import pytest

from runner.errors import AlteredReport
from runner.reports.honesty import effort, movements, repeated, row_of
from runner.reports.rescore import verdict, verify
from runner.reports.results import page
from runner.reports.schema import Report
from runner.suites.memory_honesty import Exam, HonestyVerdict, load_exam
from tests.reports._honesty import report, taken
from tests.reports.test_taken import shown
from tests.suites.memory_honesty._kit import LEAVE, ON_CALL, Said, exam

pytestmark = pytest.mark.slow


def differing(asked: Exam, *said: dict[str, Said]) -> Report:
    """A report whose runs say so."""
    made = report(asked, runs=len(said))
    runs = tuple(
        run.model_copy(update={"steps": taken(asked, one, 1.0, run.spec.index)})
        for run, one in zip(made.runs, said, strict=True)
    )
    made = made.model_copy(update={"runs": runs})
    return made.model_copy(update={"verdict": verdict(made, runs, 1)})


def test_a_line_a_system() -> None:
    made = differing(exam("dev"), {}, {"q004": [ON_CALL], "q005": [LEAVE]}, {"q003": None})
    said = shown(*movements([made]))
    assert said[0] == "system runs any two by two wrong right neighbours false"
    assert said[2] == "bm25 3 3/6 33.3% 0–20% 75–100% 50–100% 0–25%"
    assert "two by two: the mean over pairs of runs." in " ".join(said)


def test_one_run_moved_nothing_and_is_not_told_of() -> None:
    made = report(exam("dev"))
    assert movements([made]) == ()
    assert len(effort([made])) == 1
    assert len(effort([made, differing(exam("dev"), {}, {})])) == 2


def test_it_is_in_the_report_and_on_the_page_of_a_held_out_set_too() -> None:
    made = differing(exam("heldout"), {}, {"q005": [LEAVE]})
    found = repeated(made)
    assert found is not None
    again = Report.model_validate_json(made.model_dump_json())
    assert repeated(again) == found
    written = page([row_of(made)], [made])
    assert "| bm25 | 2 | 1/6 | 16.7% | 0–20% | 100% | 50–100% | 0% |" in written
    assert not any(question.q in written for question in exam("heldout").questions)


def test_a_report_from_before_it_was_told_holds_and_one_that_was_changed_does_not() -> None:
    made = report(load_exam("dev"), runs=2)
    verify(made)
    assert isinstance(made.verdict, HonestyVerdict)
    repeats = made.verdict.repeats
    assert repeats is not None
    assert repeats.moved is not None
    before = repeats.model_copy(update={"moved": None})
    old = made.model_copy(update={"verdict": made.verdict.model_copy(update={"repeats": before})})
    verify(old)
    assert movements([old]) == ()
    pair = repeats.moved.pairs[0].model_copy(update={"differing": 3})
    forged = repeats.model_copy(
        update={"moved": repeats.moved.model_copy(update={"pairs": (pair,)})}
    )
    with pytest.raises(AlteredReport, match="verdict"):
        verify(
            made.model_copy(update={"verdict": made.verdict.model_copy(update={"repeats": forged})})
        )
