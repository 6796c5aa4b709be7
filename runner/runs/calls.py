"""What a run's model calls come to: what each purpose took, and which failures a verdict would
rest on. Pure, so that a saved report can be held to it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from runner.model import Call, Ending, Outcome, PurposeUsage, Step, Usage

CUT = frozenset({"max_tokens", "model_context_window_exceeded", "length"})
"""Stop reasons of a reply that does not end where its writer meant to."""
DECLINED = frozenset({"refusal", "content_filter"})
SHOWN = 5
"""How many calls an ending lists; the report holds all of them."""


def by_purpose(calls: Iterable[Call]) -> tuple[PurposeUsage, ...]:
    """What each purpose took on each model, in alphabetical order."""
    rows: dict[tuple[str, str], list[Call]] = {}
    for call in calls:
        rows.setdefault((call.purpose, call.requested_model), []).append(call)
    return tuple(
        PurposeUsage(
            purpose=purpose,
            model=model,
            calls=len(row),
            answered=sum(call.outcome == "answered" for call in row),
            failed=dict(sorted(Counter(_kind(call) for call in row if _kind(call)).items())),
            usage=sum((call.usage for call in row), Usage()),
            cost_usd=sum((call.cost_usd for call in row), Decimal(0)),
        )
        for (purpose, model), row in sorted(rows.items())
    )


def _kind(call: Call) -> str:
    return "" if call.outcome == "answered" else call.error or call.outcome


def unresolved(calls: Sequence[Call]) -> tuple[Call, ...]:
    """Calls that the system never got a whole answer to.

    A call the provider failed, or whose reply was cut off or declined, is resolved by a later
    answer to the same prompt, or, where it was cut off, to one of the same purpose and step that
    was given more room. A batch that was not taken is resolved by any later answer in its step:
    its calls are then made one by one.
    """
    return tuple(
        call
        for place, call in enumerate(calls)
        if _without_answer(call) and not any(_resolves(later, call) for later in calls[place + 1 :])
    )


def _without_answer(call: Call) -> bool:
    return call.outcome == "failed" or (call.outcome == "answered" and bool(_stopped(call)))


def _stopped(call: Call) -> str:
    reason = call.stop_reason or ""
    return reason if reason in CUT or reason in DECLINED else ""


def _resolves(later: Call, call: Call) -> bool:
    if _without_answer(later) or later.outcome != "answered":
        return False
    if later.prompt_sha256 == call.prompt_sha256:
        return True
    if not call.requested_model:  # nothing but a batch as a whole names no model
        return later.step == call.step
    return (
        call.stop_reason in CUT
        and (later.step, later.purpose) == (call.step, call.purpose)
        and (later.max_tokens_asked or 0) > (call.max_tokens_asked or 0)
    )


def ending(calls: Sequence[Call]) -> Ending | None:
    """How a run ends that would otherwise be judged: none when every call was answered.

    A memory that was refused its model has not been measured, whatever its store holds.
    """
    left = unresolved(calls)
    if not left:
        return _unmeasured(calls)
    only_stopped = all(call.outcome == "answered" for call in left)
    kind = "cut_reply" if only_stopped else "provider"
    return Ending(outcome=Outcome.ERRORED, kind=kind, detail=listed(left))


def _unmeasured(calls: Sequence[Call]) -> Ending | None:
    """A reply that does not say what it took was charged at its worst, and what it cost, or which
    share of a ceiling was left for the others, nobody knows."""
    blind = [call for call in calls if call.outcome == "answered" and "no_usage" in call.flags]
    if not blind:
        return None
    told = f"{len(blind)} repl{'y does' if len(blind) == 1 else 'ies do'} not say what they took"
    return Ending(
        outcome=Outcome.INVALID,
        kind="no_usage",
        detail=f"{told}: {_told(blind[0])}{' and others' if len(blind) > 1 else ''}.",
    )


def listed(calls: Sequence[Call]) -> str:
    """Calls without an answer, for the detail of an ending."""
    many = f"{len(calls)} model call{'' if len(calls) == 1 else 's'} got no whole answer"
    shown = "; ".join(_told(call) for call in calls[:SHOWN])
    more = f"; and {len(calls) - SHOWN} more" if len(calls) > SHOWN else ""
    return f"{many}: {shown}{more}."


def _told(call: Call) -> str:
    what = call.error or call.stop_reason or call.outcome
    tries = f" after {call.retries + 1} tries" if call.retries else ""
    ask = f", {call.request_id}" if call.request_id else ""
    return f"{call.purpose} in {call.step} ({what}{tries}{ask})"


def warnings(calls: Sequence[Call], steps: Sequence[Step] = ()) -> Iterator[str]:
    """What a reader of a verdict has to know of its calls, a sentence each.

    Args:
        calls: all of a run.
        steps: what the run was to do.
    """
    stopped = Counter((call.purpose, _stopped(call)) for call in calls if _stopped(call))
    for (purpose, reason), count in sorted(stopped.items()):
        yield f"{count} {purpose} {_replies(count)} stopped with {reason}."
    failed = Counter(_kind(call) for call in calls if call.outcome == "failed")
    if failed:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(failed.items()))
        yield f"The provider failed calls: {kinds}."
    refused = Counter(_kind(call) for call in calls if call.outcome == "refused")
    if refused:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(refused.items()))
        yield f"The gateway refused calls: {kinds}."
    unmeasured = sum(bool({"no_usage", "broken"} & set(call.flags)) for call in calls)
    if unmeasured:
        yield (
            f"{unmeasured} {_calls(unmeasured)} told no usage and {_are(unmeasured)} charged at"
            " the worst case."
        )
    if any("server_tools" in call.flags for call in calls):
        yield "Tools on the provider's side were used; what they cost is not in the figures."
    unnamed = sum(call.purpose == "unattributed" for call in calls if call.outcome == "answered")
    if unnamed:
        yield f"{unnamed} {_calls(unnamed)} fit no purpose of the system."
    looking = {step.name for step in steps if step.aside}
    beside = sum(call.step in looking for call in calls)
    if beside:
        yield f"{beside} model {_calls(beside)} came in steps that only look, and cost money."


def _replies(count: int) -> str:
    return "reply" if count == 1 else "replies"


def _calls(count: int) -> str:
    return "call" if count == 1 else "calls"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
