"""Where the project's own data lies: fixtures, image contexts, scripts."""

import os
from pathlib import Path

SYSTEM_DIR = "BENCH_SYSTEM_DIR"
"""The variable that names the folder of a system that is not the project's."""


def root() -> Path:
    """The folder that holds ``fixtures`` and ``images``: ``BENCH_ROOT``, else the checkout."""
    return Path(os.environ.get("BENCH_ROOT", Path(__file__).resolve().parent.parent))


def fixtures() -> Path:
    """The data a run is made of: cases, scripted tables, prices."""
    return root() / "fixtures"


def images() -> Path:
    """One folder an image."""
    return root() / "images"


def system_dir() -> Path | None:
    """The folder of a system that is not the project's own: ``BENCH_SYSTEM_DIR``, which
    ``--system-dir`` sets; none where there is none."""
    chosen = os.environ.get(SYSTEM_DIR)
    return Path(chosen) if chosen else None


def state_dir() -> Path:
    """What the project remembers between runs on this machine: ``BENCH_STATE``, else its folder
    under ``XDG_STATE_HOME``. May not exist yet.
    """
    if chosen := os.environ.get("BENCH_STATE"):
        return Path(chosen)
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "memory-bench"
