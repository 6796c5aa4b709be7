"""How a difference between two runs is told."""

from dataclasses import dataclass
from typing import Any

import orjson

_SHOWN = 160
"""Characters of a value that are shown."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing that two runs do not have in common.

    Attributes:
        path: where it is.
        was: what is there in the first, as it is shown.
        now: the same of the second.
    """

    path: str
    was: str
    now: str

    def __str__(self) -> str:
        return f"{self.path} was {self.was} and is {self.now}."


def different(path: str, one: Any, other: Any) -> Difference:
    """Two values that are not the same; of long texts, from shortly before they part."""
    if isinstance(one, str) and isinstance(other, str) and max(len(one), len(other)) > _SHOWN:
        same = next(
            (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
            min(len(one), len(other)),
        )
        start = max(0, same - _SHOWN // 4)
        one, other = (("..." if start else "") + text[start:] for text in (one, other))
    return Difference(path, shown(one), shown(other))


def shown(value: Any) -> str:
    """A value as a sentence has it."""
    text = orjson.dumps(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
