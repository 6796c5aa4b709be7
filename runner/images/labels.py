"""The labels every image of the project carries."""

from collections.abc import Mapping

NAME = "memory-bench.name"
"""Which image it is: ``base``, ``bench``, ``engine`` ..."""

SOURCE = "memory-bench.source"
"""sha256 of what it was built from."""

BASE = "memory-bench.base"
"""Where the Debian underneath came from: a registry's name and digest, or Debian packages."""

ROLE = "memory-bench.role"
"""On containers: what it is there for."""

VERSION = "memory-bench.version"
"""Of what is in it, where it can be built of several."""

MODEL = "memory-bench.model"
"""What is baked into it, where there is a choice."""

REDISTRIBUTION = "memory-bench.redistribution"
"""``no: WHY`` on what may not be handed on; absent on everything else."""

DRIFT = "memory-bench.drift"
"""How its packages differed from its locks when it was built; absent where they did not."""

_NO = "no: "


def restricted(why: str) -> str:
    """The value of that label."""
    return _NO + why


def restriction(marks: Mapping[str, str]) -> str:
    """Why an image with these labels may not be handed on; empty where it may."""
    return (marks.get(REDISTRIBUTION) or "").removeprefix(_NO)
