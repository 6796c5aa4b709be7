"""What each failure under a run means for its outcome."""

from collections.abc import Sequence
from decimal import Decimal

from runner.errors import (
    BenchError,
    ContainerDied,
    DeadlineMissed,
    DriverError,
    EngineLost,
    HostileSnapshot,
    SandboxError,
    UnreadableStore,
)
from runner.model import Call, Ending, Outcome, Step
from runner.runs import calls
from runner.runs.purse import Purse

_DRIVER = {
    "provider": "provider",
    "gateway_refused": "gateway_refused",
    "unparseable_reply": "unparseable_reply",
    "degraded": "degraded",
}


class Ended(Exception):
    """Raised inside a run to end it: carries how."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending.detail)
        self.ending = ending


def interrupted() -> Ending:
    """The user stopped the bench."""
    return Ending(
        outcome=Outcome.INCOMPLETE, kind="interrupted", detail="The bench was stopped by a signal."
    )


def unleased(purse: Purse, ceiling: Decimal | None) -> Ending:
    """A run that was not started, as the money of the protocol does not come to its ceiling."""
    return Ending(
        outcome=Outcome.INCOMPLETE,
        kind="ceiling",
        detail=(
            f"It was not started: of US${purse.total} for all runs, US${purse.left} is left, which"
            f" is less than its ceiling of US${ceiling}."
        ),
    )


def passes(step: Step, error: Exception) -> bool:
    """Whether a run goes on after an error: no verdict rests on the step, and the system itself
    answered with it. A call that the gateway would not let through never passes."""
    said_so = isinstance(error, DriverError) and error.kind != "gateway_refused"
    return step.aside and said_so


def ending_after(error: Exception, made: Sequence[Call]) -> Ending:
    """The ending an exception stands for, beside the model calls that were made until then."""
    if isinstance(error, DriverError) and error.kind == "gateway_refused":
        return Ending(
            outcome=Outcome.INVALID,
            kind="refused_request",
            detail=f"The gateway refused a request of the system: {error.message}",
        )
    ending, left = ending_of(error), calls.unresolved(made)
    if not (isinstance(error, DriverError) and left):
        return ending
    told = f"{ending.detail.rstrip('.')}. {calls.listed(left)}"
    # A system that only says that it failed did so for want of these answers.
    kind = "provider" if ending.kind == "driver" else ending.kind
    return ending.model_copy(update={"kind": kind, "detail": told})


def ending_of(error: BaseException) -> Ending:
    """The ending an exception stands for; never a verdict."""
    match error:
        case Ended():
            return error.ending
        case DeadlineMissed():
            return Ending(outcome=Outcome.INCOMPLETE, kind="deadline", detail=str(error))
        case DriverError():
            kind = _DRIVER.get(error.kind, "driver")
            return Ending(
                outcome=Outcome.ERRORED, kind=kind, detail=f"{error.kind}: {error.message}"
            )
        case EngineLost():
            kind = "engine_lost"
        case ContainerDied():
            kind = "container_died"
        case HostileSnapshot() | UnreadableStore():
            kind = "snapshot"
        case SandboxError():
            kind = "sandbox"
        case BenchError():
            kind = "bench"
        case OSError():
            kind = "disk"
        case _:
            kind = "bug"
            return Ending(
                outcome=Outcome.ERRORED, kind=kind, detail=f"{type(error).__name__}: {error}"
            )
    return Ending(outcome=Outcome.ERRORED, kind=kind, detail=str(error))
