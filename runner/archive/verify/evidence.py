"""A report and the files that belong to it, wherever they lie: in an archive, or beside it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from runner.archive import media
from runner.archive.contents import Attached, Contents
from runner.archive.verify.sheet import NotCheckable
from runner.gateway.cassette import MAX_BYTES as CASSETTE_BYTES
from runner.oci.packed import Packed
from runner.reports.sealing import MAX_BYTES as SEALED_BYTES
from runner.runs.run import SNAPSHOT_BYTES
from runner.runs.sandbox.snapshot import transport_limit

REPORT_BYTES = 1 << 30
INPUT_BYTES = 64 << 20
SNAPSHOT_FILES = 4096
"""As many as a run takes out of its sandbox."""

Get = Callable[[], bytes]
"""Reads a file, and holds it to its digest."""


@dataclass(frozen=True, slots=True)
class File:
    """One file that belongs to a report.

    Attributes:
        title: what it is called.
        get: reads it.
        fixture: the fixture of the report that it is, or is a part of.
    """

    title: str
    get: Get
    fixture: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A report's file, and all that is there of what belongs to it.

    Attributes:
        report: its file.
        packed: whether it lies in an archive.
        sealed: finds the sealed answers, by the name that the report has for them.
        cassette: the same of the recording.
        snapshots: each called by its digest.
        inputs: what the system was given, and scripted tables.
    """

    report: File
    packed: bool
    sealed: Callable[[str], bytes]
    cassette: Callable[[str], bytes]
    snapshots: tuple[File, ...] = ()
    inputs: tuple[File, ...] = ()


def of_file(path: Path, raw: bytes) -> Evidence:
    """A report by itself, and what lies beside it under the names it has for it."""

    def beside(name: str, what: str) -> bytes:
        # The name alone: a report must not lead to other folders.
        place = path.parent / Path(name).name
        try:
            return place.read_bytes()
        except (OSError, ValueError) as error:
            raise NotCheckable(f"{what}, {place.name}, is not beside the report.") from error

    return Evidence(
        report=File(path.name, lambda: raw),
        packed=False,
        sealed=lambda name: beside(name, "The file of sealed answers"),
        cassette=lambda name: beside(name, "The cassette"),
    )


def of_archive(archive: Packed, found: Contents) -> Evidence | None:
    """What an archive has of a report; none where it has no report."""
    report = found.one(media.REPORT)
    if report is None:
        return None

    def one(kind: str, most: int, what: str) -> bytes:
        file = found.one(kind)
        if file is None:
            raise NotCheckable(f"{what} is not in the archive.")
        return archive.get(file.blob, most)

    most_snapshot = transport_limit(SNAPSHOT_BYTES, SNAPSHOT_FILES)
    return Evidence(
        report=_file(archive, report, REPORT_BYTES),
        packed=True,
        sealed=lambda _: one(media.SEALED, SEALED_BYTES, "The file of sealed answers"),
        cassette=lambda _: one(media.CASSETTE, CASSETTE_BYTES, "The cassette"),
        snapshots=tuple(_file(archive, file, most_snapshot) for file in found.of(media.SNAPSHOT)),
        inputs=tuple(_file(archive, file, INPUT_BYTES) for file in found.of(media.INPUTS)),
    )


def _file(archive: Packed, attached: Attached, most: int) -> File:
    return File(
        title=attached.title,
        get=lambda: archive.get(attached.blob, most),
        fixture=attached.blob.note(media.FIXTURE) or "",
    )
