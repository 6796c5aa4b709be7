"""What the bench sets. Anything unknown in it is an error: a misspelt option changes a result."""

import json
from dataclasses import dataclass
from typing import Any

from basic_memory_driver.errors import BadRequest

SEARCHES = ("default", "hybrid", "vector", "text", "title")
"""Ways to search; ``default`` leaves the choice to the tool."""
WITHOUT_VECTORS = ("text", "title")


@dataclass(frozen=True)
class Settings:
    """How pages are searched, and from which nearness on one is found."""

    search: str = "default"
    min_similarity: float = 0.0
    """Least nearness of a vector that counts; the tool's own is 0.55, made for its own embedder."""

    @property
    def vectors(self) -> bool:
        """Whether its search needs any."""
        return self.search not in WITHOUT_VECTORS


def parse(text: str) -> Settings:
    """Read ``BENCH_SETTINGS``.

    Args:
        text: a JSON object. A model and its pins may be in it; basic-memory calls none.

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
    _known("option", options, ("search", "min_similarity"))
    search = options.get("search", Settings.search)
    if search not in SEARCHES:
        raise BadRequest(f"there is no search {search!r}; known: {', '.join(SEARCHES)}")
    least = options.get("min_similarity", Settings.min_similarity)
    if not isinstance(least, int | float) or isinstance(least, bool) or not 0 <= least <= 1:
        raise BadRequest(f"min_similarity takes a number from 0 to 1, not {least!r}")
    return Settings(search, float(least))


def _known(what: str, given: dict[str, Any], known: tuple[str, ...]) -> None:
    if unknown := sorted(set(given) - set(known)):
        raise BadRequest(f"BENCH_SETTINGS has a {what} that is not known: {', '.join(unknown)}")
