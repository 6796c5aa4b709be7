"""What a report's fixtures are, byte for byte: found again by their digests, or not at all."""

import contextlib
import gzip
import hashlib
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from runner import paths
from runner.errors import BenchError, UsageError
from runner.faults import load_fault
from runner.model import ImageIdentity
from runner.reports.schema import Report
from runner.runs.clock import Clock
from runner.runs.pair_tables import UPSTREAM_FILES
from runner.runs.plan import tables
from runner.runs.protocol import Protocol
from runner.suites.memory_honesty import load_vault
from runner.suites.memory_honesty.vault import listing
from runner.suites.trip_vs_move import Case
from runner.systems import catalog, outside

Files = Mapping[str, bytes]
_VAULT = re.compile(r"honesty/(?P<name>[\w-]+)(?: \((?P<marker>[\w-]+)\))?")
_SCRIPTED = "scripted/"
_SYSTEMS = "systems/"


@dataclass(frozen=True, slots=True)
class Input:
    """One file.

    Attributes:
        title: what it is called.
        data: its bytes.
        fixture: the fixture it is, or is a part of.
    """

    title: str
    data: bytes
    fixture: str


def collect(report: Report, published: Callable[[ImageIdentity], Files]) -> tuple[Input, ...]:
    """Every fixture of a report. Of a vault, the listing that was digested, and every page.

    Args:
        report: whole.
        published: takes the files of the published runs out of an image.

    Raises:
        UsageError: names those that this checkout no longer has.
    """
    found: list[Input] = []
    lost: list[str] = []
    sources = (_of_the_case, _of_files, _of_vaults, _of_systems, _of_tables)
    for fixture in report.fixtures:
        offered = (one for source in sources for one in source(report, fixture.name))
        pieces = _first(offered, fixture.sha256)
        if pieces is None and report.case.fixtures == "upstream":
            pieces = _first(_of_publisher(report, fixture.name, published), fixture.sha256)
        if pieces is None:
            lost.append(fixture.name)
        else:
            found += pieces
    if lost:
        raise UsageError(
            f"This checkout does not have what the report was made of: {', '.join(lost)}.",
            hint=f"Archive it with the bench that made it ({report.bench_version}), or name the"
            " checkout that has its fixtures with BENCH_ROOT; of a system that is not the bench's"
            " own, its folder with --system-dir.",
        )
    return tuple(found)


Offered = Iterator[tuple[str, tuple[Input, ...]]]
"""Digests of what may be a fixture, each with the files that it comes to."""


def _first(offered: Offered, wanted: str) -> tuple[Input, ...] | None:
    return next((inputs for digest, inputs in offered if digest == wanted), None)


def _whole(name: str, data: bytes, title: str = "") -> tuple[str, tuple[Input, ...]]:
    return hashlib.sha256(data).hexdigest(), (Input(title or name, data, name),)


def _of_the_case(report: Report, name: str) -> Offered:
    """Notes, which the report holds."""
    if isinstance(report.case, Case):
        for note in report.case.notes:
            if name == f"notes/{note.name}":
                yield _whole(name, note.text.encode())


def _of_files(_report: Report, name: str) -> Offered:
    """Files under ``fixtures``, by their own name; a set of pairs without its ending, and one of
    questions that is held out as it lies there."""
    for ending in ("", ".toml"):
        if (data := _read(name + ending)) is not None:
            yield _whole(name, data, name + ending)
    if (packed := _read(f"{name}.gz")) is not None:
        with contextlib.suppress(OSError, EOFError, zlib.error):
            digest = hashlib.sha256(gzip.decompress(packed)).hexdigest()
            yield digest, (Input(f"{name}.gz", packed, name),)


def _of_vaults(_report: Report, name: str) -> Offered:
    """A vault as systems are given it."""
    asked = _VAULT.fullmatch(name)
    if asked is None:
        return
    marker: Any = asked["marker"] or "front-matter"
    try:
        vault = load_vault(asked["name"], marker)
    except UsageError:
        return  # a vault of another bench
    pages = [(page.name, page.text.encode()) for page in vault.pages]
    told = listing(pages).encode()
    digest, first = _whole(name, told, f"{name}.sha256")
    yield digest, (*first, *(Input(f"{name}/{page}", data, name) for page, data in pages))


def _of_systems(report: Report, name: str) -> Offered:
    """What the folder of a system says of it that is not the bench's own."""
    folder = paths.system_dir()
    if folder is None or report.system.reader != "system" or not name.startswith(_SYSTEMS):
        return
    with contextlib.suppress(OSError):
        yield _whole(name, (folder / outside.FILE).read_bytes())


def _of_tables(report: Report, name: str) -> Offered:
    """Scripted answers that are made when they are asked."""
    if not name.startswith(_SCRIPTED):
        return
    fault = next((run.spec.fault for run in report.runs if run.spec.fault), None)
    try:
        protocol = Protocol(
            case=report.case,
            system=catalog.load(report.system.name),
            arm="scripted",
            model=report.model,
            runs={},
            clock=Clock(report.clock.mode),
            fault=load_fault(fault) if fault else None,
        )
        made = tables(protocol)
    except (BenchError, KeyError):
        return  # of a system, a case or a fault of another bench
    for table in made:
        if name == _SCRIPTED + table.name:
            yield _whole(name, table.content.encode())


def _of_publisher(
    report: Report, name: str, published: Callable[[ImageIdentity], Files]
) -> Offered:
    """The publisher's own files, out of whichever of the report's images holds them."""
    folder, _, file = name.partition("/")
    wanted = UPSTREAM_FILES.get(file, file) if folder == "pairs" else file
    for image in report.images:
        data = published(image).get(wanted)
        if data is not None:
            yield _whole(name, data, f"{folder}/{wanted}")


def _read(name: str) -> bytes | None:
    # Names are a report's: they must not lead out of the folder.
    root = paths.fixtures().resolve()
    file = (root / name).resolve()
    if not file.is_relative_to(root) or not file.is_file():
        return None
    return file.read_bytes()
