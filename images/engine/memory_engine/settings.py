"""What the engine was told when it started: models, limits and the rule it reconciles by.

Settings come as one JSON object, ``{"model": ..., "pins": {purpose: model}, "options": {...}}``.
Anything unknown in it is an error: a misspelt option that is quietly ignored changes a result.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from memory_engine.errors import BadRequest

PURPOSES = ("extraction", "contradiction", "update", "verification", "reanchor")

MAX_TOKENS: Mapping[str, int] = MappingProxyType(
    {
        "extraction": 32_000,
        "contradiction": 4_096,
        "update": 4_096,
        "verification": 8_192,
        "reanchor": 16_384,
    }
)


@dataclass(frozen=True, slots=True)
class Options:
    """Everything that can be turned, each with the value it has when nobody turns it."""

    same_slot_admits: bool = True
    """Whether a settled change retires on its own; without it a contradiction is needed as well."""
    probes_per_claim: int = 40
    """Standing claims one new claim is compared with at most."""
    probes_per_deposit: int = 240
    """Pairs of claims one deposit compares at most."""
    candidates_per_winner: int = 60
    """Claims asked about in one re-anchoring call at most."""
    checks_per_restatement: int = 20
    """Standing claims one restatement is held against at most."""
    checks_per_consolidation: int = 240
    """Readings and contradiction checks one consolidation makes at most."""
    max_tokens: Mapping[str, int] = field(default_factory=lambda: MAX_TOKENS)
    """Longest reply by purpose, in tokens; what is not named keeps its own limit."""
    attempts: int = 6
    """Times a call is tried before its provider counts as failed."""
    backoff_initial_s: float = 1.0
    """First wait between tries, in seconds; it doubles, with jitter."""
    backoff_max_s: float = 60.0
    """Longest wait, in seconds. A provider that asks for more ends the call."""
    timeout_s: float = 300.0
    """How long one try may take to answer, in seconds; for a stream, between two pieces of it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The models and the options of one engine."""

    model: str
    pins: Mapping[str, str] = field(default_factory=dict)
    options: Options = field(default_factory=Options)

    def model_for(self, purpose: str) -> str:
        """The model a purpose runs on."""
        return self.pins.get(purpose, self.model)

    def as_json(self) -> dict[str, Any]:
        """The settings in force, defaults filled in."""
        options = {f.name: getattr(self.options, f.name) for f in fields(Options)}
        options["max_tokens"] = dict(self.options.max_tokens)
        return {
            "model": self.model,
            "models": {purpose: self.model_for(purpose) for purpose in PURPOSES},
            "options": options,
        }


def parse(text: str) -> Settings:
    """Settings from their JSON.

    Raises:
        BadRequest: it is no such object, or it names something the engine does not know.
    """
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the settings are not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise BadRequest("the settings are not a JSON object")
    _refuse_unknown("setting", raw, ("model", "pins", "options"))
    model = raw.get("model")
    if not isinstance(model, str) or not model.strip():
        raise BadRequest("the settings name no model")
    pins = _mapping("pins", raw.get("pins", {}))
    _refuse_unknown("purpose in pins", pins, PURPOSES)
    for purpose, pinned in pins.items():
        if not isinstance(pinned, str) or not pinned.strip():
            raise BadRequest(f"the pin of {purpose} names no model")
    return Settings(model=model, pins=pins, options=_options(raw.get("options", {})))


def _options(raw: Any) -> Options:
    given = _mapping("options", raw)
    known = {f.name: f for f in fields(Options)}
    _refuse_unknown("option", given, tuple(known))
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name == "max_tokens":
            limits = _mapping("max_tokens", value)
            _refuse_unknown("purpose in max_tokens", limits, PURPOSES)
            for purpose, limit in limits.items():
                _whole(f"max_tokens.{purpose}", limit, least=1)
            values[name] = {**MAX_TOKENS, **limits}
        elif name == "same_slot_admits":
            if not isinstance(value, bool):
                raise BadRequest(f"option {name} takes true or false, not {value!r}")
            values[name] = value
        elif name in ("backoff_initial_s", "backoff_max_s", "timeout_s"):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not 0 <= value <= 86_400:
                raise BadRequest(f"option {name} takes seconds, not {value!r}")
            values[name] = float(value)
        else:
            values[name] = _whole(f"option {name}", value, least=1 if name == "attempts" else 0)
    return Options(**values)


def _mapping(what: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadRequest(f"{what} is not a JSON object")
    return value


def _whole(what: str, value: Any, *, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= 10**9:
        raise BadRequest(f"{what} takes a whole number from {least}, not {value!r}")
    return value


def _refuse_unknown(what: str, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise BadRequest(f"unknown {what}: {', '.join(unknown)}; known: {', '.join(sorted(known))}")
