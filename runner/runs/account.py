"""What a run's gateway tells: calls, recordings, its own ending, and what has been spent."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from runner.errors import BenchError
from runner.gateway.cassette import Entry
from runner.model import Call, Ending, Outcome
from runner.runs.endings import Ended
from runner.runs.sandbox.protocol import Box

TOTALS_S = 10.0
SETTLE_S = 30.0
STOPPED_S = 3.5
"""How long calls in flight may take to settle when the bench is stopped."""
SHOWN = 3


class Account:
    """One run's calls and money.

    Args:
        on_call: told of every line of the ledger.
    """

    def __init__(self, on_call: Callable[[Call], None]) -> None:
        self._on_call = on_call
        self.calls: list[Call] = []
        self.entries: list[Entry] = []
        """What was recorded, in the order of the ledger."""
        self.ended: Ending | None = None
        """The gateway's word on how the run ends, where it has said one."""
        self.settled = False
        """Whether the ledger is whole: nothing can be spent or was spent beside it."""
        self.warnings: list[str] = []
        self.ready = False
        """Whether the gateway has listened, so that calls may have been made."""

    @property
    def cost_usd(self) -> Decimal:
        """What the calls have cost."""
        return sum((call.cost_usd for call in self.calls), Decimal(0))

    def on_event(self, event: Mapping[str, Any]) -> None:
        """Take one of the gateway's unsolicited lines."""
        match event.get("event"):
            case "call":
                call = Call.model_validate(event["call"])
                self.calls.append(call)
                self._on_call(call)
            case "recorded":
                self.entries.append(Entry.model_validate(event["entry"]))
            case "ended":
                self.ended = self.ended or Ending.model_validate(event["ending"])

    def wait(self, box: Box) -> None:
        """Wait for the gateway to listen."""
        box.gateway.wait_for("ready", deadline_s=TOTALS_S)
        self.ready = True

    def check(self, box: Box, ceiling: Decimal | None, *, after: str) -> None:
        """The published check: has measured spend reached the ceiling?

        Raises:
            Ended: it has, or the gateway has ended the run.
        """
        totals = box.gateway.request("totals", {}, deadline_s=TOTALS_S).result
        if self.ended is not None:
            raise Ended(self.ended)
        settled = Decimal(str(totals["settled_usd"]))
        if ceiling is not None and settled >= ceiling:
            raise Ended(
                Ending(
                    outcome=Outcome.INCOMPLETE,
                    kind="ceiling",
                    detail=f"US${settled} were spent after {after}; the ceiling is US${ceiling}.",
                )
            )

    def settle(self, box: Box, *, deadline_s: float = SETTLE_S) -> None:
        """Close the gateway: nothing more is admitted, what is in flight is settled.

        Raises:
            Ended: a line of the ledger did not come through.
            BenchError: the gateway did not answer.
        """
        if self.settled:
            return
        totals = box.gateway.request("close", {}, deadline_s=deadline_s).result
        lines = int(totals.get("lines", totals["calls"]))
        if lines != len(self.calls):
            raise Ended(
                Ending(
                    outcome=Outcome.ERRORED,
                    kind="ledger",
                    detail=f"The ledger has {lines} lines, {len(self.calls)} were seen.",
                )
            )
        self.settled = True
        self._note_unused(totals.get("unused") or ())

    def stop(self, box: Box) -> None:
        """Settle what can be settled in the time a bench that is stopped has, and say what could
        not."""
        if not self.ready:
            return
        reserved = Decimal(0)
        try:
            totals = box.gateway.request("totals", {}, deadline_s=STOPPED_S / 2).result
            reserved = Decimal(str(totals.get("reserved_usd", "0")))
            self.settle(box, deadline_s=STOPPED_S)
        except (BenchError, Ended):
            if reserved:
                self.warnings.append(
                    f"Stopped with calls in flight: up to US${reserved} more than the figures"
                    " say may have been spent."
                )

    def _note_unused(self, unused: Any) -> None:
        """Say what was recorded and not asked for again."""
        rows = [(row.get("purpose", ""), row.get("step", "")) for row in unused]
        if rows:
            shown = "; ".join(f"{purpose} in {step}" for purpose, step in rows[:SHOWN])
            more = f"; and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
            self.warnings.append(f"{len(rows)} recorded calls were not used: {shown}{more}.")
