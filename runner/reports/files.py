"""Reports on disk: written whole or not at all, checked when read."""

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from runner.errors import AlteredReport, CannotStart, UsageError
from runner.reports import integrity
from runner.reports.schema import REPORT_VERSION, Report
from runner.reports.sealing import SUFFIX, close, open_
from runner.runs.disk import give_to_owner, make_folder, try_out


def save(report: Report, path: Path) -> None:
    """Write a report: to a new file beside it, flushed, then renamed over the old one.

    The file belongs to whoever owns its folder, so that a report written as root by a container
    is the user's.

    Raises:
        OSError: when it cannot be written; the old file is then still whole.
    """
    public, sealed = close(report, path.stem + SUFFIX)
    if sealed is not None:
        write_atomically(path.with_name(path.stem + SUFFIX), sealed)
    write_atomically(path, written(public))


def written(public: Report) -> bytes:
    """A report as JSON, with its digests. Of a held-out set it has to be closed."""
    document = public.model_dump(mode="json")
    document[integrity.OWN_FIELD] = integrity.digests(document)
    return orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file's content in one step; see ``save``."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        give_to_owner(Path(name))
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def prepare(path: Path, *, resume: bool) -> None:
    """Find out before anything starts whether a report can be written at ``path``.

    Raises:
        CannotStart: when the folder cannot be made or written, or ``path`` cannot be a file.
        UsageError: when a file is there already and the run is not to be resumed.
    """
    try:
        if path.exists() and not resume:
            raise UsageError(
                f"{path} exists already.",
                hint="Choose another --output, or add --resume to finish a half-written report.",
            )
        make_folder(path.parent)
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder")
        try_out(path.parent)
    except OSError as error:
        raise CannotStart(
            f"A report cannot be written at {path}: {error.strerror or error}.",
            hint="Nothing was started. Choose a writable --output with room on its disk.",
        ) from error


def load(path: Path) -> Report:
    """Read a report and verify that no part of it was changed.

    Raises:
        UsageError: when there is no such file.
        AlteredReport: when it is no report of this version, or a part does not match its digest.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error
    document = document_of(raw, str(path))
    changed = integrity.altered(document)
    if changed:
        raise AlteredReport(
            f"{path} was changed after it was written: {', '.join(changed)}.",
            hint="Its digests do not match. Get the original file.",
        )
    report = report_of(document, str(path))
    check_runs(report, str(path))
    return report if report.sealed is None else _opened(report, path)


def document_of(raw: bytes, name: str) -> dict[str, Any]:
    """What a file holds, when it is a report of this version; its parts are not looked at.

    Raises:
        AlteredReport: it is none.
    """
    try:
        document: Any = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise AlteredReport(f"{name} is no JSON: {error}.") from error
    if not isinstance(document, dict) or "report_version" not in document:
        raise AlteredReport(f"{name} is no report of this bench.")
    if document["report_version"] != REPORT_VERSION:
        raise AlteredReport(
            f"{name} is a report of version {document['report_version']!r};"
            f" this bench reads version {REPORT_VERSION}."
        )
    return document


def report_of(document: dict[str, Any], name: str) -> Report:
    """The report in a document, as it is published: that of a held-out set is closed.

    Raises:
        AlteredReport: it does not follow the schema.
    """
    try:
        return Report.model_validate_json(orjson.dumps(document))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise AlteredReport(
            f"{name} does not follow the schema: {where}: {first['msg']}."
        ) from error


def _opened(report: Report, path: Path) -> Report:
    assert report.sealed is not None
    # The name alone: a report must not lead to other folders.
    beside = path.parent / Path(report.sealed.name).name
    try:
        sealed = beside.read_bytes()
    except (OSError, ValueError) as error:
        raise UsageError(
            f"The answers of {path} are sealed in {beside.name}, which is not beside it.",
            hint="Without them nothing can be computed again; its figures are in the file itself.",
        ) from error
    return open_(report, sealed)


def check_runs(report: Report, path: str) -> None:
    """Refuse a report whose runs are not the runs it planned, each once, on its own settings.

    Raises:
        AlteredReport: names the run.
    """
    planned = {item.id: item for item in report.planned}
    if len(planned) != len(report.planned):
        raise AlteredReport(f"{path}: planned names a run twice.")
    seen: set[str] = set()
    for number, run in enumerate(report.runs):
        where = f"{path}: runs[{number}]"
        spec = run.spec
        if spec.id in seen:
            raise AlteredReport(f"{where} is run {spec.id} a second time.")
        seen.add(spec.id)
        item = planned.get(spec.id)
        if item is None or (item.kind, item.index) != (spec.kind, spec.index):
            raise AlteredReport(f"{where} ({spec.id}) is not a run the protocol planned.")
        purposes = {name: spec.pins.get(name, spec.model) for name in report.purposes}
        same = {
            "suite": (spec.suite, report.suite),
            "case": (spec.case, report.case.name),
            "fixture_variant": (spec.fixture_variant, report.case.variant),
            "fixtures": (spec.fixtures, report.case.fixtures),
            "arm": (spec.arm, report.arm),
            "model": (spec.model, report.model),
            "pins": (purposes, report.purposes),
            "system": (spec.system, report.system.name),
            "options": (spec.options, report.options),
            "clock": (spec.clock, report.clock.mode),
            "max_usd": (spec.max_usd, report.spend.max_usd_per_run),
            "ceiling": (spec.ceiling, report.spend.ceiling),
        }
        for field, (ours, theirs) in same.items():
            if ours != theirs:
                raise AlteredReport(
                    f"{where}.spec.{field} is {ours!r}; the report says {theirs!r}."
                )
