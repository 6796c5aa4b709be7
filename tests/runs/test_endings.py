import pytest

from runner import errors
from runner.model import Ending, Outcome
from runner.runs.endings import Ended, ending_of, interrupted

ESCAPE = Ending(outcome=Outcome.INVALID, kind="escape", detail="out")


@pytest.mark.parametrize(
    ("error", "outcome", "kind"),
    [
        (errors.DeadlineMissed("slow"), "incomplete", "deadline"),
        (errors.DriverError("provider", "529"), "errored", "provider"),
        (errors.DriverError("unparseable_reply", "x"), "errored", "unparseable_reply"),
        (errors.DriverError("degraded", "x"), "errored", "degraded"),
        (errors.DriverError("internal", "x"), "errored", "driver"),
        (errors.DriverError("of its own making", "x"), "errored", "driver"),
        (errors.EngineLost("gone"), "errored", "engine_lost"),
        (errors.ContainerDied("dead"), "errored", "container_died"),
        (errors.HostileSnapshot("a link"), "errored", "snapshot"),
        (errors.UnreadableStore("torn"), "errored", "snapshot"),
        (errors.CannotStart("no image"), "errored", "bench"),
        (OSError(28, "No space left on device"), "errored", "disk"),
        (ZeroDivisionError("oops"), "errored", "bug"),
    ],
)
def test_what_each_failure_means(error: Exception, outcome: str, kind: str) -> None:
    ending = ending_of(error)
    assert (ending.outcome, ending.kind) == (outcome, kind)
    assert str(error).split("]")[-1].strip() in ending.detail or error.args[-1] in ending.detail


def test_an_ending_that_was_raised_is_handed_on() -> None:
    assert ending_of(Ended(ESCAPE)) is ESCAPE
    assert interrupted().outcome is Outcome.INCOMPLETE


def test_no_failure_is_ever_a_verdict() -> None:
    for kind in vars(errors).values():
        if not (isinstance(kind, type) and issubclass(kind, errors.BenchError)):
            continue
        made = kind("a", "b") if issubclass(kind, errors.DriverError) else kind("a")
        assert ending_of(made).outcome not in (Outcome.PASSED, Outcome.FAILED), kind
