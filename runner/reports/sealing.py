"""Held-out answers lie sealed beside their report, which holds their digest and the aggregates.

A report in memory is always whole. It is closed when it is written, where its suite says that its
subject is held out, and opened again when it is read with the sealed file beside it. Nothing is
secret in there: a held-out set that anybody reads along with is no longer held out.
"""

import gzip
import hashlib
import io
import zlib
from typing import Any

import orjson

from runner.errors import AlteredReport
from runner.model import Call, RunRecord
from runner.reports.schema import Report, SealedAnswers
from runner.suites.registry import suite_of

SUFFIX = ".sealed.gz"
MAX_BYTES = 256 << 20
"""More than the answers of any set come to, unpacked."""
_HELD_BACK = ("steps", "calls", "observations", "ending", "log_tail")
"""What of a run tells single answers; of its ending the words alone."""


def close(report: Report, name: str) -> tuple[Report, bytes | None]:
    """What is published of a report, and what is sealed; none where nothing is held out.

    Args:
        report: whole.
        name: of the file the sealed part goes to.
    """
    closed = public(report)
    if closed is None:
        return report.model_copy(update={"sealed": None}), None
    document = {
        "case": report.model_dump(mode="json", include={"case"})["case"],
        "runs": {
            run.spec.id: run.model_dump(mode="json", include=set(_HELD_BACK)) for run in report.runs
        },
    }
    raw = orjson.dumps(document, option=orjson.OPT_SORT_KEYS)
    sealed = gzip.compress(raw, mtime=0)
    digest = SealedAnswers(name=name, sha256=hashlib.sha256(sealed).hexdigest())
    return closed.model_copy(update={"sealed": digest}), sealed


def public(report: Report) -> Report | None:
    """What may be told of a report, with no sealed part named; none where nothing is held out."""
    case = suite_of(report.case).closed(report.case)
    if case is None:
        return None
    runs = tuple(_public(run) for run in report.runs)
    return report.model_copy(update={"case": case, "runs": runs, "sealed": None})


def open_(report: Report, sealed: bytes) -> Report:
    """A published report with its sealed part, whole again.

    Raises:
        AlteredReport: the sealed part is not the report's own.
    """
    assert report.sealed is not None
    name = report.sealed.name
    if hashlib.sha256(sealed).hexdigest() != report.sealed.sha256:
        raise AlteredReport(
            f"{name} does not hold the answers of this report: its digest differs.",
            hint="Get the file that was written with the report.",
        )
    try:
        document: dict[str, Any] = orjson.loads(_unpacked(sealed, name))
        whole = report.model_dump(mode="json") | {"case": document["case"], "sealed": None}
        for run in whole["runs"]:
            held_back = document["runs"][run["spec"]["id"]]
            run |= {part: held_back[part] for part in _HELD_BACK}
        opened = Report.model_validate_json(orjson.dumps(whole))
    except (KeyError, TypeError, ValueError) as error:
        raise AlteredReport(f"{name} is no sealed part of a report: {error}.") from error
    case = suite_of(opened.case).closed(opened.case)
    if (case, tuple(map(_public, opened.runs))) != (report.case, report.runs):
        raise AlteredReport(
            f"{name} and its report do not say the same of what both tell.",
            hint="Get both files anew, from where they were written.",
        )
    return opened


def _unpacked(sealed: bytes, name: str) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(sealed)) as file:
            raw = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise AlteredReport(f"{name} cannot be unpacked: {error}.") from error
    if len(raw) > MAX_BYTES:
        raise AlteredReport(f"{name} unpacks to more than {MAX_BYTES} bytes.")
    return raw


def _public(run: RunRecord) -> RunRecord:
    """A run without its answers: how it ended and what its model calls cost stays; which question
    each was for, and what was said of it, does not."""
    return run.model_copy(
        update={
            "steps": (),
            "observations": (),
            "ending": run.ending.model_copy(update={"detail": ""}),
            "log_tail": "",
            "calls": tuple(_unnamed(call) for call in run.calls),
        }
    )


def _unnamed(call: Call) -> Call:
    return call.model_copy(
        update={"step": call.step.partition(" ")[0], "source": None, "detail": ""}
    )
