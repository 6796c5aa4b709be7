"""A static site of reports: no server, no outside request, opens from disk.

What it shows are files that strangers may have written. Every one is checked when it is read, and
every word of it is escaped when it is shown.
"""

from runner.reports.site._build import Site, asset, build, rendered
from runner.reports.site._load import Evidence, Loaded, entries, evidence, load

__all__ = [
    "Evidence",
    "Loaded",
    "Site",
    "asset",
    "build",
    "entries",
    "evidence",
    "load",
    "rendered",
]
