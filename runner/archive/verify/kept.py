"""What a report was made of and what was kept of its runs: inputs, tables, snapshots."""

import gzip
import hashlib
import io
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping

from runner.archive.verify.evidence import INPUT_BYTES, SNAPSHOT_FILES, Evidence, File
from runner.archive.verify.sheet import Look, Looking, NotCheckable
from runner.errors import DamagedArchive, UsageError
from runner.gateway.tables import Entry, Tables
from runner.model import Call, RunRecord, SnapshotRecord, Usage
from runner.reports.schema import Report
from runner.runs.run import SNAPSHOT_BYTES
from runner.runs.sandbox import snapshot as snapshots
from runner.runs.snapshots import read_snapshot
from runner.systems import catalog

INPUTS = "inputs"
TABLES = "tables"
SCRIPTED = "scripted"
SNAPSHOTS = "snapshots"
_OF_TABLES = "scripted/"
_ALONE = "They lie in an archive; this is the report alone."
_LISTING = ".sha256"
_PACKED = ".gz"
_TAR = ".tar"


def look(report: Report, evidence: Evidence, looking: Looking) -> None:
    """Make the checks of what lies beside a report, as far as it has any of it."""
    scripted = [(run, call) for run in report.runs for call in run.calls if _scripted(run, call)]
    taken = [one for run in report.runs for one in run.snapshots]
    if _named(report) or any(run.gateway and run.gateway.tables for run in report.runs):
        with looking.check(TABLES, "scripted tables, as the runs name them") as tables:
            _tables(report, tables)
    with looking.check(INPUTS, "inputs, against the digests of fixtures") as inputs:
        if not evidence.packed:
            raise NotCheckable(_ALONE)
        _inputs(report, evidence, inputs)
    if scripted:
        with looking.check(SCRIPTED, "scripted answers, in their tables") as answers:
            _answers(report, scripted, evidence, answers)
    if taken:
        with looking.check(SNAPSHOTS, "snapshots, read again into their stores") as stores:
            _snapshots(report, taken, evidence, stores)


# ---------------------------------------------------------------- inputs and tables


def _named(report: Report) -> dict[str, str]:
    """Scripted tables among the fixtures, with their digests."""
    return {
        fixture.name.removeprefix(_OF_TABLES): fixture.sha256
        for fixture in report.fixtures
        if fixture.name.startswith(_OF_TABLES)
    }


def _tables(report: Report, look: Look) -> None:
    listed = _named(report)
    look.at(len(listed))
    for run in report.runs:
        named = dict(run.gateway.tables) if run.gateway is not None else {}
        if run.gateway is not None and named != listed:
            odd = min(named.items() ^ listed.items())[0]
            look.amiss(f"Run {run.spec.id} and the fixtures do not name the same {odd}.")


def _inputs(report: Report, evidence: Evidence, look: Look) -> None:
    by_fixture = _by_fixture(evidence)
    for fixture in report.fixtures:
        found = by_fixture.pop(fixture.name, [])
        look.at(len(found))
        if not found:
            look.amiss(f"There is no input for {fixture.name}.")
            continue
        try:
            if _digest(fixture.name, found) != fixture.sha256:
                look.amiss(f"{fixture.name} is not what the report has the digest of.")
        except DamagedArchive as error:
            look.amiss(error.message)
    for name in by_fixture:
        look.amiss(f"The report has no fixture {name!r}, of which there is an input.")


def _by_fixture(evidence: Evidence) -> dict[str, list[File]]:
    found: dict[str, list[File]] = defaultdict(list)
    for file in evidence.inputs:
        found[file.fixture].append(file)
    return found


def _digest(name: str, files: list[File]) -> str:
    """The digest of a fixture: of its bytes, unpacked, or of the listing of its pages."""
    listing = next((file for file in files if file.title == name + _LISTING), None)
    if listing is not None:
        told = listing.get()
        _pages(name, told, [file for file in files if file is not listing])
        return _sha256(told)
    if len(files) != 1:
        raise DamagedArchive(f"There are {len(files)} inputs for {name}, and one was to be.")
    (file,) = files
    data = file.get()
    return _sha256(unpacked(file.title, data) if file.title.endswith(_PACKED) else data)


def _pages(name: str, listing: bytes, pages: list[File]) -> None:
    lines = listing.decode(errors="replace").splitlines()
    wanted = {line[66:]: line[:64] for line in lines}
    found = {page.title.removeprefix(f"{name}/"): page for page in pages}
    if odd := sorted(wanted.keys() ^ found.keys()):
        raise DamagedArchive(f"{name} and its pages differ: {odd[0]!r}.")
    for page, digest in wanted.items():
        if _sha256(found[page].get()) != digest:
            raise DamagedArchive(f"The page {page!r} of {name} is not the one that was digested.")


def unpacked(title: str, packed: bytes) -> bytes:
    """A compressed input, within bounds.

    Raises:
        DamagedArchive: it cannot be unpacked.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            raw = file.read(INPUT_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DamagedArchive(f"{title} cannot be unpacked: {error}.") from error
    if len(raw) > INPUT_BYTES:
        raise DamagedArchive(f"{title} unpacks to more than {INPUT_BYTES} bytes.")
    return raw


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# ---------------------------------------------------------------- scripted answers


def _answers(
    report: Report, calls: list[tuple[RunRecord, Call]], evidence: Evidence, look: Look
) -> None:
    if any(call.source is None for _, call in calls):
        raise NotCheckable("What each answer was is sealed, and cannot be read.")
    entries = _entries(report, evidence)
    for run, call in calls:
        look.at()
        entry = entries.get(call.source or "")
        where = f"Call {call.seq} of {run.spec.id}"
        if entry is None:
            look.amiss(f"{where} was answered by {call.source}, which no table holds.")
        elif entry.usage is not None and call.usage != _sized(entry.usage, call):
            look.amiss(f"{where} tells other tokens than {call.source} has.")


def _scripted(run: RunRecord, call: Call) -> bool:
    return run.spec.arm == "scripted" and call.outcome == "answered"


def _sized(usage: Usage, call: Call) -> Usage:
    """What an answer takes of a call that was allowed so many tokens."""
    most = usage.output if call.max_tokens_sent is None else call.max_tokens_sent
    return usage.model_copy(update={"output": min(usage.output, most)})


def _entries(report: Report, evidence: Evidence) -> Mapping[str, Entry]:
    """Every scripted answer by the name that ledgers have for it."""
    files = [file for file in evidence.inputs if file.fixture.startswith(_OF_TABLES)]
    if not files:
        raise NotCheckable(_ALONE if not evidence.packed else "The archive holds no table.")
    tables = [(file.fixture.removeprefix(_OF_TABLES), file.get().decode()) for file in files]
    loaded = Tables.load(tables, dict(report.case.names))
    return {entry.source: entry for entry in loaded.entries}


# ---------------------------------------------------------------- snapshots


def _snapshots(report: Report, taken: list[SnapshotRecord], evidence: Evidence, look: Look) -> None:
    if report.system.reader == "system":
        raise NotCheckable(
            f"{report.system.name} read its stores itself, in a container; `bench rerun` has it"
            " read them again."
        )
    if not evidence.packed:
        raise NotCheckable(_ALONE)
    if not evidence.snapshots:
        raise NotCheckable("The archive holds none; `bench images archive --kept` puts them in.")
    try:
        system = catalog.load(report.system.name, report.system.version)
    except UsageError as error:
        raise NotCheckable(f"This bench cannot read them. {error.message}") from error
    by_digest = _by_digest(taken)
    for digest, records in by_digest.items():
        with look.one():
            files = [one for one in evidence.snapshots if one.title == f"{digest}{_TAR}"]
            if len(files) != 1:
                raise DamagedArchive(f"The snapshot {digest[:12]} is there {len(files)} times.")
            _one(files[0].get(), digest, records, system)
    for file in evidence.snapshots:
        if file.title.removesuffix(_TAR) not in by_digest:
            look.amiss(f"The report has no snapshot {file.title[:12]}, which is there.")


def _by_digest(taken: Iterable[SnapshotRecord]) -> dict[str, list[SnapshotRecord]]:
    found: dict[str, list[SnapshotRecord]] = defaultdict(list)
    for record in taken:
        found[record.sha256].append(record)
    return found


def _one(raw: bytes, digest: str, records: list[SnapshotRecord], system: catalog.System) -> None:
    """Read one snapshot, as hostile as when it came out of its sandbox."""
    snapshot = snapshots.load(raw, max_bytes=SNAPSHOT_BYTES, max_files=SNAPSHOT_FILES)
    if _sha256(raw) != digest or snapshot.sha256 != digest:
        raise DamagedArchive(f"The snapshot {digest[:12]} has another digest.")
    # As a report holds it: what JSON makes of it.
    store = read_snapshot(snapshot, system.read).model_dump(mode="json")
    for record in records:
        if record.size != len(raw):
            raise DamagedArchive(f"The snapshot {digest[:12]} has another size than is told.")
        if record.store.model_dump(mode="json") != store:
            raise DamagedArchive(
                f"The store after {record.step} is not what the snapshot {digest[:12]} holds."
            )
