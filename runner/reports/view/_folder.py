"""What lies in a folder of reports, and whether it has changed."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

Listing = Mapping[str, tuple[int, int, int]]
"""Of each file its size, its time in nanoseconds and its number: a report that is written anew has
another number."""


def reports(folder: Path) -> list[Path]:
    """Files that may be reports, in the order of their names."""
    return sorted(
        path
        for path in folder.glob("*.json")
        if not path.name.startswith(".") and path.name != "site.json"
    )


def scan(folder: Path) -> Listing:
    """All that lies in it: reports, sealed answers, and cassettes by whatever name a report has for
    them. Empty where there is no folder; a file that goes away meanwhile is left out.
    """
    found: dict[str, tuple[int, int, int]] = {}
    for path in folder.glob("*"):
        if path.name.startswith("."):
            continue  # being written: its place is taken at once
        try:
            told = path.stat()
        except OSError:
            continue
        found[path.name] = (told.st_size, told.st_mtime_ns, told.st_ino)
    return found


def version(listing: Listing) -> str:
    """A digest of a listing: another one when anything in it changed."""
    lines = (f"{name}\0{told}\n" for name, told in sorted(listing.items()))
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()[:16]
