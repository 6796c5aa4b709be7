"""What is to go into an archive, all of it found before anything is written."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import docker

from runner import images
from runner.archive._evidence import Evidence, gather
from runner.archive.contents import LeftOut, name_of
from runner.errors import AlteredReport, CannotStart, UsageError
from runner.images import BENCH_LOCAL, State, labels, upstream
from runner.model import ImageIdentity
from runner.oci import engine_io
from runner.oci.engine_io import Held
from runner.reports import files

_BUILT = re.compile(r"memory-bench/[a-z0-9][a-z0-9._-]*:[0-9a-f]{12}")
_BENCH = "bench"


@dataclass(frozen=True, slots=True)
class Wanted:
    """An image to go into an archive.

    Attributes:
        reference: what it is to be called there.
        held: what the engine says of it.
        identity: what it is.
        config_digest: of its config; none where only a save will tell.
    """

    reference: str
    held: Held
    identity: ImageIdentity
    config_digest: str | None


@dataclass(frozen=True, slots=True)
class Plan:
    """All that an archive is to hold.

    Attributes:
        images: in the order they will stand in.
        left_out: images that may not be handed on.
        evidence: a report and what belongs to it; none where only images are wanted.
        subject: the digest of the config of the image that the report hangs on; none where that
            is left out.
    """

    images: tuple[Wanted, ...]
    left_out: tuple[LeftOut, ...] = ()
    evidence: Evidence | None = None
    subject: str | None = None


def make(
    client: docker.DockerClient,
    *,
    report: Path | None,
    names: Sequence[str] = (),
    kept: Path | None = None,
    cassette: Path | None = None,
    restricted: bool = False,
) -> Plan:
    """Find everything.

    Args:
        client: the engine that holds the images.
        report: a report to archive with its images.
        names: images beside those: names of the project's, or names or ids of the engine's.
        kept: where the report's runs kept snapshots.
        cassette: where its recording lies.
        restricted: whether images that may not be handed on are taken too.

    Raises:
        UsageError: nothing to archive, or something of the report is missing.
        CannotStart: the engine lacks images; the message names each.
        AlteredReport: the report, or something of it, is not what its digest says.
    """
    loaded = files.load(report) if report is not None else None
    if loaded is None and (kept is not None or cassette is not None):
        raise UsageError("--kept and --cassette belong to a report, and none is named.")
    search = _Search(client, restricted=restricted)
    for identity in loaded.images if loaded is not None else ():
        search.by_identity(identity)
    search.by_names(names)
    if search.missing:
        count = len(search.missing)
        raise CannotStart(
            f"The engine does not hold {count} of the images: {'; '.join(search.missing)}.",
            hint="Nothing was written. `bench images restore` brings images back out of an"
            " archive, `bench images build` builds those of the files as they are.",
        )
    evidence = None
    if report is not None and loaded is not None:
        evidence = gather(report, loaded, kept=kept, cassette=cassette, published=search.published)
    found = tuple(search.found.values())
    if not found and evidence is None:
        raise UsageError(
            f"None of the images may be handed on: {search.left_out[0].why}",
            hint="--include-restricted archives them all the same, for yourself.",
        )
    return Plan(found, tuple(search.left_out), evidence, _subject(evidence, search.found))


def _subject(evidence: Evidence | None, found: Iterable[str]) -> str | None:
    """The system's image, or the bench's where that is left out."""
    if evidence is None:
        return None
    there = set(found)
    of_report = (image.config_digest for image in evidence.report.images)
    return next((digest for digest in of_report if digest in there), None)


class _Search:
    """Looks for images, and keeps what was found, what is missing and what stays out."""

    def __init__(self, client: docker.DockerClient, *, restricted: bool) -> None:
        self._client = client
        self._restricted = restricted
        self._ids_tell = not engine_io.by_manifest(client)
        self.found: dict[str, Wanted] = {}
        """By the digest of the config, or the engine's id where only that is known."""
        self.missing: list[str] = []
        self.left_out: list[LeftOut] = []

    def by_identity(self, identity: ImageIdentity) -> None:
        """An image that a report names."""
        if self._stays_out(identity):
            return
        layers = None if self._ids_tell else identity.layers
        held = engine_io.find(self._client, identity.config_digest, layers)
        if held is None:
            self.missing.append(f"{identity.name} ({identity.config_digest})")
            return
        if held.diff_ids != identity.layers:
            raise AlteredReport(
                f"{identity.config_digest} has other layers than the report says.",
                hint="The report was altered. Get the original file.",
            )
        self._take(held, identity, identity.config_digest)

    def published(self, identity: ImageIdentity) -> Mapping[str, bytes]:
        """The files of the published runs that an image holds."""
        wanted = self.found.get(identity.config_digest)
        try:
            return upstream.files(wanted.held.id, self._client) if wanted is not None else {}
        except CannotStart:
            return {}  # not an image that holds them

    def by_names(self, names: Sequence[str]) -> None:
        """Images as somebody names them."""
        current = {}
        if any(name in images.names() for name in names):
            rows = [row for row in images.survey(self._client) if row.held is not None]
            current = {
                row.name: row.held.id
                for row in rows
                if row.default and row.state is State.CURRENT and row.held is not None
            }
        for name in names:
            held = self._held(name, current.get)
            if held is None:
                self.missing.append(name)
            elif labels.NAME not in held.labels:
                raise UsageError(f"{name} is not an image of the project.")
            else:
                identity = self._identity(held, name)
                if not self._stays_out(identity):
                    self._take(held, identity, held.id if self._ids_tell else None)

    def _held(self, name: str, current: Callable[[str], str | None]) -> Held | None:
        if name in images.names():
            if name == _BENCH and os.environ.get("BENCH_IMAGE"):
                # What runs this very process, whatever the files are.
                running = images.ensure(_BENCH, client=self._client).config_digest
                return engine_io.inspect(self._client, running)
            image_id = current(name)
            return None if image_id is None else engine_io.inspect(self._client, image_id)
        if "/" not in name and ":" not in name:
            raise UsageError(
                f"There is no image or report {name!r}.",
                hint=f"Images: {', '.join(images.names())}. A report is a file.",
            )
        return engine_io.inspect(self._client, name)

    def _identity(self, held: Held, name: str) -> ImageIdentity:
        found = images.identify(self._client, held.id)
        told = {"name": _reference(held, name)}
        if not found.redistributable and not self._ids_tell:
            told["config_digest"] = engine_io.config_of(self._client, held.id).digest
        return found.model_copy(update=told)

    def _take(self, held: Held, identity: ImageIdentity, config_digest: str | None) -> None:
        why = labels.restriction(held.labels)
        if why and identity.redistributable:
            # A report of before it was known says nothing of it; the image itself does.
            told = {"redistributable": False, "restriction": why}
            if self._stays_out(identity.model_copy(update=told)):
                return
        wanted = Wanted(_reference(held, identity.name), held, identity, config_digest)
        self.found.setdefault(config_digest or held.id, wanted)

    def _stays_out(self, identity: ImageIdentity) -> bool:
        if identity.redistributable or self._restricted:
            return False
        entry = LeftOut(
            name=identity.name,
            config_digest=identity.config_digest,
            layers=identity.layers,
            why=identity.restriction,
        )
        if entry not in self.left_out:
            self.left_out.append(entry)
        return True


def _reference(held: Held, name: str) -> str:
    """What an image is called in an archive: by the name it was built under, or by its digest."""
    known = (name, *held.tags)
    built = next((one for one in known if _BUILT.fullmatch(one) and one != BENCH_LOCAL), None)
    if built is not None:
        return built
    return f"memory-bench/{held.labels.get(labels.NAME) or name_of(name)}:{_short(held.id)}"


def _short(digest: str) -> str:
    return digest.removeprefix("sha256:")[:12]
