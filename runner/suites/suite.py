"""What every suite offers, so that runs and reports need know no suite by name."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Generic, Protocol, TypeVar

from runner.model import (
    CheckResult,
    Ending,
    Fixtures,
    Noun,
    Observation,
    RunRecord,
    Step,
    StepRecord,
    Store,
)


class Subject(Protocol):
    """What one report is about: a case of trip versus move, the pair sets of update-gate."""

    @property
    def name(self) -> str:
        """What a run's ``case`` is."""
        ...

    @property
    def variant(self) -> str | None:
        """Which of several it is under that name; none for the one that goes by the name alone."""
        ...

    @property
    def fixtures(self) -> Fixtures:
        """Whose words a system is given: ``own``, or ``upstream`` for the published bytes."""
        ...

    @property
    def names(self) -> Mapping[str, str]:
        """What placeholders stand for in scripted tables."""
        ...

    @property
    def script(self) -> str:
        """Name of the scripted table that answers for it."""
        ...

    @property
    def checks_versions(self) -> tuple[int, ...]:
        """Versions of the checks that are defined for it, oldest first."""
        ...

    @property
    def published_day(self) -> date:
        """The day of the published runs of it."""
        ...


S = TypeVar("S", bound=Subject)
V = TypeVar("V", bound=Noun)


@dataclass(frozen=True, slots=True)
class Material:
    """What a run left to be judged."""

    stores: Mapping[str, Store] = field(default_factory=dict)
    """What the store held, by the name of the step after which it was read."""
    steps: tuple[StepRecord, ...] = ()

    @classmethod
    def of(cls, run: RunRecord) -> "Material":
        """What a finished run left."""
        stores = {snapshot.step: snapshot.store for snapshot in run.snapshots}
        return cls(stores, run.steps)


class Suite(ABC, Generic[S, V]):
    """A protocol, its checks and what several runs of it come to; all of it pure."""

    name: str
    """As in ``RunSpec.suite``, and the name of its command."""
    title: str
    verbs: tuple[str, ...]
    """What a system's driver has to answer beside ``describe`` and ``stop``."""
    verbs_where_answered: tuple[str, ...] = ()
    """What is asked of a system only where its driver answers it; a verdict needs none of it."""
    published_system: str | None = "particles"
    """What the published runs measured; none where they measured several."""
    asks_a_model = True
    """Whether every system calls a model for it; where not, one without scripted answers, or
    without a measured usage, can run all the same."""

    @abstractmethod
    def kinds(self, subject: S) -> tuple[str, ...]:
        """The kinds of runs there are, in the order they are told of."""

    @abstractmethod
    def steps(self, subject: S, kind: str, index: int) -> tuple[Step, ...]:
        """What the run of that kind and number asks of a system."""

    @abstractmethod
    def check(self, subject: S, kind: str, material: Material) -> tuple[CheckResult, ...]:
        """A result for every version of the checks, oldest first."""

    @abstractmethod
    def observe(self, subject: S, kind: str, material: Material) -> tuple[Observation, ...]:
        """What is reported beside the checks and never scored."""

    @abstractmethod
    def ending(self, results: Sequence[CheckResult], version: int) -> Ending:
        """How a run that came to its end turned out, under one version of the checks."""

    @abstractmethod
    def score(
        self, subject: S, runs: Sequence[RunRecord], version: int, planned: Mapping[str, int]
    ) -> V:
        """What runs come to, of so many planned of each kind."""

    @abstractmethod
    def digests(self, subject: S) -> Mapping[str, str]:
        """Digests of everything a system is given, by name."""

    @abstractmethod
    def known(self, subject: S) -> S | None:
        """The subject of that name as this bench has it; none where it has none.

        A saved subject of the same digests has to be the same.
        """

    def closed(self, subject: S) -> S | None:
        """The subject as it may be published, where it is held out; none where nothing of it is."""
        return None

    @abstractmethod
    def first_words(self, subject: S) -> tuple[str, str]:
        """Name and text of what the first model call of a run is about."""

    @abstractmethod
    def apart(self, subject: S, clock: str, today: date) -> tuple[str, ...]:
        """What sets runs on this clock apart from the published ones, a sentence each.

        Args:
            subject: what the runs are about.
            clock: ``note``, ``now``, or the ISO day every step happens on.
            today: the day of the wall clock, for ``now``.
        """
