"""What the bench sets. Anything unknown in it is an error: a misspelt option changes a result."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mem0_driver.errors import BadRequest

PURPOSE = "extraction"
"""The one thing this version of mem0 asks its model for."""
EMBEDDER = "sentence-transformers/all-MiniLM-L6-v2"
DIMENSIONS = 384
COLLECTION = "mem0"


@dataclass(frozen=True, slots=True)
class Options:
    """Everything that can be turned, each with the value mem0 itself gives it."""

    infer: bool = True
    """Whether a model says what there is to remember; without it a text is one memory."""
    threshold: float = 0.1
    """Least nearness of a memory to a question; what is below is not found."""
    limit: int = 20
    """Memories one search brings back."""
    max_tokens: int = 2000
    """Longest reply of the model, in tokens."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The model and the options of one memory."""

    model: str
    options: Options = field(default_factory=Options)

    def config(self, folder: Path) -> dict[str, Any]:
        """mem0's own configuration, with everything it keeps under ``folder``.

        A user of Claude names the ``anthropic`` provider. It takes address and key of the door
        from the environment, as the provider's own client does.
        """
        return {
            "vector_store": {
                "provider": "qdrant",
                "config": {
                    "collection_name": COLLECTION,
                    "embedding_model_dims": DIMENSIONS,
                    "path": str(folder / "qdrant"),
                },
            },
            "embedder": {
                "provider": "fastembed",
                "config": {"model": EMBEDDER, "embedding_dims": DIMENSIONS},
            },
            "llm": {
                "provider": "anthropic",
                "config": {"model": self.model, "max_tokens": self.options.max_tokens},
            },
            "history_db_path": str(folder / "history.db"),
        }

    def as_json(self) -> dict[str, Any]:
        """The settings in force, defaults filled in."""
        return {"model": self.model, "options": asdict(self.options)}


def parse(text: str) -> Settings:
    """Read ``BENCH_SETTINGS``.

    Raises:
        BadRequest: it is not what the bench writes.
    """
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"BENCH_SETTINGS is not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise BadRequest("BENCH_SETTINGS is no JSON object")
    _known("setting", raw, ("model", "pins", "options"))
    pins, options = raw.get("pins", {}), raw.get("options", {})
    if not isinstance(pins, dict) or not isinstance(options, dict):
        raise BadRequest("pins and options are JSON objects")
    _known("pin", pins, (PURPOSE,))
    model = pins.get(PURPOSE, raw.get("model"))
    if not isinstance(model, str) or not model.strip():
        raise BadRequest("BENCH_SETTINGS names no model")
    return Settings(model, _options(options))


def _options(given: Mapping[str, Any]) -> Options:
    _known("option", given, tuple(asdict(Options())))
    for name, value in given.items():
        number = (
            isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        )
        match name:
            case "infer":
                good = isinstance(value, bool)
            case "threshold":
                good = number and 0 <= value <= 1
            case "limit":
                good = number and isinstance(value, int) and 1 <= value <= 100
            case _:
                good = number and isinstance(value, int) and 1 <= value <= 10**6
        if not good:
            raise BadRequest(f"option {name} does not take {value!r}")
    return Options(**given)


def _known(what: str, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    if unknown := sorted(set(given) - set(known)):
        raise BadRequest(f"BENCH_SETTINGS has a {what} that is not known: {', '.join(unknown)}")
