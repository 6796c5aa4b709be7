"""What a site is made from: reports checked as they are read, and what lies beside them."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from runner.errors import AlteredReport, UsageError
from runner.gateway import cassette as recordings
from runner.gateway.cassette import Cassette
from runner.gateway.cassette import Entry as Recorded
from runner.model import RunRecord
from runner.reports import files, integrity
from runner.reports.schema import Report
from runner.reports.site._page import Entry, slugs

LOG_CHARACTERS = 200_000
"""Of the end of a log; what is left out is said."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """One report, checked."""

    path: Path
    report: Report
    """Of a held-out set whole, where its answers lie beside it, and else as it was published."""
    sha256: str
    """Of the file."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What there is of one report beside itself."""

    recorded: Mapping[str, tuple[Recorded, ...]] = field(default_factory=dict)
    """Model calls as they were exchanged, by run; empty where no cassette is there."""
    tape: str = ""
    """The name of the cassette they are from."""
    told: str = ""
    """Why they are not there, where the report names a cassette."""
    logs: Mapping[str, str] = field(default_factory=dict)
    """The system's logs that were kept, by run."""


def load(path: Path) -> Loaded:
    """Read a report and verify that no part of it was changed.

    Raises:
        UsageError: there is no such file.
        AlteredReport: it is no report, or a part does not match its digest.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error
    name, sha256 = str(path), hashlib.sha256(raw).hexdigest()
    document = files.document_of(raw, name)
    sealed = document.get("sealed")
    if isinstance(sealed, dict) and not (path.parent / Path(str(sealed.get("name"))).name).exists():
        # A page tells aggregates alone, which are in the file itself.
        if changed := integrity.altered(document):
            raise AlteredReport(
                f"{path} was changed after it was written: {', '.join(changed)}.",
                hint="Its digests do not match. Get the original file.",
            )
        report = files.report_of(document, name)
        files.check_runs(report, name)
        return Loaded(path, report, sha256)
    return Loaded(path, files.load(path), sha256)


def entries(loaded: Sequence[Loaded]) -> tuple[Entry, ...]:
    """Reports as a site has them, each file once.

    Raises:
        UsageError: there is none.
    """
    each = list({one.sha256: one for one in loaded}.values())
    if not each:
        raise UsageError("There is no report to show.")
    named = slugs(one.path.stem for one in each)
    return tuple(
        Entry(slug, one.report, one.path, one.sha256) for slug, one in zip(named, each, strict=True)
    )


def evidence(
    entries: Sequence[Entry], cassettes: Sequence[Path] = (), kept: Path | None = None
) -> dict[str, Evidence]:
    """What there is beside each report, by its slug; of held-out sets nothing.

    Args:
        entries: the reports.
        cassettes: recordings to take the exchanges from. One that lies beside its report, under
            the name that this gives, is found without.
        kept: the folder that ``--keep`` left.

    Raises:
        UsageError: a cassette that none of the reports was made with; no such file or folder.
        AlteredReport: a cassette that is none.
    """
    given = {path: recordings.load(path) for path in cassettes}
    used = {one.report.cassette.sha256 for one in entries if one.report.cassette is not None}
    for path, cassette in given.items():
        if cassette.sha256() not in used:
            raise UsageError(
                f"None of the reports was made with the cassette {path}.",
                hint="A report names the cassette it was made with, by its digest.",
            )
    if kept is not None and not (kept / "runs").is_dir():
        raise UsageError(
            f"{kept} holds no runs that --keep left.", hint="It has a folder `runs` where it does."
        )
    found = {}
    for entry in entries:
        if entry.held_out:
            found[entry.slug] = Evidence()
            continue
        tape, told = _tape(entry, given)
        found[entry.slug] = Evidence(
            recorded=tape.runs if tape is not None else {},
            tape=entry.report.cassette.name if tape and entry.report.cassette else "",
            told=told,
            logs={} if kept is None else _logs(entry.report, kept),
        )
    return found


def _tape(entry: Entry, given: Mapping[Path, Cassette]) -> tuple[Cassette | None, str]:
    """The cassette a report was made with, or why it is not there."""
    named = entry.report.cassette
    if named is None:
        return None, ""
    for cassette in given.values():
        if cassette.sha256() == named.sha256:
            return cassette, ""
    # The name alone: a report must not lead to other folders.
    beside = entry.path.parent / Path(named.name).name
    if not beside.is_file():
        return None, "The cassette is not beside the report: give it with --cassette."
    try:
        cassette = recordings.load(beside)
    except (AlteredReport, UsageError) as problem:
        return None, problem.message
    if cassette.sha256() != named.sha256:
        return None, "The cassette beside the report is another than the one it was made with."
    return cassette, ""


def _logs(report: Report, kept: Path) -> dict[str, str]:
    """The logs of a report's runs, where the folder holds these very runs."""
    found = {}
    for run in report.runs:
        folder = kept / "runs" / Path(run.spec.id).name
        try:
            record = orjson.loads((folder / "record.json").read_bytes())
            log = (folder / "system.log").read_text(errors="backslashreplace")
        except (OSError, ValueError):
            continue
        if _same(record, run):
            left = len(log) - LOG_CHARACTERS
            cut = f"... {left} characters before\n" if left > 0 else ""
            found[run.spec.id] = cut + log[-LOG_CHARACTERS:]
    return found


def _same(record: object, run: RunRecord) -> bool:
    """Whether what was kept is of that run, and not of another of the same name."""
    if not isinstance(record, dict):
        return False
    ours = run.model_dump(mode="json", include={"spec", "started_at", "calls"})
    return all(record.get(name) == value for name, value in ours.items())
