"""Images: built when missing, known by digests, listed, removed."""

from runner.images._builder import Builder
from runner.images._folder import place
from runner.images._mirrors import stamp
from runner.images._source import source
from runner.images.build import BENCH_LOCAL, check, ensure, models, names, versions
from runner.images.exact import Exact, choose, see_named, take
from runner.images.identity import identify, sweep
from runner.images.listing import Built, built
from runner.images.prune import Pruned, prune
from runner.images.survey import Listed, State, survey

__all__ = [
    "BENCH_LOCAL",
    "Builder",
    "Built",
    "Exact",
    "Listed",
    "Pruned",
    "State",
    "built",
    "check",
    "choose",
    "ensure",
    "identify",
    "models",
    "names",
    "place",
    "prune",
    "see_named",
    "source",
    "stamp",
    "survey",
    "sweep",
    "take",
    "versions",
]
