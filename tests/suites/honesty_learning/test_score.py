import pytest

from runner.errors import UsageError
from runner.model import Outcome, RunRecord
from runner.suites.honesty_learning import Learned, LessonVerdict, score
from runner.suites.honesty_learning.pairs import Week
from runner.suites.honesty_learning.protocol import week_of
from runner.suites.memory_honesty import Grade, grades, metrics, paired
from runner.suites.memory_honesty import answers as honest
from runner.suites.memory_honesty._file import Kind
from tests.suites.honesty_learning._kit import (
    BACKUPS,
    LEAVE,
    ROWS,
    both,
    learned,
    lesson,
    run,
    said,
)

PLAN = {"before": 1, "after": 1}


def test_what_was_learned_and_what_it_did() -> None:
    asked = lesson()
    night = learned(
        said(ROWS[0]["week1"], BACKUPS),
        said(ROWS[3]["week1"], BACKUPS),
        unproved=[said(ROWS[1]["week1"], LEAVE), said(ROWS[4]["week1"], LEAVE)],
    )
    runs = [
        run(asked, "before", second={"w001": None, "w002": None}),
        run(asked, "after", first={"w001": None}, second={"w002": None, "w004": [BACKUPS]},
            night=night),
    ]  # fmt: skip
    verdict = score(asked, runs, PLAN)
    assert verdict.after is not None
    assert verdict.after.learned == Learned(
        looked_at=5,
        asked=5,
        declined=1,
        learned=2,
        wrong=1,
        unproved=2,
        unproved_right=1,
        proof=True,
    )
    before, after = verdict.before, verdict.after
    assert before is not None
    assert (before.week1, before.learned) == (None, None)
    assert after.week1 is not None
    assert after.week1.answerable_right.hits == 2
    assert (before.week2.answerable_right.hits, after.week2.answerable_right.hits) == (1, 2)
    assert (before.week2.wrong, after.week2.wrong) == (0, 1)
    assert after.week2.neighbours_refused.hits == 1
    assert verdict.paired is not None
    test = verdict.paired.tests["behaved"]
    assert (test.only_first, test.only_second) == (1, 1)
    refused = verdict.paired.differences["neighbours_refused"]
    assert refused.value == -0.5
    assert LessonVerdict.model_validate_json(verdict.model_dump_json()) == verdict


def test_the_weeks_are_graded_as_the_honesty_suite_grades() -> None:
    asked = lesson()
    runs = both(asked, second={"w001": [LEAVE]}, first={"w002": [BACKUPS]})
    verdict = score(asked, runs, PLAN)

    def graded(week: Week, one: RunRecord) -> tuple[Grade, ...]:
        exam = asked.exam(week)
        return grades(exam, honest(exam, week_of(asked, week, one.steps)))

    assert verdict.after is not None
    assert verdict.after.week1 == metrics(graded(1, runs[1]))
    assert verdict.after.week2 == metrics(graded(2, runs[1]))
    assert verdict.paired == paired(graded(2, runs[1]), graded(2, runs[0]))
    kinds: list[Kind] = ["correction", "current", "refuse"]
    assert list(verdict.after.week2.by_kind) == kinds


def test_a_run_without_a_verdict_counts_nowhere() -> None:
    asked = lesson()
    verdict = score(asked, [run(asked, "before"), run(asked, "after", outcome="errored")], PLAN)
    assert verdict.after is None
    assert verdict.paired is None
    assert verdict.before is not None
    assert verdict.outcomes == {Outcome.PASSED: 1, Outcome.ERRORED: 1}
    assert verdict.reasons == {"provider": 1}


def test_half_a_lesson() -> None:
    asked = lesson()
    assert score(asked, [run(asked, "after")], PLAN).paired is None
    only = score(asked, [run(asked, "before")], {"before": 1})
    assert [one.kind for one in only.runs] == ["before"]
    assert score(asked, [], PLAN).runs == ()


def test_several_runs_stand_by_kind_and_number() -> None:
    asked = lesson()
    runs = [run(asked, kind, index=index) for index in (2, 1) for kind in ("after", "before")]
    verdict = score(asked, runs, {"before": 2, "after": 2})
    assert [(one.kind, one.index) for one in verdict.runs] == [
        ("before", 1),
        ("before", 2),
        ("after", 1),
        ("after", 2),
    ]
    assert verdict.after is not None
    assert verdict.after.index == 1


def test_runs_that_do_not_belong() -> None:
    asked = lesson()
    good = run(asked, "before")
    for runs, plan, says in (
        ([], {"before": 0}, "no run to score"),
        ([good], {"during": 1}, "no kind"),
        ([run(asked, "before", spec={"fixture_variant": "vault2"})], PLAN, "not of"),
        ([run(asked, "before", spec={"suite": "memory-honesty"})], PLAN, "not of"),
        ([run(asked, "before", index=2)], PLAN, "number 2 of before"),
        ([good, good], PLAN, "there twice"),
    ):
        with pytest.raises(UsageError, match=says):
            score(asked, runs, plan)
