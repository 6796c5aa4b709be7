"""Three rules of when a newer claim retires an older one, read off the same sample."""

from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from runner.errors import BenchError, UsageError
from runner.model import Noun, StepRecord
from runner.suites.update_gate.pairs import Gate
from runner.suites.update_gate.protocol import VERB, step_name

PRODUCTION = "production"
CHANGES_ONLY = "changes-only"
BEFORE = "before-1.187"
RULES = (PRODUCTION, CHANGES_ONLY, BEFORE)


class UnreadableSample(BenchError):
    """A pair's sample is not there, there twice, or not of the form that the rules read."""

    exit_code = 7


class Sample(Noun):
    """What a system said of one pair, once."""

    contradiction: bool
    """Its contradiction probe: yes."""
    changes: bool
    """Its update probe, settled by the second reading: a value that changed."""
    marked: bool
    """Its own rule found a past-value marker in the older claim."""


class _Result(BaseModel):
    """The fields of a probe's result that a rule reads; there may be others, such as ``detail``."""

    model_config = ConfigDict(strict=True, extra="ignore")

    contradiction: bool
    update: Literal["changes", "not_changes"]
    past_value_marker: bool


def retires(rule: str, sample: Sample) -> bool:
    """Whether the older claim is retired.

    * ``production``: on a change; where the older claim is marked as past, together with a
      contradiction;
    * ``changes-only``: on a change;
    * ``before-1.187``: on a change together with a contradiction.

    Raises:
        UsageError: there is no such rule.
    """
    match rule:
        case "production":
            return sample.changes and (sample.contradiction or not sample.marked)
        case "changes-only":
            return sample.changes
        case "before-1.187":
            return sample.changes and sample.contradiction
        case _:
            raise UsageError(f"There is no rule {rule!r}.", hint=f"Rules: {', '.join(RULES)}.")


def samples(gate: Gate, kind: str, steps: Iterable[StepRecord]) -> dict[str, Sample]:
    """What a run found out, by the id of the pair, in the order of the set.

    Raises:
        UsageError: there is no such set.
        UnreadableSample: a pair was not asked, was asked twice or got no answer; an answer lacks a
            field or holds another type; a step is of no pair of the set.
    """
    wanted = {step_name(pair.id): pair.id for pair in gate.pair_set(kind).pairs}
    found: dict[str, Sample] = {}
    for record in steps:
        if record.verb != VERB or record.name not in wanted:
            raise UnreadableSample(f"Step {record.name!r} ({record.verb}) asks no pair of {kind}.")
        id_ = wanted[record.name]
        if id_ in found:
            raise UnreadableSample(f"The pair {id_} of {kind} was asked twice in one sample.")
        found[id_] = _sample(id_, kind, record)
    missing = [id_ for id_ in wanted.values() if id_ not in found]
    if missing:
        raise UnreadableSample(
            f"There is no sample of {', '.join(missing)} ({kind}).",
            hint="Such a run is incomplete: it has no verdict.",
        )
    return {id_: found[id_] for id_ in wanted.values()}


def _sample(id_: str, kind: str, record: StepRecord) -> Sample:
    if record.error is not None:
        raise UnreadableSample(f"The pair {id_} of {kind} got no answer: {record.error}.")
    try:
        result = _Result.model_validate(record.result)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise UnreadableSample(
            f"The sample of {id_} ({kind}) cannot be read: {field}: {first['msg']}."
        ) from error
    return Sample(
        contradiction=result.contradiction,
        changes=result.update == "changes",
        marked=result.past_value_marker,
    )
