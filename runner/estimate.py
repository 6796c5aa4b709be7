"""What a protocol will cost, before anything is asked: measured usage at list prices.

The usage is that of runs on this machine where they were saved, else that of the published runs.
An estimate is as good as the likeness of the run to them; it says what it was made from. For the
published protocols it comes to the page's figures, which are these to the nearest five cents.

Where the system was never measured on the case and model there is an upper bound as well: twice
the most that any measured system took on any model, with nothing read from a cache.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from runner import profiles
from runner.errors import UsageError
from runner.model import Usage
from runner.prices import ModelPrice, PriceList, load_prices
from runner.profiles import Measured, Profile

MARGIN = 2
"""How much more than any measured system one that was never measured is taken to need."""


class NeverMeasured(UsageError):
    """There is nothing that an estimate could be made from."""


@dataclass(frozen=True, slots=True)
class KindEstimate:
    """One kind of run of a protocol."""

    kind: str
    runs: int
    calls: int
    """Model calls of one run."""
    usage: Usage
    """Tokens of one run."""
    low_usd: Decimal
    """One run, when it goes as cheaply as the cheapest published one."""
    expected_usd: Decimal
    """One run, at the usage measured."""
    bound_usd: Decimal | None = None
    """One run at most, where it was never measured itself; none where it was."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a whole protocol will cost, in US dollars."""

    case: str
    model: str
    pins: Mapping[str, str]
    kinds: tuple[KindEstimate, ...]
    source: str
    """Where usage and prices come from."""
    notes: tuple[str, ...]
    """What makes it less than a measurement, a sentence each."""
    bound_note: str = (
        "This system was never measured on this case and model: it is twice the most that any"
        " other took, uncached."
    )
    """What an upper bound was worked out from."""

    @property
    def low_usd(self) -> Decimal:
        """All runs, as cheaply as published ones went."""
        return sum((kind.runs * kind.low_usd for kind in self.kinds), Decimal(0))

    @property
    def expected_usd(self) -> Decimal:
        """All runs, at the usage measured."""
        return sum((kind.runs * kind.expected_usd for kind in self.kinds), Decimal(0))

    @property
    def bound_usd(self) -> Decimal | None:
        """All runs at most; none where their usage was measured."""
        if all(kind.bound_usd is None for kind in self.kinds):
            return None
        each = ((kind.runs, kind.bound_usd or kind.expected_usd) for kind in self.kinds)
        return sum((runs * usd for runs, usd in each), Decimal(0))

    @property
    def calls(self) -> int:
        """Model calls of all runs."""
        return sum(kind.runs * kind.calls for kind in self.kinds)

    @property
    def usage(self) -> Usage:
        """Tokens of all runs."""
        rows = (kind.usage for kind in self.kinds for _ in range(kind.runs))
        return sum(rows, Usage())


def estimate(
    case: str,
    model: str,
    runs: Mapping[str, int],
    *,
    system: str,
    pins: Mapping[str, str] | None = None,
    given: Mapping[str, ModelPrice] | None = None,
    prices: PriceList | None = None,
    usage_file: Path | None = None,
    own_file: Path | None = None,
) -> Estimate:
    """Estimate a protocol.

    Args:
        case: such as ``reader``.
        model: every purpose's, but for ``pins``.
        runs: how many of each kind, such as ``{"move": 3, "trip-alone": 2}``.
        system: what it will run on; usage measured on another one is used, and said so.
        pins: purposes on another model.
        given: the user's own prices, by model, before those of the list.
        prices: the list; the bench's own when none.
        usage_file: measured usage; the published runs' when none.
        own_file: profiles of this machine's runs, which go first where they cover the protocol.

    Raises:
        UnpricedModel: when a model has no price.
        NeverMeasured: when no usage was ever measured for the case and kind.
    """
    pins = pins or {}
    listed = (prices or load_prices()).priced_at(given or {})
    for asked in (model, *pins.values()):
        listed.resolve(asked)
    measured = profiles.shipped(usage_file)
    own = profiles.own(own_file, system) if own_file is not None else None
    name = listed.name_of(model)
    wanted = {(case, name, kind) for kind, count in runs.items() if count}
    if own is not None and wanted <= {row.key for row in own.profile}:
        measured = own
    job = _Job(case, model, pins, listed, measured, system)
    kinds = tuple(job.kind(kind, count) for kind, count in runs.items() if count)
    return Estimate(
        case=case,
        model=model,
        pins=dict(pins),
        kinds=kinds,
        source=(
            f"usage: {measured.source}, read {measured.read};"
            f" prices: {listed.source}, read {listed.read}"
        ),
        notes=tuple(_notes(job, system, kinds)),
    )


@dataclass(frozen=True, slots=True)
class _Job:
    case: str
    model: str
    pins: Mapping[str, str]
    prices: PriceList
    measured: Measured
    system: str

    def kind(self, kind: str, runs: int) -> KindEstimate:
        own = self.profile(self.model, kind)
        calls, usage, cost = 0, Usage(), Decimal(0)
        for purpose in own.purposes:
            model = self.model_of(purpose, kind)
            row = self.profile(model, kind).purposes.get(purpose, own.purposes[purpose])
            calls += row.calls
            usage += row.tokens()
            cost += self.prices.resolve(model).cost(row.tokens())
        return KindEstimate(
            kind=kind,
            runs=runs,
            calls=calls,
            usage=usage,
            low_usd=round(cost * own.run_usd.low / own.run_usd.high, 6) if cost else cost,
            expected_usd=cost,
            bound_usd=None if self.measured_itself(kind) else self.bound(kind),
        )

    def measured_itself(self, kind: str) -> bool:
        """Whether this very system was measured, on every model of the protocol."""
        rows = {row.key for row in self.measured.profile}
        names = {self.prices.name_of(model) for model in (self.model, *self.pins.values())}
        return self.system == self.measured.system and all(
            (self.case, name, kind) in rows for name in names
        )

    def bound(self, kind: str) -> Decimal:
        """US dollars of one run at most."""
        rows = [row for row in self.measured.profile if (row.case, row.kind) == (self.case, kind)]
        prices = [self.prices.resolve(model) for model in (self.model, *self.pins.values())]
        most = max(
            sum((price.cost(_uncached(one.tokens())) for one in row.purposes.values()), Decimal(0))
            for row in rows
            for price in prices
        )
        return MARGIN * most

    def model_of(self, purpose: str, kind: str) -> str:
        """The model of a measured purpose. Where several purposes of the system share its work
        and are on different models, the dearest of them."""
        if purpose in self.pins:
            return self.pins[purpose]
        sharing = [name for name, work in self.measured.same_work.items() if work == purpose]
        models = {self.pins.get(name, self.model) for name in sharing} or {self.model}
        tokens = self.profile(self.model, kind).purposes[purpose].tokens()
        return max(sorted(models), key=lambda name: self.prices.resolve(name).cost(tokens))

    def profile(self, model: str, kind: str) -> Profile:
        """What was measured on ``model``, or on the model most like it by name."""
        rows = [row for row in self.measured.profile if (row.case, row.kind) == (self.case, kind)]
        if not rows:
            raise NeverMeasured(
                f"No usage was ever measured for {self.case} {kind}, so nothing can be estimated."
            )
        return max(rows, key=lambda row: self._likeness(row, model))

    def _likeness(self, row: Profile, model: str) -> tuple[int, Decimal, str]:
        name = self.prices.name_of(model) or model
        shared = len(set(row.model.split("-")) & set(name.split("-")))
        price = self.prices.resolve(model)
        cost = sum((price.cost(purpose.tokens()) for purpose in row.purposes.values()), Decimal(0))
        return (1000 if row.model == name else shared, cost, row.model)


def _uncached(tokens: Usage) -> Usage:
    """The same tokens, with all that was read from a cache written to it instead."""
    return tokens.model_copy(
        update={"cache_write_5m": tokens.cache_write_5m + tokens.cache_read, "cache_read": 0}
    )


def _notes(job: _Job, system: str, kinds: Sequence[KindEstimate]) -> list[str]:
    measured = job.measured
    told = (job.profile(job.model, kind.kind).note for kind in kinds)
    notes = list(dict.fromkeys(note for note in told if note))
    if system != measured.system:
        notes.append(f"Usage was measured on {measured.system}, not on {system}.")
    known = {row.model for row in measured.profile}
    for model in dict.fromkeys((job.model, *job.pins.values())):
        if job.prices.name_of(model) not in known:
            like = sorted({job.profile(model, kind.kind).model for kind in kinds})
            notes.append(
                f"{model} was not measured: tokens of {' and '.join(like)} at its own price."
            )
    purposes = {name for row in measured.profile for name in row.purposes}
    notes += [
        f"No usage was measured for the purpose {purpose}; its pin is not in the figures."
        for purpose in job.pins
        if measured.same_work.get(purpose, purpose) not in purposes
    ]
    return notes
