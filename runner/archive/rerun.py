"""A whole result made again from an archive alone, and laid beside the one that is in it."""

import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import docker

from runner import images
from runner.archive import contents, media, restore
from runner.archive._again import OtherBench, apart, prices_of, protocol_of
from runner.archive.contents import ArchivedImage, Contents
from runner.archive.opening import opened
from runner.archive.verify import State
from runner.archive.verify import verify as verified
from runner.archive.watch import Watch as Following
from runner.errors import DamagedArchive, UsageError
from runner.gateway import cassette as cassettes
from runner.images.exact import find
from runner.model import ImageIdentity, Outcome
from runner.oci.layout import Layout
from runner.prices import PriceList
from runner.reports.produce import produce
from runner.reports.same import Comparison, compare
from runner.reports.schema import Report
from runner.runs.keep import Keep
from runner.runs.place import Say, place_of
from runner.runs.protocol import Protocol
from runner.runs.provider import Tape
from runner.runs.purse import Purse
from runner.runs.watch import Watch
from runner.suites.registry import suite_of
from runner.systems import outside

_JSON = b"{"
_ITS_OWN = ("systems", outside.SCRIPTED)
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]*\.toml")
_STATE = (
    "-v memory-bench-state:/state -e BENCH_STATE=/state -e BENCH_LEASES=/state/leases"
    " -e HOME=/state/home"
)


@dataclass(frozen=True, slots=True)
class Again:
    """What an archive holds, verified, and how it is made again.

    Attributes:
        path: the archive.
        report: the one in it, whole.
        protocol: what is run.
        prices: what its money is counted at.
        held: all that is in the archive.
        remark: what may make another result; empty where nothing may.
        sealed: whether answers must not be shown.
    """

    path: Path
    report: Report
    protocol: Protocol
    prices: PriceList
    held: Contents
    remark: str
    sealed: bool

    @property
    def system(self) -> ImageIdentity:
        """What was measured."""
        return self.report.images[0]

    @property
    def gateway(self) -> ImageIdentity:
        """The bench that gateways ran from."""
        return self.report.images[1]


def read(path: Path, room: Path | None = None, watch: Following | None = None) -> Again:
    """Verify an archive, and find out whether its report can be made again here.

    Args:
        path: the archive.
        room: an empty folder, to be kept until all is done: what is in the archive of a system
            that is none of the bench's is laid there. Without it such a report is not made again.
        watch: follows it being verified.

    Raises:
        UsageError: it holds no report, or one whose answers cannot be had again.
        OtherBench: this bench would make another result of it; the hint says how to run the bench
            that is in the archive.
        DamagedArchive: something in it does not hold.
    """
    _see_archive(path)
    found = verified(path, watch)
    wrong = found.sheet.of(State.WRONG)
    if wrong:
        told = ", ".join(dict.fromkeys(line.id for line in wrong))
        raise DamagedArchive(
            f"{path} does not hold: {told}. {wrong[0].first}",
            hint=f"Nothing was run. `bench verify {path}` tells all of it.",
        )
    report = found.report
    if report is None:
        raise UsageError(
            f"{path} holds images and no report.",
            hint="`bench images restore` loads them; there is nothing to make again.",
        )
    if report.sealed is not None:
        raise UsageError(
            f"The sealed answers of the report are not in {path}: there is nothing to hold a new"
            " run to.",
        )
    if len(report.images) < 2:
        raise UsageError("The report does not name the images it was made with.")
    with opened(path) as layout:
        held = contents.read(layout)
        if room is not None:
            _lay_out(layout, held, report, room)
        recording = held.one(media.CASSETTE)
        tape = None
        if recording is not None:
            raw = layout.get(recording.blob, cassettes.MAX_BYTES)
            cassette = cassettes.parse(raw, recording.title)
            tape = Tape(recording.title, cassette, cassette.sha256())
    own_bench = _from_its_own(path, held, report)
    try:
        protocol = protocol_of(report, tape, room)
    except OtherBench as error:
        raise OtherBench(error.message, hint=own_bench) from error
    remark = apart(report, images.source("bench"))
    return Again(
        path=path,
        report=report,
        protocol=protocol,
        prices=prices_of(report),
        held=held,
        remark=f"{remark} {own_bench}" if remark else "",
        sealed=suite_of(report.case).closed(report.case) is not None,
    )


def _lay_out(layout: Layout, held: Contents, report: Report, room: Path) -> None:
    """What an archive holds of a system that is none of the bench's, as it lay in its folder."""
    if report.system.reader != "system":
        return
    for file in held.of(media.INPUTS):
        kind, _, rest = file.title.partition("/")
        _, _, name = rest.partition("/")
        if kind not in _ITS_OWN or _PLAIN.fullmatch(name) is None:
            continue
        folder = room / outside.SCRIPTED if kind == outside.SCRIPTED else room
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(layout.get(file.blob, outside.TABLE_BYTES))


def missing(client: docker.DockerClient, again: Again) -> tuple[ArchivedImage, ...]:
    """Images of the archive that an engine does not hold."""
    return tuple(
        image
        for image in again.held.images.values()
        if find(client, image.config.digest, image.diff_ids) is None
    )


def load(
    client: docker.DockerClient, again: Again, following: Following, *, workers: int = 1
) -> tuple[restore.Restored, ...]:
    """Have an engine hold all images of the archive.

    Raises:
        DamagedArchive: it is not as it was when it was read.
        CannotStart: the engine does not take the images.
    """
    with opened(again.path) as layout:
        return restore.restore(client, layout, following, workers=workers)


def run(again: Again, output: Path | None, *, say: Say, watch: Watch, workers: int = 1) -> Report:
    """Run the protocol on the images of the report.

    Args:
        again: what is run.
        output: where the new report goes; it is thrown away when none.
        say: told, a line at a time, what takes long before the first run.
        watch: told of the runs.
        workers: runs at a time.

    Raises:
        CannotStart: no engine, it lacks an image, or there is no lease.
        OutputLost: the report cannot be written any more.
    """
    report = again.report
    with ExitStack() as stack:
        file = stack.enter_context(_nowhere()) if output is None else output
        here = stack.enter_context(
            place_of(again.system, again.gateway, report.images[2:], say=say)
        )
        return produce(
            again.protocol,
            again.prices,
            here,
            output=file,
            workers=workers,
            watch=watch,
            keep=Keep(None),
            purse=Purse(report.spend.max_usd_total),
        )


def beside(again: Again, fresh: Report) -> Comparison:
    """The new report held to the one in the archive."""
    return compare(again.report, fresh, sealed=again.sealed)


def stopped(again: Again, fresh: Report) -> tuple[str, ...]:
    """Runs that came to no verdict for want of time or of an engine, where they once had one: that
    they differ says nothing of what is in the archive."""
    before = {run.spec.id: run.ending.outcome for run in again.report.runs}
    return tuple(
        run.spec.id
        for run in fresh.runs
        if run.ending.outcome in (Outcome.INCOMPLETE, Outcome.ERRORED)
        and before.get(run.spec.id) is not run.ending.outcome
    )


@contextmanager
def _nowhere() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="bench-rerun-") as folder:
        yield Path(folder) / "report.json"


def _see_archive(path: Path) -> None:
    if path.is_dir():
        raise UsageError(
            f"{path} is a folder.", hint="Write the archive as a file: bench images archive -o."
        )
    try:
        with path.open("rb") as file:
            report = file.read(1) == _JSON
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error
    if report:
        raise UsageError(
            f"{path} is a report by itself, without its images.",
            hint=f"bench images archive {path} -o FILE puts both in one file.",
        )


def _from_its_own(path: Path, held: Contents, report: Report) -> str:
    """How to run the bench that is in an archive."""
    bench = held.images.get(report.images[1].config_digest)
    if bench is None:
        return "The bench that made it is not in the archive."
    whole = path.resolve()
    return (
        f"The bench that made it is in the archive: `bench images restore {path} --only"
        f" {bench.config.digest}`, then `{command(bench.reference, whole)}`."
    )


def command(reference: str, archive: Path) -> str:
    """What runs an archive from a bench in a container."""
    parts = (
        "docker run --rm --network none -v /var/run/docker.sock:/var/run/docker.sock",
        f"-v '{archive.parent}:/results' {_STATE} -e BENCH_IMAGE={reference} {reference}",
        f"bench rerun '/results/{archive.name}' --yes",
    )
    return " ".join(parts)
