"""Images: built when missing, known by digests, listed, removed."""

from runner.images.build import BENCH_LOCAL, ensure, names
from runner.images.identity import identify

__all__ = ["BENCH_LOCAL", "ensure", "identify", "names"]
