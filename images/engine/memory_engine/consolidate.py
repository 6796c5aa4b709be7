"""After a change: what leaned on the retired claims is told as history, one winner at a time.

Each winner is examined in one transaction after its last model call, so that an interrupted
consolidation goes on with the next winner and one that is complete does nothing more.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memory_engine.judge import Judge
from memory_engine.replies import Leaning
from memory_engine.settings import Options
from memory_engine.store import BY_RESTATEMENT, Changes, Claim, Event, Retirement, Store
from memory_engine.update import Clock
from memory_engine.words import proper_names, share, subject_key


def consolidate(store: Store, judge: Judge, options: Options, clock: Clock) -> dict[str, Any]:
    """Examine every winner that was not examined yet; returns what became of it, in counts.

    Raises:
        EngineError: a model call failed. Winners examined before it stay examined.
    """
    budget = _Budget(options.checks_per_consolidation)
    winners = store.unexamined()
    totals = {"winners": 0, "examined": 0, "restated": 0, "kept_back": 0, "left": 0}
    for position, (winner, retired) in enumerate(winners):
        if budget.left <= 0:
            left = [later.id for later, _ in winners[position:]]
            payload = {"cap": "consolidation", "limit": budget.limit, "claim": None}
            store.record(
                [Event("PROBES_CAPPED", clock().isoformat(), {**payload, "left_out": left})]
            )
            totals["left"] = len(left)
            break
        work = _Examination(
            store.claims(active=True), judge, options, clock, budget, winner, retired
        )
        work.run()
        store.examined(retired, work.changes, clock())
        totals["winners"] += 1
        for outcome in work.outcomes:
            totals["examined"] += 1
            if outcome != "independent":
                totals[outcome] += 1
    return totals


@dataclass(slots=True)
class _Budget:
    limit: int
    spent: int = 0

    @property
    def left(self) -> int:
        return self.limit - self.spent


@dataclass(slots=True)
class _Examination:
    """One winner, what it retired, and the claims that may have leaned on that."""

    standing: Sequence[Claim]
    judge: Judge
    options: Options
    clock: Clock
    budget: _Budget
    winner: Claim
    retired: Sequence[Claim]
    changes: Changes = field(default_factory=Changes)
    outcomes: list[str] = field(default_factory=list)

    def run(self) -> None:
        candidates = self._candidates()
        if not candidates:
            return
        answers = self.judge.reanchor(self.winner, self.retired, candidates)
        for candidate, answer in zip(candidates, answers, strict=True):
            self._examine(candidate, answer)

    def _candidates(self) -> Sequence[Claim]:
        """Older standing claims from other notes that share something with a retired one."""
        found = [
            claim
            for claim in self.standing
            if not claim.restatement
            and claim.id != self.winner.id
            and not set(claim.sources) & set(self.winner.sources)
            and (claim.day, claim.seq) < (self.winner.day, self.winner.seq)
            and self._near(claim) is not None
        ]
        limit = self.options.candidates_per_winner
        if len(found) > limit:
            self._capped("candidates", limit, self.winner.id, found[limit:])
        return found[:limit]

    def _near(self, claim: Claim) -> Claim | None:
        """The first retired claim that shares a content word or the subject with it."""
        key = subject_key(claim.subject)
        for retired in self.retired:
            if subject_key(retired.subject) == key or share((retired.text,), claim.text):
                return retired
        return None

    def _examine(self, candidate: Claim, answer: Leaning) -> None:
        if not answer.leans or answer.anchor is None:
            near = self._near(candidate)
            assert near is not None
            self._outcome(candidate, near, "independent", "stands", answer.reason)
            return
        anchor = self.retired[answer.anchor - 1]
        if self.budget.left <= 0:
            self._capped("consolidation", self.budget.limit, candidate.id, [candidate])
            self._outcome(candidate, anchor, "kept_back", "capped", answer.reason)
            return
        self.budget.spent += 1
        reading = self.judge.faithful(candidate, anchor, self.winner, answer.restatement)
        if not reading.depended:
            self._outcome(candidate, anchor, "kept_back", "not_depended", reading.reason)
            return
        if not reading.faithful:
            self._outcome(candidate, anchor, "kept_back", "unfaithful", reading.reason)
            return
        restatement = self._restatement(candidate, anchor, answer.restatement)
        for other in self._to_check(candidate, restatement):
            verdict = self.judge.contradicts(other, restatement)
            if verdict.yes:
                self._outcome(
                    candidate, anchor, "kept_back", "contradiction", verdict.reason, against=other
                )
                return
        at = self.clock().isoformat()
        self.changes.claims.append(restatement)
        self.changes.retirements.append(
            Retirement(candidate.id, restatement.id, BY_RESTATEMENT, at)
        )
        self._outcome(
            candidate, anchor, "restated", "leaned", reading.reason, restatement=restatement
        )

    def _restatement(self, candidate: Claim, anchor: Claim, text: str) -> Claim:
        # History has no end date: it stays true.
        return Claim(
            id=str(uuid.uuid4()),
            text=text,
            subject=candidate.subject,
            day=candidate.day,
            sources=candidate.sources,
            asserted_at=self.clock().isoformat(),
            restatement=True,
            restates=candidate.id,
            anchor=anchor.id,
        )

    def _to_check(self, candidate: Claim, restatement: Claim) -> Sequence[Claim]:
        """Claims the restatement will stand beside and could contradict, the nearest first."""
        gone = {retirement.loser for retirement in self.changes.retirements} | {candidate.id}
        beside = [c for c in (*self.standing, *self.changes.claims) if c.id not in gone]
        names = proper_names(restatement.text)
        key = subject_key(restatement.subject)
        shared = {c.id: len(names & proper_names(c.text)) for c in beside}
        near = [c for c in beside if shared[c.id] or subject_key(c.subject) == key]
        # A stable sort: among equals, the order of writing.
        near.sort(key=lambda c: (c.id != self.winner.id, -shared[c.id]))
        limit = min(self.options.checks_per_restatement, self.budget.left)
        if len(near) > limit:
            cap = "restatement" if limit == self.options.checks_per_restatement else "consolidation"
            self._capped(cap, limit, candidate.id, near[limit:])
        self.budget.spent += min(limit, len(near))
        return near[:limit]

    def _outcome(
        self,
        claim: Claim,
        anchor: Claim,
        outcome: str,
        reason: str,
        said: str,
        *,
        against: Claim | None = None,
        restatement: Claim | None = None,
    ) -> None:
        self.outcomes.append(outcome)
        self._record(
            "RESTATEMENT_EXAMINED",
            {
                "claim": claim.id,
                "anchor": anchor.id,
                "retired_by": self.winner.id,
                "contradicts": None if against is None else against.id,
                "outcome": outcome,
                "reason": reason,
                "said": said,
                "restatement": None if restatement is None else restatement.id,
            },
        )

    def _capped(self, cap: str, limit: int, claim: str, left: Sequence[Claim]) -> None:
        self._record(
            "PROBES_CAPPED",
            {"cap": cap, "limit": limit, "claim": claim, "left_out": [c.id for c in left]},
        )

    def _record(self, kind: str, payload: dict[str, Any]) -> None:
        self.changes.events.append(Event(kind, self.clock().isoformat(), payload))
