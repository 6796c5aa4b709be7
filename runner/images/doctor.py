"""What of this machine would keep the bench from running, and what to do about it."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import docker
import docker.errors
import requests

from runner import engine_api, paths
from runner.engine_api import Address
from runner.errors import CannotStart
from runner.images import _buildx, _debian, _source, labels
from runner.images.identity import INSPECTING

Level = Literal["ok", "warning", "problem"]

OLDEST_API = (1, 41)
PLENTY_BYTES = 5_000_000_000
"""Room that every image, its build and the runs fit in without a thought."""
LEAST_BYTES = 1_500_000_000
"""Room below which a build is bound to fail."""

_COMMAND_S = 15.0
_ARCHITECTURES = {"x86_64", "amd64", "aarch64", "arm64"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        level: ``ok``, ``warning`` (the bench runs, with less) or ``problem`` (it will not).
        what: what was looked at, a word or two.
        detail: what was seen.
        next_step: what to do about it; empty when all is well.
    """

    level: Level
    what: str
    detail: str
    next_step: str = ""


def examine() -> tuple[Finding, ...]:
    """Looks at everything; never raises for what it finds. Takes a few seconds at most."""
    return tuple(_examine())


def _examine() -> Iterator[Finding]:
    yield state_folder(paths.state_dir())
    yield certificates(os.environ)
    try:
        client, address = engine_api.find(timeout_s=_COMMAND_S)
    except CannotStart as error:
        yield Finding("problem", "engine", error.message, error.hint)
        return
    try:
        checks: tuple[Callable[[], Iterator[Finding]], ...] = (
            lambda: engine(client, address),
            lambda: buildx(address),
            lambda: images(client),
            lambda: start(client),
        )
        for check in checks:
            try:
                yield from check()
            except (docker.errors.DockerException, requests.RequestException) as error:
                yield Finding(
                    "problem",
                    "engine",
                    f"it stopped answering, or refused: {error}",
                    "Look at the engine's own log, then run this again.",
                )
    finally:
        client.close()


def state_folder(folder: Path) -> Finding:
    """Whether what is remembered between runs can be kept."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        return Finding("ok", "state folder", str(folder))
    return Finding(
        "problem",
        "state folder",
        f"{folder} cannot be written",
        "Make it writable, or name another in BENCH_STATE.",
    )


def certificates(environ: Mapping[str, str]) -> Finding:
    """What builds are to trust beyond the public authorities."""
    what = "certificates"
    for name in ("BENCH_CA", "SSL_CERT_FILE"):
        given = environ.get(name)
        if given and not Path(given).is_file():
            return Finding(
                "problem", what, f"{name} names {given}, which is no file", f"Mend or unset {name}."
            )
    bundle = _buildx.certificates()
    detail = f"builds are lent {bundle}" if bundle else "builds trust the public authorities"
    return Finding("ok", what, detail)


def engine(client: docker.DockerClient, address: Address) -> Iterator[Finding]:
    """The engine: its version, and what it can hold a container to."""
    version: dict[str, Any] = client.version()
    info: dict[str, Any] = client.info()
    where = f"{address.url} ({address.origin})"
    api = tuple(int(part) for part in version["ApiVersion"].split("."))
    if api < OLDEST_API:
        wanted = ".".join(map(str, OLDEST_API))
        yield Finding(
            "problem",
            "engine",
            f"{version['Version']} at {where} speaks API {version['ApiVersion']}",
            f"The bench needs API {wanted}: Docker 20.10 or newer.",
        )
    else:
        yield Finding("ok", "engine", f"{version['Version']} at {where}")
    yield from machine(info)
    yield room(Path(info.get("DockerRootDir") or "/"), local=address.socket is not None)


def machine(info: Mapping[str, Any]) -> Iterator[Finding]:
    """What the engine says of the kernel below it."""
    system, architecture = info.get("OSType", "linux"), info.get("Architecture", "")
    if system != "linux" or architecture not in _ARCHITECTURES:
        yield Finding(
            "problem",
            "platform",
            f"containers are {system}/{architecture}",
            "The images are made for linux on x86_64 and aarch64.",
        )
    else:
        yield Finding("ok", "platform", f"{system}/{architecture}")
    options = " ".join(info.get("SecurityOptions") or ())
    if "seccomp" in options:
        yield Finding("ok", "seccomp", "system calls can be filtered")
    else:
        yield Finding(
            "problem",
            "seccomp",
            "the engine cannot filter system calls, so a sandbox would leak",
            "Use a kernel and an engine with seccomp.",
        )
    lacking = [
        name
        for name, key in (("memory", "MemoryLimit"), ("processes", "PidsLimit"))
        if not info.get(key)
    ]
    group = f"cgroup v{info.get('CgroupVersion', '?')}, {info.get('CgroupDriver', '?')}"
    if lacking:
        yield Finding(
            "warning",
            "limits",
            f"{group}: no limit on {' and '.join(lacking)} is enforced; reports will say so",
            "For a rootless engine, delegate these controllers to the user.",
        )
    else:
        yield Finding("ok", "limits", group)


def room(folder: Path, *, local: bool) -> Finding:
    """Room on the disk that holds images."""
    if not local or not folder.exists():
        return Finding("ok", "disk", f"{folder} is not on this machine: not looked at")
    free = shutil.disk_usage(folder).free
    detail = f"{free / 1e9:.1f} GB free in {folder}"
    if free < LEAST_BYTES:
        return Finding(
            "problem", "disk", detail, "Make room: bench clean, then docker system prune."
        )
    if free < PLENTY_BYTES:
        return Finding("warning", "disk", detail, "bench clean removes what the bench left.")
    return Finding("ok", "disk", detail)


def buildx(address: Address) -> Iterator[Finding]:
    """The command that builds images."""
    for plugin, level in (("buildx", "problem"), ("compose", "warning")):
        said = _command(["docker", plugin, "version"], address)
        if said is not None:
            yield Finding("ok", plugin, said.splitlines()[0] if said else "there")
        elif level == "problem":
            yield Finding(
                "problem",
                plugin,
                "`docker buildx` does not run, and builds go through it",
                "Install docker-buildx; scripts/bench does it on Debian.",
            )
        elif not os.environ.get("BENCH_IMAGE"):
            yield Finding(
                "warning",
                plugin,
                "`docker compose` does not run; only `docker compose run` needs it",
                "Install docker-compose 2; scripts/bench does it on Debian.",
            )


def images(client: docker.DockerClient) -> Iterator[Finding]:
    """The base image, or what it could be made from."""
    wanted = _source.recipe(_source.BASE)
    try:
        found = client.api.inspect_image(wanted.tag)
    except docker.errors.ImageNotFound:
        yield _obtainable()
        return
    origin = found["Config"]["Labels"].get(labels.BASE, "?")
    yield Finding("ok", "base image", f"{wanted.tag} from {origin}")


def _obtainable() -> Finding:
    what = "base image"
    image = _source.settings()["DEBIAN_IMAGE"]
    if _debian.ask_registry(image):
        return Finding("ok", what, f"not built yet; a registry answers and has {image}")
    if debian := _debian.held():
        return Finding("ok", what, f"not built yet; {debian.reference} is here to build it on")
    if missing := _debian.missing():
        return Finding(
            "problem",
            what,
            f"not built yet; no registry gave {image} within {_debian.PROBE_S:g} s, "
            f"and it cannot be built from packages: {missing}",
            "Run scripts/bench as root on Debian once, with this engine.",
        )
    return Finding("ok", what, "not built yet; no registry answers, so Debian packages are used")


def start(client: docker.DockerClient) -> Iterator[Finding]:
    """Whether the engine can start a container at all, tried where there is an image to try."""
    tag = _source.recipe(_source.BASE).tag
    try:
        made = client.api.create_container(
            tag,
            command=["true"],
            host_config=client.api.create_host_config(network_mode="none"),
            labels={labels.ROLE: INSPECTING},
        )
    except docker.errors.ImageNotFound:
        return
    try:
        client.api.start(made["Id"])
        code = client.api.wait(made["Id"], timeout=_COMMAND_S)["StatusCode"]
    except (docker.errors.APIError, requests.RequestException) as error:
        yield Finding(
            "problem",
            "start",
            f"a container of {tag} did not start: {error}",
            "Look at the engine's own log; restarting the engine often helps.",
        )
        return
    finally:
        client.api.remove_container(made["Id"], v=True, force=True)
    if code == 0:
        yield Finding("ok", "start", "a container without a network started and ended")
    else:
        yield Finding(
            "problem", "start", f"a container of {tag} ended with {code}", "Rebuild: bench clean."
        )


def _command(command: list[str], address: Address) -> str | None:
    try:
        done = subprocess.run(
            command,
            env=_buildx.cli_environment(address),
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_COMMAND_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
