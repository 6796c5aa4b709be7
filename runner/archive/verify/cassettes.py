"""The recording that a report's runs were made from, or made: that it is one with their calls."""

import hashlib
from collections import Counter
from collections.abc import Iterator

from runner.archive.verify import replies
from runner.archive.verify.evidence import Evidence
from runner.archive.verify.sheet import Look, Looking, NotCheckable
from runner.errors import DamagedArchive
from runner.gateway.cassette import Cassette, Entry, key_of, parse
from runner.gateway.request import BATCHES_PATH
from runner.model import Call, RunRecord
from runner.reports.schema import Report

CASSETTE = "cassette"
RECORDED = "recorded"
REPLIES = "replies"
_COUNTED = "/v1/messages/count_tokens"
"""Costs nothing and leaves no line in a ledger."""
_SOURCE = "cassette:"


def look(report: Report, evidence: Evidence, looking: Looking) -> None:
    """Make the checks of a recording; none where the report has none."""
    used = report.cassette
    if used is None:
        if report.arm in ("record", "replay"):
            looking.cannot(CASSETTE, _CASSETTE, "The report names none.")
        return
    cassette: Cassette | None = None
    with looking.check(CASSETTE, _CASSETTE) as whole:
        cassette = parse(evidence.cassette(used.name), used.name)
        whole.at(sum(map(len, cassette.runs.values())))
        _same(report, cassette)
        for entry in (entry for entries in cassette.runs.values() for entry in entries):
            if entry.key != key_of(entry.path, entry.stream, entry.canonical.encode()):
                whole.amiss(f"A recorded {entry.purpose} call is found by another request's key.")
    with looking.check(RECORDED, "recorded calls, among those of the runs") as calls:
        if cassette is None:
            raise NotCheckable("The cassette cannot be read.")
        for run in report.runs:
            _recorded(run, cassette, calls)
    if cassette is None:
        return
    with looking.check(REPLIES, "calls, against the replies that were recorded") as answered:
        for run in report.runs:
            entries = [
                (next(_requests(one)), one)
                for one in cassette.runs.get(run.spec.id, ())
                if one.path not in (_COUNTED, BATCHES_PATH)
            ]
            replies.look(run, entries, answered)


_CASSETTE = "recorded calls: digest of all, keys of each"


def _same(report: Report, cassette: Cassette) -> None:
    assert report.cassette is not None
    if cassette.sha256() != report.cassette.sha256:
        raise DamagedArchive("The cassette is not the one that the report has the digest of.")
    case = report.case
    for what, ours, theirs in (
        ("system", cassette.system, report.system.name),
        ("suite", cassette.suite, report.suite),
        ("case", cassette.case, case.name),
        ("variant", cassette.fixture_variant, case.variant),
        ("fixtures", cassette.fixtures, case.fixtures),
        ("beginning", cassette.recorded_from, report.cassette.recorded_from),
        ("end", cassette.recorded_to, report.cassette.recorded_to),
    ):
        if ours != theirs:
            raise DamagedArchive(f"The {what} of the cassette is {ours}, not {theirs}.")


def _recorded(run: RunRecord, cassette: Cassette, look: Look) -> None:
    """See that what was recorded of a run are its calls, each as often as it was made."""
    entries = [one for one in cassette.runs.get(run.spec.id, ()) if one.path != _COUNTED]
    asked = Counter(call.prompt_sha256 for call in run.calls)
    recorded: Counter[str] = Counter()
    for entry in entries:
        look.at()
        for digest in _requests(entry):
            recorded[digest] += 1
            # A replay may ask for less than was recorded, and says so; never for more.
            if run.spec.arm == "record" and recorded[digest] > asked[digest]:
                look.amiss(
                    f"A {entry.purpose} call that was recorded in {entry.step} of {run.spec.id}"
                    " is not among its calls."
                )
            elif not asked[digest] and not _unused(run):
                look.amiss(
                    f"A {entry.purpose} call that was recorded in {entry.step} of {run.spec.id}"
                    " was not made, and the run does not say so."
                )
    for call in run.calls:
        if call.outcome == "answered" and recorded[call.prompt_sha256] < 1:
            look.amiss(f"Call {call.seq} of {run.spec.id} was answered, and was not recorded.")
        if run.spec.arm == "replay" and call.outcome == "answered" and call.batch is None:
            _from(call, run, cassette, look)


def _requests(entry: Entry) -> Iterator[str]:
    """Digests of what an entry asks: of a batch, of each of its requests."""
    parts = entry.canonical.split("\n") if entry.path == BATCHES_PATH else [entry.canonical]
    for part in parts:
        yield hashlib.sha256(part.encode()).hexdigest()


def _unused(run: RunRecord) -> bool:
    return any("recorded calls were not used" in warning for warning in run.warnings)


def _from(call: Call, run: RunRecord, cassette: Cassette, look: Look) -> None:
    """See that a replayed call was answered by the recording of the same request."""
    number = (call.source or "").removeprefix(_SOURCE)
    entries = cassette.runs.get(run.spec.id, ())
    where = f"Call {call.seq} of {run.spec.id}"
    if call.source is None:
        return  # sealed, and not opened
    if not number.isdigit() or int(number) >= len(entries):
        look.amiss(f"{where} was answered by {call.source}, which is no recording.")
    elif call.prompt_sha256 not in _requests(entries[int(number)]):
        look.amiss(f"{where} was answered by the recording of another request.")
