"""Where the project's own data lies: fixtures, image contexts, scripts."""

import os
from pathlib import Path


def root() -> Path:
    """The folder that holds ``fixtures`` and ``images``: ``BENCH_ROOT``, else the checkout."""
    return Path(os.environ.get("BENCH_ROOT", Path(__file__).resolve().parent.parent))


def fixtures() -> Path:
    """The data a run is made of: cases, scripted tables, prices."""
    return root() / "fixtures"


def images() -> Path:
    """One folder an image."""
    return root() / "images"
