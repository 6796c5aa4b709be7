"""What runs spent whose bench was killed: said at the next start, and kept on disk."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from pydantic import ValidationError

from runner.model import Call
from runner.paths import state_dir
from runner.runs.disk import give_to_owner, make_folder
from runner.runs.sandbox import DeadLedger


def parse(content: bytes) -> tuple[tuple[Call, ...], int]:
    """The calls of a ledger, and how many lines of it are no calls (a last one may be cut)."""
    calls, broken = [], 0
    for line in filter(None, content.splitlines()):
        try:
            calls.append(Call.model_validate_json(line))
        except ValidationError:
            broken += 1
    return tuple(calls), broken


@dataclass(frozen=True, slots=True)
class Salvage:
    """Keeps the ledgers of dead benches in a folder and says what is in them.

    Args:
        folder: made when there is something to keep.
        say: told a sentence a run.
    """

    folder: Path
    say: Callable[[str], None]

    @classmethod
    def usual(cls, say: Callable[[str], None]) -> "Salvage":
        """In the project's state folder."""
        return cls(state_dir() / "ledgers", say)

    def __call__(self, ledger: DeadLedger) -> None:
        """Take one ledger."""
        run = ledger.run_id or "a run without a name"
        if ledger.content is None:
            self.say(
                f"{run}: its bench was killed and its ledger cannot be read, so what it spent is"
                f" not known. {ledger.why}"
            )
            return
        if not ledger.content.strip():
            return
        calls, broken = parse(ledger.content)
        spent = sum((call.cost_usd for call in calls), Decimal(0))
        money = f"US${spent:.4f}" + ("" if ledger.paid else " of play money")
        many = f"{len(calls)} call{'' if len(calls) == 1 else 's'}"
        flaw = f"; {broken} broken lines" if broken else ""
        self.say(
            f"{run}: its bench was killed after {many}, {money} spent{flaw}. {self._keep(ledger)}"
        )

    def _keep(self, ledger: DeadLedger) -> str:
        name = "".join(c if c.isalnum() or c in "-_." else "_" for c in ledger.run_id) or "run"
        path = self.folder / f"{name}-{ledger.lease[:8]}.jsonl"
        try:
            make_folder(self.folder)
            path.write_bytes(ledger.content or b"")
            give_to_owner(path)
        except OSError as error:
            return f"Its ledger could not be kept at {path}: {error.strerror or error}."
        return f"Its ledger: {path}"
