"""Whether what is going on is drawn over and over, or told line by line."""

import os

from rich.console import Console


def animated(console: Console, *, quiet: bool) -> bool:
    """Whether progress moves: on a terminal that somebody looks at, which a build machine's log is
    not, whatever it says of itself."""
    watched = os.environ.get("CI", "").lower() in ("", "0", "false")
    return console.is_terminal and not console.is_dumb_terminal and watched and not quiet
