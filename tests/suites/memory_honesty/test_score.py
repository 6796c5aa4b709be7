import pytest

from runner.errors import UsageError
from runner.model import Outcome
from runner.suites.memory_honesty import HonestyVerdict, UnreadableAnswer, answers, result, score
from tests.suites.memory_honesty._kit import LEAVE, ON_CALL, exam, run


def test_a_run_is_graded_from_its_own_steps() -> None:
    asked = exam("dev")
    record = run(asked, {"q003": [LEAVE]})
    verdict = score(asked, [record])
    (only,) = verdict.runs
    assert (only.run, only.index) == ("memory-honesty-dev-1", 1)
    assert only.result == result(asked, answers(asked, record.steps))
    assert only.result.metrics.wrong == 1
    assert verdict.result == only.result
    assert (verdict.set, verdict.held_out, verdict.sealed) == ("dev", False, False)
    assert (verdict.planned, verdict.counted, verdict.uncounted, verdict.missing) == (1, 1, 0, 0)
    assert verdict.outcomes == {Outcome.PASSED: 1}
    assert (verdict.reasons, verdict.repeats) == ({}, None)
    assert HonestyVerdict.model_validate_json(verdict.model_dump_json()) == verdict


def test_times_are_those_of_the_steps() -> None:
    asked = exam("dev")
    timing = score(asked, [run(asked)]).runs[0].timing
    # One to six milliseconds: see the kit.
    assert (timing.index_s, timing.p50_ms, timing.p99_ms) == (0.25, 3.0, 6.0)


def test_a_run_without_a_verdict_counts_nowhere() -> None:
    asked = exam("dev")
    records = [
        run(asked, index=2, outcome="errored", why="degraded"),
        run(asked, index=3, outcome="incomplete", why="deadline"),
        run(asked),
    ]
    verdict = score(asked, records, {"dev": 5})
    assert [one.index for one in verdict.runs] == [1]
    assert (verdict.counted, verdict.uncounted, verdict.missing) == (1, 2, 2)
    assert verdict.reasons == {"degraded": 1, "deadline": 1}
    assert score(asked, records[:1], {"dev": 2}).result is None


def test_runs_of_the_same_questions_are_laid_beside_one_another() -> None:
    asked = exam("dev")
    same = score(asked, [run(asked), run(asked, index=2)], {"dev": 2})
    assert same.repeats is not None
    assert (same.repeats.runs, same.repeats.differing) == (2, 0)
    # Another page that is right too is another answer all the same.
    other = run(asked, {"q004": [ON_CALL], "q005": [LEAVE]}, index=3)
    verdict = score(asked, [other, run(asked), run(asked, index=2)], {"dev": 3})
    assert [one.index for one in verdict.runs] == [1, 2, 3]
    assert verdict.repeats is not None
    assert (verdict.repeats.runs, verdict.repeats.differing) == (3, 2)


def test_a_warning_of_several_runs_is_told_once() -> None:
    asked = exam("dev", told=True)
    verdict = score(asked, [run(asked), run(asked, index=2)], {"dev": 2})
    assert len(verdict.warnings) == 1


def test_a_held_out_verdict_names_no_question_and_no_page() -> None:
    asked = exam("heldout")
    verdict = score(asked, [run(asked, {"q001": [LEAVE]}), run(asked, index=2)], {"heldout": 2})
    assert (verdict.held_out, verdict.sealed) == (True, True)
    told = verdict.model_dump_json()
    for one in asked.questions:
        assert one.id not in told
        assert one.q not in told
    assert not any(page.name in told for page in asked.pages)


def test_what_is_scored_are_runs_of_this_set() -> None:
    asked = exam("dev")
    with pytest.raises(UsageError, match="no run to score"):
        score(asked, [])
    with pytest.raises(UsageError, match="no run to score"):
        score(asked, [], {"dev": 0})
    with pytest.raises(UsageError, match="not of memory-honesty"):
        score(asked, [run(asked, spec={"suite": "update-gate"})])
    with pytest.raises(UsageError, match="not of memory-honesty"):
        score(asked, [run(asked, spec={"case": "reader"})])
    with pytest.raises(UsageError, match="'dev2' is not asked here"):
        score(asked, [run(asked, spec={"kind": "dev2"})])
    with pytest.raises(UsageError, match="'dev2' is not asked here"):
        score(asked, [run(asked)], {"dev": 1, "dev2": 1})
    with pytest.raises(UsageError, match="number 2 of dev, of which 1 are planned"):
        score(asked, [run(asked, index=2)])
    with pytest.raises(UsageError, match="is there twice"):
        score(asked, [run(asked), run(asked)], {"dev": 2})
    with pytest.raises(UsageError, match="is there twice"):
        score(asked, [run(asked), run(asked, spec={"id": "other"})], {"dev": 2})


def test_a_plan_of_no_run_has_no_record() -> None:
    asked = exam("dev")
    with pytest.raises(UsageError, match="of which 0 are planned"):
        score(asked, [run(asked)], {})
    assert score(asked, [], {"dev": 3}).missing == 3


def test_a_verdict_that_its_steps_do_not_hold_is_an_error() -> None:
    asked = exam("dev")
    record = run(asked)
    with pytest.raises(UnreadableAnswer):
        score(asked, [record.model_copy(update={"steps": record.steps[:-1]})])


def test_without_the_questions_nothing_is_scored() -> None:
    asked = exam("heldout")
    with pytest.raises(UsageError, match="held out"):
        score(asked.public(), [run(asked)])
