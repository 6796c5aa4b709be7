"""Every check of one file, in their order."""

from dataclasses import dataclass
from pathlib import Path

import orjson

from runner.archive.verify import cassettes, evidence, images, kept, layouts, locks
from runner.archive.verify import report as reports
from runner.archive.verify.evidence import REPORT_BYTES, Evidence
from runner.archive.verify.sheet import Looking, Sheet
from runner.archive.watch import Nobody, Watch
from runner.errors import UsageError
from runner.reports import upstream
from runner.reports.schema import Report

_JSON = b"{"


@dataclass(frozen=True, slots=True)
class Verified:
    """What came of a file.

    Attributes:
        sheet: its checks.
        report: the report in it, opened where its sealed answers are there; none where there is
            none that can be read.
    """

    sheet: Sheet
    report: Report | None


def verify(path: Path, watch: Watch | None = None) -> Verified:
    """Check an archive, or a report by itself.

    Args:
        path: the file.
        watch: follows, where it takes a while, which a report by itself does not.

    Raises:
        UsageError: there is no such file, or it is a report of linkedparticles.
    """
    looking, watch = Looking(), watch or Nobody()
    try:
        with path.open("rb") as file:
            alone = file.read(1) == _JSON
            raw = _JSON + file.read(REPORT_BYTES) if alone else b""
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error
    if alone:
        if len(raw) > REPORT_BYTES:
            raise UsageError(f"{path} is larger than any report.")
        _see_ours(path, raw)
        report = _report(evidence.of_file(path, raw), looking)
        return Verified(_sheet(path, "report", report, looking), report)
    report = None
    with layouts.opened(path, looking) as archive:
        found = layouts.look(archive, looking, watch) if archive is not None else None
        if archive is not None and found is not None:
            belonging = evidence.of_archive(archive, found)
            if belonging is None:
                looking.cannot(reports.REPORT, "a report", "The archive holds images alone.")
            else:
                watch.begins("computing the report again")
                report = _report(belonging, looking)
            told_of = None if report is None else report.images
            inside = images.look(archive, found, told_of, looking, watch)
            locks.look(archive, found, inside, looking)
    return Verified(_sheet(path, "archive", report, looking), report)


def _report(belonging: Evidence, looking: Looking) -> Report | None:
    report = reports.look(belonging, looking)
    if report is not None:
        kept.look(report, belonging, looking)
        cassettes.look(report, belonging, looking)
    return report


def _sheet(path: Path, kind: str, report: Report | None, looking: Looking) -> Sheet:
    of = ""
    if report is not None:
        of = (
            f" of {report.suite}, {report.system.name} {report.system.version},"
            f" {report.model} ({report.arm})"
        )
    about = f"{kind}{of}" if kind == "report" or report is None else f"{kind} of a report{of}"
    return Sheet(file=path.name, about=about, lines=tuple(looking.lines))


def _see_ours(path: Path, raw: bytes) -> None:
    try:
        document = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return  # which a check will say
    if upstream.is_upstream(document):
        raise UsageError(
            f"{path} is a report of linkedparticles.",
            hint="`bench rescore` holds it to its own rows; it has no digests.",
        )
