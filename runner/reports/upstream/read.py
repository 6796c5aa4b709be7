"""Their reports from a file: as hostile as any file that somebody sends."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from runner.errors import AlteredReport, UsageError
from runner.reports.upstream.schema import (
    GATE,
    REPORT_VERSIONS,
    SUITES,
    GateUpstream,
    TripUpstream,
)

MAX_BYTES = 8_000_000
"""The published ones are of some hundred kilobytes."""

_OF_SUITE: Mapping[str, TypeAdapter[Any]] = {
    suite: TypeAdapter(GateUpstream if suite == GATE else TripUpstream) for suite in SUITES
}


def is_upstream(document: object) -> bool:
    """Whether a document read from JSON is a report of linkedparticles' own, and none of ours."""
    return (
        isinstance(document, dict)
        and document.get("suite") in SUITES
        and "sdk_version" in document
        and "bench_version" not in document
    )


def load(path: Path) -> TripUpstream | GateUpstream:
    """Read a report that linkedparticles wrote.

    Raises:
        UsageError: there is no such file.
        AlteredReport: it is too big, no JSON, no such report, of a version not known here, or
            names a run, claim or pair twice; the field is named.
    """
    try:
        if not path.is_file():
            raise UsageError(f"{path} is no file.")
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(raw) > MAX_BYTES:
        raise AlteredReport(f"{path} has more than {MAX_BYTES} bytes; no such report has.")
    return parse(raw, str(path))


def parse(raw: bytes, name: str) -> TripUpstream | GateUpstream:
    """Read a report from its bytes; see ``load``. ``name`` is what messages call it."""
    try:
        document: Any = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise AlteredReport(f"{name} is no JSON: {error}.") from error
    if not is_upstream(document):
        raise AlteredReport(f"{name} is no report of linkedparticles.")
    suite, version = document["suite"], document.get("report_version")
    if version not in REPORT_VERSIONS[suite]:
        known = ", ".join(map(str, REPORT_VERSIONS[suite]))
        raise AlteredReport(
            f"{name} is a {suite} report of version {version!r:.40}; versions known: {known}."
        )
    try:
        report: TripUpstream | GateUpstream = _OF_SUITE[suite].validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise AlteredReport(f"{name} does not have the form: {where}: {first['msg']}.") from error
    if isinstance(report, TripUpstream):
        _trip_once(report, name)
    else:
        _gate_once(report, name)
    return report


def _trip_once(report: TripUpstream, name: str) -> None:
    _once((f"{run.variant} {run.index}" for run in report.runs), name, "runs")
    for number, run in enumerate(report.runs):
        _once((row.id for row in run.rows), name, f"runs[{number}].rows")


def _gate_once(report: GateUpstream, name: str) -> None:
    for key, asked in report.sets.items():
        _once((row.id for row in asked.rows), name, f"sets.{key}.rows")
        for row in asked.rows:
            if len(row.samples) != report.samples_per_pair:
                raise AlteredReport(
                    f"{name}: sets.{key}: {row.id:.80} has {len(row.samples)} samples; the report"
                    f" says {report.samples_per_pair} a pair."
                )


def _once(names: Iterable[str], name: str, where: str) -> None:
    twice = sorted(one for one, count in Counter(names).items() if count > 1)
    if twice:
        raise AlteredReport(f"{name}: {where} has {twice[0]:.80} more than once.")
