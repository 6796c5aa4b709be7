"""The lines of one run: begun when a call comes, written when it is known what became of it."""

import asyncio
import hashlib
import time
from collections import Counter

from runner.gateway._ask import Ask
from runner.gateway.ledger import Ledger
from runner.gateway.meter import Meter
from runner.gateway.wire import UNATTRIBUTED
from runner.model import Call


class Book:
    """Keeps the lines of ``run`` in ``ledger``, and their sums.

    Nothing is written ahead of a call. It would cost every call a second wait for the disk, and
    what it could save is bounded without it: a gateway outlives its orchestrator and settles what
    is in flight, and where the gateway itself is killed, the ceiling says what the calls whose
    lines are lost have cost at most.
    """

    def __init__(self, run: str, ledger: Ledger) -> None:
        self.meter = Meter()
        self._run = run
        self._ledger = ledger
        self._asked = 0
        self._failed: Counter[str] = Counter()

    def enter(self, step: str, raw: bytes, path: str, query: str) -> Ask:
        """Begin the line of a call whose body is ``raw``."""
        self._asked += 1
        request_id = f"req_{self._run}_{self._asked:06d}"
        opened = asyncio.get_running_loop().create_future()
        ask = Ask(request_id, path, query, time.monotonic(), opened, raw)
        ask.line = {
            "seq": 0,
            "step": step,
            "purpose": UNATTRIBUTED,
            "requested_model": "",
            "request_id": request_id,
        }
        return ask

    async def write(self, ask: Ask, outcome: str, error: str | None, detail: str) -> None:
        """Put a line on the disk.

        Raises:
            LedgerError: it is not there.
        """
        digest = ask.line.get("prompt_sha256") or hashlib.sha256(ask.raw).hexdigest()
        ask.line |= {
            "prompt_sha256": digest,
            "outcome": outcome,
            "error": error,
            "detail": detail,
            "latency_ms": ask.elapsed_ms(),
            "retries": self._failed[digest],
            "flags": tuple(sorted(ask.flags)),
        }
        if outcome == "failed":
            self._failed[digest] += 1
        else:
            del self._failed[digest]
        self.meter.count(await self._ledger.append(Call.model_validate(ask.line)))
