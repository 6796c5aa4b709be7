"""What the bench sets. Anything unknown in it is an error: a misspelt option changes a result."""

import json
from dataclasses import dataclass
from typing import Any

from baselines_driver.errors import BadRequest
from baselines_driver.floors import SETS

BAKED = -1.0
"""A floor of this value is the one in ``floors.toml``."""
DEFAULT = "bm25"
FLOORS_FROM = "dev3"
FLOORS = ("floor", "floor_dense")


@dataclass(frozen=True)
class Settings:
    """How pages are looked up, and from which score on an answer is given."""

    method: str = DEFAULT
    floor: float = BAKED
    """Of the method's own score; of the full-text one where there are two."""
    floor_dense: float = BAKED
    """Of the nearness, where there are two."""
    floors_from: str = FLOORS_FROM
    """The development set whose floors are used where none is set."""


def parse(text: str, methods: tuple[str, ...]) -> Settings:
    """Read ``BENCH_SETTINGS``.

    Args:
        text: a JSON object. A model and its pins may be in it, and are nothing to these systems.
        methods: the names there are.

    Raises:
        BadRequest: it is not what the bench writes.
    """
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"BENCH_SETTINGS is not JSON: {error}") from error
    if not isinstance(raw, dict) or not isinstance(raw.get("options", {}), dict):
        raise BadRequest("BENCH_SETTINGS is no JSON object with options")
    _known("setting", raw, ("model", "pins", "options"))
    options = raw.get("options", {})
    _known("option", options, ("method", *FLOORS, "floors_from"))
    method = options.get("method", DEFAULT)
    if method not in methods:
        raise BadRequest(f"there is no method {method!r}; known: {', '.join(methods)}")
    floors_from = options.get("floors_from", FLOORS_FROM)
    if floors_from not in SETS:
        raise BadRequest(f"no floors come from {floors_from!r}; known: {', '.join(SETS)}")
    floor, floor_dense = (_floor(name, options.get(name, BAKED)) for name in FLOORS)
    return Settings(method, floor, floor_dense, floors_from)


def _floor(name: str, value: Any) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not (value == BAKED or 0 <= value < 1e9):
        raise BadRequest(f"{name} takes a score from 0, or {BAKED:g}, not {value!r}")
    return float(value)


def _known(what: str, given: dict[str, Any], known: tuple[str, ...]) -> None:
    if unknown := sorted(set(given) - set(known)):
        raise BadRequest(f"BENCH_SETTINGS has a {what} that is not known: {', '.join(unknown)}")
