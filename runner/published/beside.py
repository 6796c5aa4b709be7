"""A result of ours beside the published ones of the same case and model."""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from pydantic import Field

from runner.model import Noun
from runner.profiles import Range
from runner.published.data import Count, GateTally, Published, PublishedResult
from runner.published.load import load_published

COST = "cost, US$"


class Ours(Noun):
    """A result of this bench, as far as there is something published to lay beside it."""

    suite: str
    case: str
    model: str
    kinds: dict[str, Count] = Field(default_factory=dict)
    """Runs that passed, of those that count, by kind."""
    sets: dict[str, GateTally] = Field(default_factory=dict)
    """Tallies of the production rule, by pair set."""
    run_usd: dict[str, Range] = Field(default_factory=dict)
    """The cheapest and the dearest run, by kind."""
    cost_usd: Decimal | None = None


class BesideRow(Noun):
    """One figure of ours, and the same figure of every published result."""

    label: str
    ours: str
    """Empty where it was not given."""
    published: tuple[str, ...]
    """In the order of ``Beside.results``; empty where it was not published."""


class Beside(Noun):
    """A result of ours beside what was published."""

    results: tuple[PublishedResult, ...]
    """Of the same case and model, the oldest first; empty when there is none."""
    rows: tuple[BesideRow, ...]
    """Only figures that some published result has."""
    notes: tuple[str, ...]
    """What a reader has to know of them, a sentence each."""

    @property
    def heads(self) -> tuple[str, ...]:
        """What each published column is headed by."""
        return tuple(result.head for result in self.results)

    def lines(self) -> tuple[str, ...]:
        """The published figures as plain text, a line a result, and what there is to know."""
        told = []
        for place, result in enumerate(self.results):
            figures = "; ".join(
                f"{row.label} {row.published[place]}" for row in self.rows if row.published[place]
            )
            told.append(f"published {result.head}: {figures}")
        return (*told, *self.notes)


def beside(ours: Ours) -> Beside:
    """Lay a result of ours beside what was published of the same case and model.

    Where there is nothing, the one note says of which models, or cases, there is.
    """
    file = load_published(ours.suite)
    if file is None:
        return _nothing(f"Nothing was published of {ours.suite}.")
    results = tuple(one for one in file.results if one.case == ours.case)
    if not results:
        cases = ", ".join(dict.fromkeys(one.case for one in file.results))
        return _nothing(f"Nothing was published of the case {ours.case}; published: {cases}.")
    models = ", ".join(dict.fromkeys(one.model for one in results))
    results = file.of(ours.case, ours.model)
    if not results:
        return _nothing(f"Nothing was published of {ours.model}; published models: {models}.")
    return Beside(
        results=results,
        rows=tuple(row for row in _rows(ours, results) if any(row.published)),
        notes=_notes(file, ours, results),
    )


def _nothing(note: str) -> Beside:
    return Beside(results=(), rows=(), notes=(note,))


def _rows(ours: Ours, results: tuple[PublishedResult, ...]) -> Iterable[BesideRow]:
    kinds = dict.fromkeys(kind for one in results for kind in one.kinds)
    sets = dict.fromkeys(name for one in results for name in one.sets)
    for kind in kinds:
        theirs = (one.kinds[kind].count if kind in one.kinds else None for one in results)
        yield _row(kind, ours.kinds.get(kind), theirs)
    for name in sets:
        yield _row(name, ours.sets.get(name), (one.sets.get(name) for one in results))
    for name in sets:
        theirs = (_before(one.sets, name) for one in results)
        yield _row(f"{name}, before 1.187", _before(ours.sets, name), theirs)
    for kind in kinds:
        spent = (_range(one.kinds[kind].run_usd) if kind in one.kinds else None for one in results)
        yield _row(f"{kind}, US$ a run", _range(ours.run_usd.get(kind)), spent)
    yield _row(COST, _cents(ours.cost_usd), (_cents(one.cost_usd) for one in results))


def _row(label: str, ours: object | None, theirs: Iterable[object | None]) -> BesideRow:
    return BesideRow(label=label, ours=_text(ours), published=tuple(map(_text, theirs)))


def _text(figure: object | None) -> str:
    return "" if figure is None else str(figure)


def _before(sets: Mapping[str, GateTally], name: str) -> Count | None:
    return sets[name].before if name in sets else None


def _range(run_usd: Range | None) -> str | None:
    if run_usd is None:
        return None
    low, high = _cents(run_usd.low), _cents(run_usd.high)
    return low if low == high else f"{low}–{high}"


def _cents(usd: Decimal | None) -> str | None:
    return None if usd is None else f"{usd:.2f}"


def _notes(file: Published, ours: Ours, results: tuple[PublishedResult, ...]) -> tuple[str, ...]:
    notes = [f"{one.date}: {one.note}" for one in results if one.note]
    notes += [f"{one.date}: its reports carry the version {one.sdk}." for one in results if one.sdk]
    notes += [
        f"{spent.date}: US${spent.usd} in all, on {' and '.join(spent.models)}."
        for spent in file.spent
        if spent.case == ours.case and any(file.same(name, ours.model) for name in spent.models)
    ]
    return tuple(sorted(set(notes)))
