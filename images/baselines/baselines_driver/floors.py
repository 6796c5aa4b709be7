"""The floors that are used where none is set: picked once, on a development set, and recorded."""

import tomllib
from pathlib import Path

FILE = Path(__file__).with_name("floors.toml")
SETS = ("dev", "dev3")
"""The development sets that floors were picked on."""


def baked(search: str, picked_on: str) -> float:
    """The floor of one ranking, ``bm25`` or ``dense``, as picked on one of the sets."""
    document = tomllib.loads(FILE.read_text(encoding="utf-8"))
    floor: float = document["picked"][picked_on][search]["floor"]
    return floor
