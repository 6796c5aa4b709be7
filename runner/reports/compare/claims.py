"""Claims of final stores, matched by what they say and where it came from: ids differ in each run.

Runs of one report differ among themselves, so of each claim it is told in how many of them it is,
and as what.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction

from runner.model import Claim, RunRecord, Store
from runner.reports.compare.nouns import Finding, Part, Way
from runner.reports.sheet import Cell, Column, Sheet, Tone

Key = tuple[str, tuple[str, ...], bool]
"""What a claim says, the notes it came from, and whether the store wrote it itself."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One claim in the runs of one report."""

    runs: int
    """All there are."""
    states: Mapping[str, int]
    """In how many of them it is what; a run without it is in none."""

    @property
    def there(self) -> int:
        """Runs that hold it."""
        return sum(self.states.values())

    @property
    def shares(self) -> dict[str, Fraction]:
        """The same as parts of all runs."""
        return {state: Fraction(count, self.runs) for state, count in self.states.items()}

    def __str__(self) -> str:
        if not self.states:
            return f"in 0 of {self.runs}"
        return "; ".join(
            f"in {count} of {self.runs}: {state}" for state, count in sorted(self.states.items())
        )


def claims(
    kind: str, before: Sequence[RunRecord], after: Sequence[RunRecord], *, by_day: bool
) -> Part:
    """Compare the final stores of the runs of one kind.

    Args:
        kind: of the runs.
        before: the runs of A that came to a verdict.
        after: those of B.
        by_day: whether days say something; on the wall clock they do not.
    """
    if not before or not after:
        return Part()
    one, other = _seen(before, by_day), _seen(after, by_day)
    nothing = Seen(len(before), {}), Seen(len(after), {})
    rows: list[tuple[Cell, ...]] = []
    alike, told = 0, Counter[str]()
    for key in [*one, *(key for key in other if key not in one)]:
        here, there = one.get(key, nothing[0]), other.get(key, nothing[1])
        if here.shares == there.shares:
            alike += 1
            continue
        what = _what(here, there)
        told[what] += 1
        rows.append((Cell(what, Tone.UNSURE), *_named(key), Cell(str(here)), Cell(str(there))))
    columns = (
        Column("", key="change"), Column("claim"), Column("sources"), Column("A"), Column("B"),
    )  # fmt: skip
    notes = [f"The same in both, beside these: {_claims(alike)}."] if alike else []
    if not by_day:
        notes.append("Days are left out: on the wall clock they say when the runs were made.")
    title = f"Claims of final stores, {kind} runs"
    sheet = Sheet(f"claims-{kind}", title, columns, tuple(rows), tuple(notes))
    if not rows:
        return Part()
    summary = ", ".join(f"{count} {what}" for what, count in sorted(told.items()))
    what = f"claims of {kind} runs: {summary}"
    finding = Finding(Way.CHANGED, what, _claims(len(one)), _claims(len(other)))
    return Part((sheet,), findings=(finding,))


def _claims(count: int) -> str:
    return f"{count} claim{'' if count == 1 else 's'}"


def _what(here: Seen, there: Seen) -> str:
    if not here.there:
        return "only in B"
    if not there.there:
        return "only in A"
    one, other = here.shares, there.shares
    if one.keys() != other.keys() or sum(one.values()) == sum(other.values()):
        return "otherwise"
    return "in more runs" if sum(other.values()) > sum(one.values()) else "in fewer runs"


def _named(key: Key) -> tuple[Cell, Cell]:
    text, sources, restatement = key
    return Cell(f"{text} (a restatement)" if restatement else text), Cell(", ".join(sources))


def _seen(runs: Sequence[RunRecord], by_day: bool) -> dict[Key, Seen]:
    counted: dict[Key, Counter[str]] = {}
    for run in runs:
        store = run.final or Store()
        texts = {claim.id: claim.text for claim in store.claims}
        of: dict[Key, list[str]] = {}
        for claim in store.claims:
            state = ", ".join(_state(claim, texts, by_day))
            of.setdefault(_key(claim), []).append(state)
        for key, states in of.items():
            # One that is there twice is another state than one that is there once.
            counted.setdefault(key, Counter())[" and ".join(sorted(states))] += 1
    return {key: Seen(len(runs), dict(states)) for key, states in counted.items()}


def _key(claim: Claim) -> Key:
    return " ".join(claim.text.split()), tuple(sorted(claim.sources)), claim.restatement


def _state(claim: Claim, texts: Mapping[str, str], by_day: bool) -> Iterator[str]:
    """What a store says of a claim, its ids in words."""
    yield claim.status if claim.reason is None else f"{claim.status} ({claim.reason})"
    if by_day:
        for name, day in (
            ("from", claim.valid_from),
            ("until", claim.valid_until),
            ("said", claim.asserted_at),
            ("retired", claim.retired_at),
        ):
            if day is not None:
                yield f"{name} {_day(day)}"
    for name, id_ in (("retired by", claim.retired_by), ("leaned on", claim.anchor)):
        if id_ is not None:
            yield f"{name} “{' '.join(texts.get(id_, 'a claim that is not there').split())}”"


def _day(moment: date | datetime) -> str:
    return f"{moment:%Y-%m-%d}"
