"""What belongs to a report beside its images, found and held to the digests it has of it."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from runner.archive import _inputs, media
from runner.errors import AlteredReport, UsageError
from runner.gateway import cassette as cassettes
from runner.model import ImageIdentity
from runner.reports.schema import Report, SealedAnswers


@dataclass(frozen=True, slots=True)
class Piece:
    """One file to go into an archive.

    Attributes:
        kind: the artifact type it belongs to.
        title: what it is called there.
        source: its bytes, or where they lie.
        sha256: their digest, which they still have to have when they are packed.
        fixture: of which fixture of the report it is; empty where of none.
    """

    kind: str
    title: str
    source: bytes | Path
    sha256: str
    fixture: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A report, whole, and every file that belongs to it, itself the first."""

    report: Report
    pieces: tuple[Piece, ...]


def gather(
    path: Path,
    report: Report,
    *,
    kept: Path | None,
    cassette: Path | None,
    published: Callable[[ImageIdentity], _inputs.Files],
) -> Evidence:
    """Find all that belongs to a report.

    Args:
        path: the report's file; sealed answers lie beside it.
        report: what is in it, whole.
        kept: the folder that its runs were told to keep snapshots in.
        cassette: the recording, where it does not lie beside the report under its own name.
        published: takes the files of the published runs out of an image.

    Raises:
        UsageError: something is missing.
        AlteredReport: something of it is not what its digest says.
    """
    raw = path.read_bytes()
    pieces = [_piece(media.REPORT, path.name, raw)]
    pieces += _sealed(path, raw)
    pieces += _cassette(report, path, cassette)
    pieces += _snapshots(report, kept)
    for found in _inputs.collect(report, published):
        pieces.append(_piece(media.INPUTS, found.title, found.data, found.fixture))
    return Evidence(report, tuple(pieces))


def _piece(kind: str, title: str, data: bytes, fixture: str = "") -> Piece:
    return Piece(kind, title, data, hashlib.sha256(data).hexdigest(), fixture)


def _sealed(path: Path, raw: bytes) -> Iterator[Piece]:
    told = orjson.loads(raw).get("sealed")
    if told is None:
        return
    sealed = SealedAnswers.model_validate(told)
    # The name alone: a report must not lead to other folders.
    name = Path(sealed.name).name
    found = _piece(media.SEALED, name, (path.parent / name).read_bytes())
    if found.sha256 != sealed.sha256:
        raise AlteredReport(f"{name} does not hold the answers of {path.name}: its digest differs.")
    yield found


def _cassette(report: Report, path: Path, given: Path | None) -> Iterator[Piece]:
    used = report.cassette
    if used is None:
        if given is not None:
            raise UsageError(f"{path} was made without a cassette; {given} is not its own.")
        return
    place = given if given is not None else path.parent / Path(used.name).name
    if not place.is_file():
        raise UsageError(
            f"The cassette of {path}, {used.name}, is not at {place}.",
            hint="Say where it is with --cassette. Without it the result cannot be made again.",
        )
    if cassettes.load(place).sha256() != used.sha256:
        raise AlteredReport(
            f"{place} is not the cassette of {path}: its digest differs.",
            hint="Say with --cassette where the one is that the report names.",
        )
    yield _piece(media.CASSETTE, Path(used.name).name, place.read_bytes())


def _snapshots(report: Report, kept: Path | None) -> Iterator[Piece]:
    if kept is None:
        return
    wanted = dict.fromkeys(one.sha256 for run in report.runs for one in run.snapshots)
    missing = []
    for digest in wanted:
        place = kept / "snapshots" / f"{digest}.tar"
        if not place.is_file():
            missing.append(digest)
            continue
        if _digest_of(place) != digest:
            raise AlteredReport(f"{place} is not the snapshot that its name tells.")
        yield Piece(media.SNAPSHOT, place.name, place, digest)
    if missing:
        raise UsageError(
            f"{len(missing)} of the report's {len(wanted)} snapshots are not in"
            f" {kept / 'snapshots'}: {', '.join(digest[:12] for digest in missing[:5])}"
            f"{' ...' if missing[5:] else ''}.",
            hint="Name the folder its runs were given with --keep, or leave --kept out.",
        )


def _digest_of(place: Path) -> str:
    with place.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
