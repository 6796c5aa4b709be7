"""The floors that are used where none is set: picked once, on a development set, and recorded."""

import tomllib
from pathlib import Path

FILE = Path(__file__).with_name("floors.toml")
SET = "dev3"
"""The development set whose floors are used."""


def baked(search: str) -> float:
    """The floor of one ranking, ``bm25`` or ``dense``."""
    document = tomllib.loads(FILE.read_text(encoding="utf-8"))
    floor: float = document["picked"][SET][search]["floor"]
    return floor
