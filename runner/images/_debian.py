"""The Debian underneath everything: a public image where a registry answers, else from packages."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import docker
import docker.errors
import requests

from runner import engine_api, paths
from runner.engine_api import Address
from runner.errors import CannotStart, UsageError
from runner.images import _mirrors, _source, labels, locks
from runner.images._buildx import Progress, cli_environment

PACKAGES = "debian-packages:"
"""How the origin of a base begins that no registry had a part in."""

PROBE_S = 3.0
_CHOICES = ("auto", "registry", "packages")
_DEADLINE_S = 900.0
NAME = "debian"


@dataclass(frozen=True, slots=True)
class Debian:
    """A Debian image to build on.

    Attributes:
        reference: what a Dockerfile's FROM takes.
        origin: where it came from, for the report.
    """

    reference: str
    origin: str


def obtain(
    address: Address, progress: Progress, snapshot: str | None = None, *, anew: bool = False
) -> Debian:
    """The Debian to build on. ``BENCH_DEBIAN`` chooses: ``auto``, ``registry``, ``packages``.

    Args:
        address: the engine.
        progress: told each step.
        snapshot: a moment whose packages it is made of, whatever ``BENCH_DEBIAN`` says.
        anew: make it again where it is made from packages.

    Raises:
        CannotStart: no registry answers and packages cannot be used on this machine either.
        UsageError: ``BENCH_DEBIAN`` is none of the three.
    """
    choice = os.environ.get("BENCH_DEBIAN", "auto")
    if choice not in _CHOICES:
        raise UsageError(f"BENCH_DEBIAN is {choice!r}.", hint=f"It takes {', '.join(_CHOICES)}.")
    if snapshot is not None:
        _mirrors.reach(snapshot, _source.settings()["DEBIAN_SUITE"])
        return _from_packages(address, progress, snapshot)
    image = _source.settings()["DEBIAN_IMAGE"]
    if choice != "packages":
        progress(f"asking the engine's registry for {image}")
        if digest := ask_registry(image):
            return Debian(f"{image}@{digest}", f"{image}@{digest}")
        if choice == "registry":
            raise CannotStart(
                f"No registry gave {image} within {PROBE_S:g} s.",
                hint="BENCH_DEBIAN=packages builds it from Debian packages.",
            )
        progress("no image registry answers: taking Debian from its packages")
    return (None if anew else held()) or _from_packages(address, progress)


def ask_registry(image: str, timeout_s: float = PROBE_S) -> str | None:
    """The digest of a public image as the engine's registry knows it; none when none answers.

    The engine is asked, not the network: it is the engine that would pull, with its own mirrors
    and proxies.
    """
    client = engine_api.connect(timeout_s)
    try:
        found = client.api.inspect_distribution(image)
    except (docker.errors.DockerException, requests.RequestException):
        return None
    finally:
        client.close()
    digest: str = found["Descriptor"]["digest"]
    return digest


def held() -> Debian | None:
    """A Debian that was made here from packages before, in the way it would be made now."""
    client = engine_api.connect()
    try:
        wanted = [f"{labels.NAME}={NAME}", f"{labels.SOURCE}={way()}"]
        found = client.api.images(filters={"label": wanted})
    finally:
        client.close()
    named = [one for one in found if one["RepoTags"]]
    if not named:
        return None
    newest = max(named, key=lambda one: one["Created"])
    return Debian(newest["RepoTags"][0], newest["Labels"][labels.BASE])


def way() -> str:
    """A digest of how Debian is made; of what is made the packages decide, and their day."""
    folder = paths.images() / _source.BASE
    parts = [(folder / name).read_bytes() for name in ("make-debian", "debian.env")]
    # A renewed lock asks for the packages it was renewed by.
    lock = locks.file(_source.BASE)
    parts.append(lock.read_bytes() if lock.is_file() else b"")
    return hashlib.sha256(b"\0".join([*parts, _mirrors.mirrors().archive.encode()])).hexdigest()


def _from_packages(address: Address, progress: Progress, snapshot: str | None = None) -> Debian:
    if lacking := missing():
        why = "No image registry answers" if snapshot is None else "No registry has that day"
        raise CannotStart(
            f"{why}, and Debian cannot be built from packages: {lacking}.",
            hint="Run scripts/bench as root on a Debian machine with this engine, once.",
        )
    suite = _source.settings()["DEBIAN_SUITE"]
    with tempfile.TemporaryDirectory(prefix="memory-bench-") as folder:
        archive = Path(folder) / "debian.tar"
        progress(f"collecting the packages of Debian {suite}")
        _make(archive, snapshot)
        # The engine's digest of an imported layer is that of the archive.
        with archive.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        origin = f"{PACKAGES}{suite}@sha256:{digest}"
        reference = f"memory-bench/{NAME}:{digest[:12]}"
        if not _holds(reference):
            progress(f"handing them to the engine as {reference}")
            _import(address, archive, reference, origin)
    return Debian(reference, origin)


def missing() -> str:
    """What keeps this machine from building Debian from packages; empty when nothing does."""
    if shutil.which("mmdebstrap") is None:
        return "mmdebstrap is not installed"
    if os.geteuid() != 0:
        return "that needs root"
    return ""


def _holds(reference: str) -> bool:
    """Whether the engine holds just that, made in the way it would be made now."""
    client = engine_api.connect()
    try:
        found = client.api.inspect_image(reference)
    except docker.errors.ImageNotFound:
        return False
    finally:
        client.close()
    held_way: str = found["Config"]["Labels"][labels.SOURCE]
    return held_way == way()


def _make(archive: Path, snapshot: str | None) -> None:
    lines = _mirrors.mirrors(snapshot).lines(_source.settings()["DEBIAN_SUITE"])
    command = [str(paths.images() / _source.BASE / "make-debian"), *lines]
    with archive.open("wb") as out:
        done = _run(command, out)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()[-2000:]
        raise CannotStart(
            f"mmdebstrap failed with code {done.returncode}:\n{said}\n",
            hint="It needs a Debian mirror; BENCH_DEBIAN_MIRROR names another.",
        )


def _import(address: Address, archive: Path, reference: str, origin: str) -> None:
    command = ["docker", "import"]
    marks = {labels.NAME: NAME, labels.BASE: origin, labels.SOURCE: way()}
    for key, value in marks.items():
        command += ["--change", f"LABEL {key}={value}"]
    command += [str(archive), reference]
    done = _run(command, subprocess.DEVNULL, cli_environment(address))
    if done.returncode != 0:
        raise CannotStart(
            f"The engine did not take the Debian image: {done.stderr.decode(errors='replace')}",
            hint="`bench doctor` checks the engine and its disk.",
        )


def _run(
    command: list[str], out: IO[bytes] | int, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            command,
            env=env,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            timeout=_DEADLINE_S,
        )
    except subprocess.TimeoutExpired as error:
        raise CannotStart(
            f"{command[0]} did not finish within {_DEADLINE_S:g} s.", hint="Try again."
        ) from error
