"""The file libfaketime reads: how far the system's day is from the true one."""

import math
import os
from pathlib import Path


def set_offset(path: Path, offset_s: float | None) -> None:
    """Write the offset in seconds, or remove the file so that time is real.

    It is relative, never a start date: with a date every new process would begin the day again.
    The file is replaced whole, as a process may look at it at any moment.

    Raises:
        ValueError: when it is no number of seconds.
        OSError: when the file cannot be written.
    """
    if offset_s is None:
        path.unlink(missing_ok=True)
        return
    if not math.isfinite(offset_s):
        raise ValueError(f"{offset_s} is no number of seconds")
    fresh = path.with_name(f".{path.name}.new")
    # Without a sign it would be read as a date.
    fresh.write_text(f"{offset_s:+.6f}\n", "ascii")
    fresh.chmod(0o644)
    os.replace(fresh, path)  # noqa: PTH105 - says what it does
