"""Images: built when missing, known by digests, listed, removed."""

from runner.images._source import source
from runner.images.build import BENCH_LOCAL, check, ensure, models, names, versions
from runner.images.identity import identify, sweep
from runner.images.listing import Built, built
from runner.images.prune import Pruned, prune
from runner.images.survey import Listed, State, survey

__all__ = [
    "BENCH_LOCAL",
    "Built",
    "Listed",
    "Pruned",
    "State",
    "built",
    "check",
    "ensure",
    "identify",
    "models",
    "names",
    "prune",
    "source",
    "survey",
    "sweep",
    "versions",
]
