"""Running the probes inside a container."""

from runner.model import Escape, Limit
from runner.runs.sandbox._engine import Engine
from runner.runs.sandbox.protocol import SystemBox


def escapes(
    engine: Engine, container: str, box: SystemBox, *, deadline_s: float
) -> tuple[Escape, ...]:
    """Placeholder until the probes land."""
    raise NotImplementedError


def limits(
    engine: Engine, container: str, box: SystemBox, *, deadline_s: float
) -> tuple[Limit, ...]:
    """Placeholder until the probes land."""
    raise NotImplementedError
