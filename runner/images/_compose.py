"""Tells Compose which base its build stands on, in the checkout's ``.env``."""

import os
from pathlib import Path

from runner import paths
from runner.images._files import write_atomically

OURS = ("BENCH_BASE", "BENCH_ORIGIN")


def remember(values: dict[str, str]) -> None:
    """Writes our lines of ``.env`` and leaves every other line as it is; none in a container."""
    if os.environ.get("BENCH_IMAGE") or not (paths.root() / "compose.yaml").is_file():
        return
    file = paths.root() / ".env"
    old = file.read_text() if file.exists() else ""
    new = render(old, values)
    if new == old:
        return
    try:
        _put(file, new)
    except OSError:
        # A checkout that cannot be written is used as it is; Compose then takes its default.
        return


def render(old: str, values: dict[str, str]) -> str:
    """The file's new text: our variables set, or gone where there is no value."""
    kept = [line for line in old.splitlines() if line.split("=", 1)[0].strip() not in OURS]
    mine = [f"{name}={values[name]}" for name in OURS if name in values]
    return "".join(f"{line}\n" for line in kept + mine)


def _put(file: Path, text: str) -> None:
    if text:
        write_atomically(file, text.encode())
    else:
        file.unlink(missing_ok=True)
