"""Every way to look a page up, by the name it is asked for by."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from baselines_driver import floors
from baselines_driver.asking import Method
from baselines_driver.errors import Degraded
from baselines_driver.fulltext import FullText
from baselines_driver.ranked import Agree, Ranked, Search
from baselines_driver.settings import BAKED, Settings
from baselines_driver.told import AlwaysRefuse, Oracle

Env = Mapping[str, str]


@dataclass(frozen=True)
class Kind:
    """One method: what it can do, and how it is made."""

    capabilities: tuple[str, ...]
    make: Callable[[Settings, Env], Method]


def make(settings: Settings, env: Env) -> Method:
    """The method that is set, with all it needs loaded.

    Raises:
        Degraded: something it needs is not there.
    """
    return METHODS[settings.method].make(settings, env)


def _nearness(env: Env) -> Search:
    # Not above: numpy takes longer to import than full text takes for everything.
    try:
        from baselines_driver.nearness import Nearness
    except ImportError as error:
        raise Degraded(f"the encoder cannot be loaded: {error}") from error
    return Nearness(env)


def _plain(search: Search, settings: Settings) -> Method:
    floor = None if settings.floor == BAKED else settings.floor
    return Ranked(search, floor, leave_out=False)


def _ruled(search: Search, settings: Settings, name: str) -> Method:
    return Ranked(search, _floor(settings.floor, name, settings), leave_out=True)


def _agreeing(settings: Settings, env: Env) -> Method:
    one, other = (
        _floor(given, name, settings)
        for given, name in ((settings.floor, "bm25"), (settings.floor_dense, "dense"))
    )
    return Agree(FullText(), _nearness(env), (one, other))


def _floor(given: float, search: str, settings: Settings) -> float:
    return floors.baked(search, settings.floors_from) if given == BAKED else given


METHODS: Mapping[str, Kind] = {
    "bm25": Kind(("recall", "scores"), lambda settings, env: _plain(FullText(), settings)),
    "bm25-rules": Kind(
        ("recall", "scores", "refuses"),
        lambda settings, env: _ruled(FullText(), settings, "bm25"),
    ),
    "dense": Kind(("recall", "scores"), lambda settings, env: _plain(_nearness(env), settings)),
    "dense-rules": Kind(
        ("recall", "scores", "refuses"),
        lambda settings, env: _ruled(_nearness(env), settings, "dense"),
    ),
    "agree": Kind(("recall", "scores", "refuses"), _agreeing),
    "always-refuse": Kind(("recall", "refuses"), lambda settings, env: AlwaysRefuse()),
    "oracle": Kind(("recall", "refuses", "told"), lambda settings, env: Oracle()),
}
