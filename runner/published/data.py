"""What the published figures are made of."""

from datetime import date
from decimal import Decimal

from pydantic import Field, model_validator

from runner.model import Noun
from runner.prices import same_model
from runner.profiles import Purpose, Range


class Count(Noun):
    """So many of so many."""

    hits: int = Field(ge=0)
    of: int = Field(ge=0)

    @model_validator(mode="after")
    def _within(self) -> "Count":
        if self.hits > self.of:
            raise ValueError(f"{self.hits} of {self.of}")
        return self

    def __str__(self) -> str:
        return f"{self.hits} of {self.of}"


class PublishedKind(Noun):
    """The runs of one kind of one result."""

    passed: int = Field(ge=0)
    of: int = Field(ge=1)
    run_usd: Range | None = None
    """The cheapest and the dearest run."""
    usage: dict[str, Purpose] = Field(default_factory=dict)
    """Calls and tokens of a dear run, by purpose; empty where they were not published."""

    @property
    def count(self) -> Count:
        """Runs that passed."""
        return Count(hits=self.passed, of=self.of)


class GateTally(Noun):
    """What the production rule made of one pair set."""

    updates: Count
    """Updates that it retired in two samples of three or more."""
    controls: Count
    """Control samples that it retired."""
    before: Count | None = None
    """Updates that the rule before 1.187 retired on the same samples; none where it is not told."""

    def __str__(self) -> str:
        return f"{self.updates}, {self.controls}"


class PublishedResult(Noun):
    """One published result: one case, one model, one day."""

    suite: str
    case: str
    model: str
    date: date
    """The day of the runs."""
    build: str | None = None
    """The release whose build ran; none where it is not told."""
    sdk: str | None = None
    """The version its reports carry, where that is another."""
    checks_version: int | None = None
    """None where checks have no version."""
    rescored: bool = False
    """Whether the checks were run again later, over saved runs."""
    kinds: dict[str, PublishedKind] = Field(default_factory=dict)
    """By kind of run; empty for the update gate."""
    sets: dict[str, GateTally] = Field(default_factory=dict)
    """By pair set; empty but for the update gate."""
    bar_met: bool | None = None
    """As told of the result as a whole; none where nothing is."""
    regression: bool | None = None
    """Whether the production rule adds no control to those that the rule before retires."""
    control_rows: int | None = None
    """How many different controls were retired, where it is told."""
    cost_usd: Decimal | None = None
    """Of the whole protocol."""
    observed: dict[str, Count] = Field(default_factory=dict)
    """Runs in which something was seen that no check reads, by the observation's id."""
    reports: tuple[str, ...]
    """Names of the reports that were published with it."""
    note: str = ""
    source: str

    @property
    def head(self) -> str:
        """What tells it from the others: the day, the build, the version of the checks."""
        parts = [self.date.isoformat()]
        if self.build is not None:
            parts.append(self.build)
        if self.checks_version is not None:
            parts.append(f"v{self.checks_version}{' re-scored' if self.rescored else ''}")
        return ", ".join(parts)


class PublishedEstimate(Noun):
    """What a protocol was said to cost beforehand."""

    case: str
    models: tuple[str, ...] = Field(min_length=1)
    usd: Decimal


class Spent(Noun):
    """What the runs of several models cost together, on a day of which no more is told."""

    date: date
    case: str
    models: tuple[str, ...] = Field(min_length=1)
    usd: Decimal


class PublishedBar(Noun):
    """What the bar asks for."""

    fixed: date
    """The day it was, before any run that it scores."""
    runs: dict[str, int] = Field(default_factory=dict)
    """Passing runs, by kind."""
    samples: int | None = None
    """Of each pair."""


class PublishedSet(Noun):
    """One published pair set."""

    name: str
    """What this project calls its own set of the same kind."""
    file: str
    pairs: int
    held_out: bool


class PublishedRow(Noun):
    """A pair that is reported and never barred."""

    set: str
    older: str
    models: tuple[str, ...] = Field(min_length=1)
    retired: Count
    """Samples that retire it under the production rule."""


class Published(Noun):
    """Everything that was published of one suite."""

    suite: str
    system: str
    source: str
    read: date
    bar: PublishedBar
    sets: tuple[PublishedSet, ...] = ()
    estimates: tuple[PublishedEstimate, ...] = ()
    spent: tuple[Spent, ...] = ()
    reported: tuple[PublishedRow, ...] = ()
    results: tuple[PublishedResult, ...]
    """The oldest first."""
    aliases: dict[str, str] = Field(default_factory=dict)
    """Other names of models, each with the name it is priced under."""

    def same(self, listed: str, model: str) -> bool:
        """Whether ``model`` is the listed one: by its name, an alias, with a date, or behind the
        name of its provider."""
        return same_model(listed, model.rpartition(":")[2], self.aliases)

    def of(self, case: str, model: str) -> tuple[PublishedResult, ...]:
        """The results of one case on one model."""
        return tuple(
            one for one in self.results if one.case == case and self.same(one.model, model)
        )

    @property
    def models(self) -> tuple[str, ...]:
        """Every model of which there is a result, in the order they are told of."""
        return tuple(dict.fromkeys(result.model for result in self.results))

    def estimate(self, case: str, model: str) -> PublishedEstimate | None:
        """What the protocol was said to cost on a model; none where nothing was said."""
        for one in self.estimates:
            if one.case == case and any(self.same(name, model) for name in one.models):
                return one
        return None
