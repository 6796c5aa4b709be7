"""The labels every image of the project carries."""

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

NOT_TO_BE_HANDED_ON = "no: "
"""How that label begins."""
