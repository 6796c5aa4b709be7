"""The labels every image of the project carries."""

NAME = "memory-bench.name"
"""Which image it is: ``base``, ``bench``, ``engine`` ..."""

SOURCE = "memory-bench.source"
"""sha256 of what it was built from."""

BASE = "memory-bench.base"
"""Where the Debian underneath came from: a registry's name and digest, or Debian packages."""

ROLE = "memory-bench.role"
"""On containers: what it is there for."""
