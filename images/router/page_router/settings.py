"""What the router was told when it started: a model to learn with, and its few options.

Settings come as one JSON object, ``{"model": ..., "pins": {purpose: model}, "options": {...}}``;
none of it is needed to index and to ask. Anything unknown in it is an error: a misspelt option
that is quietly ignored changes a result.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from page_router.errors import BadRequest
from page_router.parameters import Parameters

PURPOSES = ("learning",)
BAKED = -1.0
"""A floor of this is the one in ``parameters.py``."""


@dataclass(frozen=True, slots=True)
class Options:
    """Everything that can be turned, each with the value it has when nobody turns it."""

    floor: float = BAKED
    """Least score that is answered; -1 for the router's own."""
    proof: bool = True
    """Whether what is learned needs a sentence of the page that answers the question."""
    max_tokens: int = 2_000
    """Longest reply of the model, in tokens."""
    attempts: int = 6
    """Times a model call is tried before its provider counts as failed."""
    backoff_initial_s: float = 1.0
    """First wait between tries, in seconds; it doubles, with jitter."""
    backoff_max_s: float = 60.0
    """Longest wait, in seconds. A provider that asks for more ends the call."""
    timeout_s: float = 300.0
    """How long one try may take to answer, in seconds."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The model and the options of one router."""

    model: str | None = None
    pins: Mapping[str, str] = field(default_factory=dict)
    options: Options = field(default_factory=Options)

    def model_for(self, purpose: str) -> str:
        """The model a purpose runs on.

        Raises:
            BadRequest: none was named.
        """
        model = self.pins.get(purpose, self.model)
        if model is None:
            raise BadRequest(f"the settings name no model, and {purpose} needs one")
        return model

    @property
    def parameters(self) -> Parameters:
        """What it ranks and refuses by."""
        own = Parameters()
        return own if self.options.floor == BAKED else replace(own, floor=self.options.floor)

    def as_json(self) -> dict[str, Any]:
        """The settings in force, defaults filled in."""
        return {
            "model": self.model,
            "models": {purpose: self.pins.get(purpose, self.model) for purpose in PURPOSES},
            "options": {f.name: getattr(self.options, f.name) for f in fields(Options)},
            "parameters": self.parameters.as_json(),
        }


def parse(text: str) -> Settings:
    """Settings from their JSON; an empty text is an empty object.

    Raises:
        BadRequest: it is no such object, or it names something the router does not know.
    """
    try:
        raw = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the settings are not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise BadRequest("the settings are not a JSON object")
    _refuse_unknown("setting", raw, ("model", "pins", "options"))
    model = raw.get("model")
    if model is not None:
        _name("model", model)
    pins = _mapping("pins", raw.get("pins", {}))
    _refuse_unknown("purpose in pins", pins, PURPOSES)
    for purpose, pinned in pins.items():
        _name(f"the pin of {purpose}", pinned)
    return Settings(model, pins, _options(_mapping("options", raw.get("options", {}))))


def _options(given: dict[str, Any]) -> Options:
    _refuse_unknown("option", given, tuple(f.name for f in fields(Options)))
    for name, value in given.items():
        if name == "proof":
            good = isinstance(value, bool)
        elif name in ("attempts", "max_tokens"):
            good = _number(value) and isinstance(value, int) and 1 <= value <= 10**6
        elif name == "floor":
            good = _number(value) and (value == BAKED or 0 <= value <= 1)
        else:
            good = _number(value) and 0 <= value <= 86_400
        if not good:
            raise BadRequest(f"option {name} does not take {value!r}")
    values: dict[str, Any] = {
        name: float(value) if isinstance(getattr(Options(), name), float) else value
        for name, value in given.items()
    }
    return Options(**values)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _name(what: str, value: Any) -> None:
    if not isinstance(value, str) or not value.strip():
        raise BadRequest(f"{what} names no model")


def _mapping(what: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadRequest(f"{what} is not a JSON object")
    return value


def _refuse_unknown(what: str, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise BadRequest(f"unknown {what}: {', '.join(unknown)}; known: {', '.join(sorted(known))}")
