"""The lists of ``everyday.toml``, each as it is looked up."""

import re
import tomllib
from functools import cache
from pathlib import Path


@cache
def words(name: str) -> frozenset[str]:
    """The words of one list."""
    text = Path(__file__).with_name("everyday.toml").read_text(encoding="utf-8")
    return frozenset(tomllib.loads(text)[name].split())


@cache
def asking() -> re.Pattern[str]:
    """What a run of Chinese characters is cut at: the longest words first."""
    longest = sorted(words("asking"), key=lambda word: (-len(word), word))
    return re.compile("|".join(map(re.escape, longest)))
