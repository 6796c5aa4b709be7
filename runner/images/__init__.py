"""Images: built when missing, known by digests, listed, removed."""

from runner.images.build import BENCH_LOCAL, ensure, models, names, versions
from runner.images.identity import identify, sweep
from runner.images.listing import Built, built

__all__ = [
    "BENCH_LOCAL",
    "Built",
    "built",
    "ensure",
    "identify",
    "models",
    "names",
    "sweep",
    "versions",
]
