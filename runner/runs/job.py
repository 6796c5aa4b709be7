"""A run with everything it needs."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from runner.model import (
    CheckResult,
    Ending,
    GatewayRecord,
    Observation,
    RunSpec,
    Step,
    Store,
)
from runner.runs.clock import Clock
from runner.runs.export import Exporting
from runner.runs.sandbox.protocol import GatewayBox, SystemBox
from runner.suites.suite import Material


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a suite makes of a run's stores."""

    checks: tuple[CheckResult, ...]
    observations: tuple[Observation, ...]
    ending: Ending


@dataclass(frozen=True, slots=True)
class Job:
    """A run with everything it needs: no step of it looks anything up elsewhere."""

    spec: RunSpec
    steps: tuple[Step, ...]
    clock: Clock
    system: SystemBox
    gateway: GatewayBox
    gateway_record: GatewayRecord
    read: Callable[[Path], Store]
    """The system's reader."""
    export: Exporting | None
    """How the system itself is asked what its store holds; none where the reader does it."""
    judge: Callable[[Material], Judgement]
    """The suite's checks."""
