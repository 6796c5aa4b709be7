"""What the bench sets. Anything unknown in it is an error: a misspelt option changes a result."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from claude_mem_driver.errors import BadRequest

OBSERVER = ("observation", "briefing", "summary", "condensing")
"""What the observer asks a model for: one conversation, so one model."""
SESSION = ("session", "title")
"""What the watched session asks one for."""
ENDPOINTS = "endpoints"
WHOLE = "session"
MODES = (ENDPOINTS, WHOLE)


@dataclass(frozen=True, slots=True)
class Options:
    """Everything that can be turned."""

    mode: str = ENDPOINTS
    """How pages go in: ``endpoints``, one by one as the plugin's hooks hand them over, or
    ``session``: Claude Code itself reads them, with the plugin watching."""
    session_pages: int = 30
    """Pages a session reads before the next one begins."""
    page_deadline_s: float = 300.0
    """How long one page's observation may take, in seconds."""
    retries: int = 10
    """Times Claude Code tries a failed model call again; ten is its own."""
    limit: int = 20
    """Observations one search brings back; twenty is claude-mem's own."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The models and the options of one memory."""

    observer: str
    session: str
    options: Options = field(default_factory=Options)

    def as_json(self) -> dict[str, Any]:
        """The settings in force, defaults filled in."""
        return {
            "models": {"observer": self.observer, "session": self.session},
            "options": asdict(self.options),
        }


def parse(text: str) -> Settings:
    """Settings from their JSON.

    Raises:
        BadRequest: it is no such object, or it names something that is not known.
    """
    try:
        raw = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the settings are not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise BadRequest("the settings are not a JSON object")
    _refuse_unknown("setting", raw, ("model", "pins", "options"))
    model = raw.get("model")
    if not isinstance(model, str) or not model.strip():
        raise BadRequest("the settings name no model")
    pins = _mapping("pins", raw.get("pins", {}))
    _refuse_unknown("purpose in pins", pins, (*OBSERVER, *SESSION))
    return Settings(
        observer=_one(OBSERVER, model, pins),
        session=_one(SESSION, model, pins),
        options=_options(_mapping("options", raw.get("options", {}))),
    )


def _one(purposes: tuple[str, ...], model: str, pins: Mapping[str, Any]) -> str:
    """The one model of what cannot be asked of several."""
    models = {pins.get(purpose, model) for purpose in purposes}
    if len(models) != 1:
        raise BadRequest(f"{', '.join(purposes)} go to one model, not to {len(models)}")
    (found,) = models
    if not isinstance(found, str) or not found.strip():
        raise BadRequest(f"the pin of {purposes[0]} names no model")
    return found


def _options(given: dict[str, Any]) -> Options:
    own = asdict(Options())
    _refuse_unknown("option", given, tuple(own))
    for name, value in given.items():
        match name:
            case "mode":
                good = value in MODES
            case "limit" | "session_pages" | "retries":
                least = 0 if name == "retries" else 1
                good = type(value) is int and least <= value <= 1000
            case _:
                good = _number(value) and 0 < value <= 86_400
        if not good:
            raise BadRequest(f"option {name} does not take {value!r}")
    return Options(**(own | given))


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _mapping(what: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadRequest(f"{what} is not a JSON object")
    return value


def _refuse_unknown(what: str, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise BadRequest(f"unknown {what}: {', '.join(unknown)}; known: {', '.join(sorted(known))}")
