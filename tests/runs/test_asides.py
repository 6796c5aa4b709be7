"""Steps that only look: what is asked in them, and that no verdict, store or cost rests on it."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runner.model import RunRecord
from runner.runs.keep import Keep
from runner.runs.protocol import check
from runner.runs.run import Attempt
from runner.runs.watch import Unwatched
from runner.suites.trip_vs_move import KINDS, case_names, read_outs
from runner.systems.catalog import System, load
from tests.runs._memory import Habit, MemoryBox, MemorySandbox, Verb, die, fail, hang, says
from tests.runs._protocols import PRICES, jobs_of, one, protocol


def silent() -> System:
    """The engine, were its driver without ``recall``."""
    system = load("engine")
    verbs = tuple(verb for verb in system.verbs if verb != "recall")
    return system.model_copy(update={"verbs": verbs})


def went(folder: Path, job: Any = None, **habits: Habit) -> RunRecord:
    sandbox = MemorySandbox(folder)
    sandbox.habits = habits
    return Attempt(job or one(), sandbox, watch=Unwatched(), keep=Keep(None)).run()


def held(record: RunRecord) -> list[tuple[str, list[tuple[str, str, bool]]]]:
    """What each store held, without ids and times."""
    return [
        (
            seen.step,
            sorted((claim.text, claim.status, claim.restatement) for claim in seen.store.claims),
        )
        for seen in record.snapshots
    ]


def verdicts(record: RunRecord) -> list[tuple[int, list[tuple[str, bool]]]]:
    return [
        (result.version, [(check.id, check.passed) for check in result.checks])
        for result in record.checks
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", case_names())
def test_nothing_but_the_read_out_differs_from_a_run_that_is_not_asked(
    tmp_path: Path, case: str, kind: str
) -> None:
    asked = went(tmp_path / "asked", one(kind, case))
    unasked = went(tmp_path / "unasked", one(kind, case, system=silent()))
    assert {step.verb for step in unasked.steps} == {"deposit", "consolidate"}
    assert [step.name for step in asked.steps if step.verb != "recall"] == [
        step.name for step in unasked.steps
    ]
    assert asked.ending == unasked.ending
    assert verdicts(asked) == verdicts(unasked)
    assert held(asked) == held(unasked)
    assert asked.cost_usd == unasked.cost_usd > 0
    assert [(call.step, call.purpose, call.source) for call in asked.calls] == [
        (call.step, call.purpose, call.source) for call in unasked.calls
    ]
    assert asked.warnings == unasked.warnings == ()
    assert len(read_outs(asked.observations)) == sum(step.verb == "recall" for step in asked.steps)
    assert read_outs(unasked.observations) == ()


def test_a_system_without_the_verb_is_not_refused_and_not_asked() -> None:
    asked = protocol(system=silent())
    check(asked, PRICES)
    assert asked.unasked == ("recall",)
    for job in jobs_of(system=silent()):
        assert not any(step.aside for step in job.steps)
    assert protocol().unasked == ()


def test_a_store_is_the_same_before_and_after_questions(tmp_path: Path) -> None:
    """By the digest of its file, and every question of a run."""
    digests: list[tuple[str, str]] = []

    def looked_at(box: MemoryBox, request: Mapping[str, Any], verb: Verb) -> Any:
        def digest() -> str:
            (file,) = Path(box._snapshot({})["path"]).iterdir()
            return hashlib.sha256(file.read_bytes()).hexdigest()

        before = digest()
        said = verb(request)
        digests.append((before, digest()))
        return said

    record = went(tmp_path, one(case="mid-trip"), recall=looked_at)
    assert record.ending.outcome == "passed"
    assert len(digests) == 24
    assert all(before == after for before, after in digests)


@pytest.mark.parametrize("kind", ["degraded", "internal", "provider", "unsupported"])
def test_an_error_in_answer_to_a_question_costs_no_verdict(tmp_path: Path, kind: str) -> None:
    record = went(tmp_path, recall=fail(kind, "no index"))
    assert record.ending.outcome == "passed"
    failed = [step for step in record.steps if step.error]
    assert {step.verb for step in failed} == {"recall"}
    found = read_outs(record.observations)
    assert len(found) == len(failed) == 12
    assert all(one.error and "no index" in one.error and one.first is None for one in found)


def test_an_answer_that_is_none_costs_no_verdict_either(tmp_path: Path) -> None:
    record = went(tmp_path, recall=says({"statements": [{"txt": "The user lives in Delhi."}]}))
    assert record.ending.outcome == "passed"
    assert all(one.error for one in read_outs(record.observations))


@pytest.mark.parametrize(
    ("habit", "outcome", "kind"),
    [
        (fail("gateway_refused"), "invalid", "refused_request"),
        (die, "errored", "container_died"),
        (hang, "incomplete", "deadline"),
    ],
)
def test_what_ends_any_run_ends_it_there_too(
    tmp_path: Path, habit: Habit, outcome: str, kind: str
) -> None:
    job = one(step_deadline_s=0.2)
    record = went(tmp_path, job, recall=habit)
    assert (record.ending.outcome, record.ending.kind) == (outcome, kind)


def test_a_model_that_is_asked_there_is_told_of(tmp_path: Path) -> None:
    def asks(box: MemoryBox, request: Mapping[str, Any], verb: Verb) -> Any:
        call = box.door.call("extraction")
        box.door.emit({"event": "call", "call": call.model_dump(mode="json")})
        return verb(request)

    record = went(tmp_path, recall=asks)
    assert record.ending.outcome == "passed"
    assert any("12 model calls came in steps that only look" in said for said in record.warnings)


def test_a_step_that_is_not_aside_has_no_such_grace(tmp_path: Path) -> None:
    job = one()
    steps = tuple(replace(step, aside=False) for step in job.steps)
    record = went(tmp_path, replace(job, steps=steps), recall=fail("degraded"))
    assert (record.ending.outcome, record.ending.kind) == ("errored", "degraded")


def test_a_system_on_no_clock_is_told_of_once_a_step_that_counts(tmp_path: Path) -> None:
    sandbox = MemorySandbox(tmp_path)
    sandbox.mute_clock = True
    record = Attempt(one(), sandbox, watch=Unwatched(), keep=Keep(None)).run()
    assert sum("does not say what day" in said for said in record.warnings) == 3
