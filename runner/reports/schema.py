"""The report: one JSON a suite, system and model, written run by run."""

from datetime import datetime
from decimal import Decimal
from typing import Literal

from pydantic import Field, JsonValue, model_validator

from runner.model import ImageIdentity, Machine, Noun, RunRecord
from runner.suites.registry import AnySubject, AnyVerdict, suite_of

REPORT_VERSION = 1


class Fixture(Noun):
    """One file a run was fed."""

    name: str
    sha256: str


class Planned(Noun):
    """One run the protocol asks for."""

    id: str
    kind: str
    index: int


class Clock(Noun):
    """The days the runs happened on."""

    mode: str
    """``note``, ``now``, or an ISO day."""
    days: dict[str, str] = Field(default_factory=dict)
    """The day each step was set to, by step name; empty with the wall clock."""


class Comparable(Noun):
    """Whether the result may be laid beside the published runs, and why not."""

    to: str
    """The published runs meant, such as ``2026-10-14``."""
    holds: bool
    why: tuple[str, ...] = ()
    """What differs, a sentence each."""


class SystemIdentity(Noun):
    """What was measured."""

    name: str
    version: str
    licence: str
    reader: Literal["bench", "system"] = "bench"
    """Who read its store: this bench; or its own driver, by ``export``, on whose word a verdict
    about what the store holds then rests."""


class Spend(Noun):
    """What the model calls cost, at the prices the report names."""

    simulated: bool
    """Whether the money is play money (scripted and replayed answers)."""
    estimate_usd: Decimal | None = None
    estimate_source: str | None = None
    cost_usd: Decimal = Decimal(0)
    estimate_bound_usd: Decimal | None = None
    """At most, where the system was never measured on this case and model."""
    max_usd_per_run: Decimal | None = None
    max_usd_total: Decimal | None = None
    """For all runs of the command, of which this report may be one of several."""
    ceiling: Literal["reserved", "measured"] = "reserved"


class SealedAnswers(Noun):
    """Where the answers to a held-out set lie."""

    name: str
    """Of the file beside the report."""
    sha256: str
    """Of that file."""


class CassetteUsed(Noun):
    """The recording a report's runs were made from, or made."""

    name: str
    """Of its file."""
    sha256: str
    recorded_from: datetime
    recorded_to: datetime


class Report(Noun):
    """Everything about one protocol on one system and model."""

    report_version: Literal[1] = 1
    bench_version: str
    suite: Literal["trip-vs-move", "update-gate", "memory-honesty", "honesty-learning"]
    case: AnySubject
    """What the runs are about, whole: a case with its notes, or the pairs that were asked, so that
    every check can be computed again from this file alone."""
    system: SystemIdentity
    arm: str
    model: str
    purposes: dict[str, str]
    """The model of every purpose the system names."""
    mixed: bool
    """Whether purposes run on more than one model; a mixture has no bar."""
    options: dict[str, JsonValue]
    """Settings handed to the system."""
    checks_version: int
    """The version the verdict goes by; every run carries the others too."""
    clock: Clock
    comparable: Comparable
    fixtures: tuple[Fixture, ...]
    """Digests of all that a system was given, and of scripted tables."""
    cassette: CassetteUsed | None = None
    """What was replayed, or recorded so far; none for the other arms."""
    images: tuple[ImageIdentity, ...]
    machine: Machine | None = None
    started_at: datetime
    finished_at: datetime | None = None
    planned: tuple[Planned, ...]
    runs: tuple[RunRecord, ...] = ()
    verdict: AnyVerdict | None = None
    """Over the runs there are; none before the first."""
    spend: Spend
    sealed: SealedAnswers | None = None
    """For a held-out set: steps and calls of the runs lie in a file beside this one."""
    notes: tuple[str, ...] = ()
    integrity: dict[str, str] = Field(default_factory=dict)
    """Digest of every part (see ``runner.reports.integrity``)."""

    @model_validator(mode="after")
    def _of_one_suite(self) -> "Report":
        if suite_of(self.case).name != self.suite:
            raise ValueError(f"case: not one of {self.suite}")
        return self

    @property
    def missing(self) -> tuple[Planned, ...]:
        """Planned runs without a record."""
        done = {run.spec.id for run in self.runs}
        return tuple(planned for planned in self.planned if planned.id not in done)
