"""How a note's claims meet the standing ones: which pairs are asked about, and what follows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memory_engine import rules
from memory_engine.judge import Judge
from memory_engine.pair import sample
from memory_engine.settings import Options
from memory_engine.store import BY_UPDATE, Changes, Claim, Event, Retirement
from memory_engine.words import subject_key

Clock = Callable[[], datetime]


@dataclass(slots=True)
class Reconciliation:
    """Compares new claims with standing ones and writes what follows into ``changes``."""

    judge: Judge
    options: Options
    clock: Clock
    changes: Changes
    probes: int = 0
    _retired: set[str] = field(default_factory=set)

    def run(self, fresh: Sequence[Claim], standing: Sequence[Claim]) -> None:
        """Compare every new claim with the standing claims about its subject, newest first.

        A pair is ordered by the days its claims were told, whichever of them came in now, so that
        a note handed in late retires nothing that is newer than itself.
        """
        for claim in fresh:
            rivals = [other for other in standing if self._rival(claim, other)]
            rivals.sort(key=lambda other: (other.day, other.seq), reverse=True)
            for other in self._within_caps(claim, rivals):
                if {claim.id, other.id} & self._retired:
                    continue
                self._probe(claim, other)

    def _rival(self, claim: Claim, other: Claim) -> bool:
        return (
            not other.restatement
            and other.id not in self._retired
            and not set(claim.sources) & set(other.sources)
            and subject_key(claim.subject) == subject_key(other.subject)
        )

    def _within_caps(self, claim: Claim, rivals: Sequence[Claim]) -> Iterable[Claim]:
        of_claim = self.options.probes_per_claim
        for position, other in enumerate(rivals):
            if position >= of_claim:
                self._capped("claim", of_claim, claim, rivals[position:])
                return
            if self.probes >= self.options.probes_per_deposit:
                self._capped("deposit", self.options.probes_per_deposit, claim, rivals[position:])
                return
            yield other

    def _capped(self, cap: str, limit: int, claim: Claim, left: Sequence[Claim]) -> None:
        self._record(
            "PROBES_CAPPED",
            {"cap": cap, "limit": limit, "claim": claim.id, "left_out": [c.id for c in left]},
        )

    def _probe(self, claim: Claim, other: Claim) -> None:
        self.probes += 1
        older, newer = (other, claim) if other.day <= claim.day else (claim, other)
        found = sample(self.judge, older, newer)
        retired = rules.retires(
            same_slot_admits=self.options.same_slot_admits,
            contradicts=found.contradiction.yes,
            changes=found.changes,
            past_value=found.past_value,
        )
        evidence = {
            "same_slot_admits": self.options.same_slot_admits,
            "past_value_marker": found.past_value,
            **found.evidence(),
        }
        if not retired:
            self._record("PAIR_KEPT", {"older": older.id, "newer": newer.id, **evidence})
            return
        decided_by = "update+second-reading"
        if not self.options.same_slot_admits or found.past_value:
            decided_by += "+contradiction"
        self._retired.add(older.id)
        at = self.clock().isoformat()
        self.changes.retirements.append(Retirement(older.id, newer.id, BY_UPDATE, at))
        self._record(
            "UPDATE_SUPERSESSION",
            {"loser": older.id, "winner": newer.id, "decided_by": decided_by, **evidence},
        )

    def _record(self, kind: str, payload: dict[str, Any]) -> None:
        self.changes.events.append(Event(kind, self.clock().isoformat(), payload))
