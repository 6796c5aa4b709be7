"""Which container engine to talk to: what the user chose, else the first socket that is there."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.errors import CannotStart


@dataclass(frozen=True, slots=True)
class Address:
    """Where an engine may answer.

    Attributes:
        url: ``unix:///path`` or ``tcp://host:port``.
        source: where it was read, for people.
        tls: folder with ``ca.pem``, ``cert.pem`` and ``key.pem``; none for plain.
        verify: whether the engine's certificate is checked.
    """

    url: str
    source: str
    tls: Path | None = None
    verify: bool = True


def candidates(environ: Mapping[str, str], home: Path) -> tuple[Address, ...]:
    """The addresses to try, best first.

    A choice the user made (``DOCKER_HOST``, or the command line client's context) is the only one:
    a run on another engine than the one asked for would be a surprise.

    Raises:
        CannotStart: the chosen context cannot be read.
    """
    config = Path(environ.get("DOCKER_CONFIG") or home / ".docker")
    if url := environ.get("DOCKER_HOST"):
        tls = None
        if environ.get("DOCKER_TLS_VERIFY"):
            tls = Path(environ.get("DOCKER_CERT_PATH") or config)
        return (Address(url, "DOCKER_HOST", tls),)
    name = environ.get("DOCKER_CONTEXT") or _current_context(config)
    if name and name != "default":
        return (_context(config, name),)
    runtime = environ.get("XDG_RUNTIME_DIR")
    sockets = [("the default socket", "/var/run/docker.sock")]
    if runtime:
        sockets.append(("the rootless socket", f"{runtime}/docker.sock"))
    sockets.append(("podman's socket", "/run/podman/podman.sock"))
    if runtime:
        sockets.append(("podman's rootless socket", f"{runtime}/podman/podman.sock"))
    return tuple(Address(f"unix://{path}", source) for source, path in sockets)


def _current_context(config: Path) -> str | None:
    try:
        name = json.loads((config / "config.json").read_bytes()).get("currentContext")
    except (OSError, ValueError, AttributeError):
        return None
    return name if isinstance(name, str) else None


def _context(config: Path, name: str) -> Address:
    folder = hashlib.sha256(name.encode()).hexdigest()
    meta = config / "contexts" / "meta" / folder / "meta.json"
    try:
        endpoint = json.loads(meta.read_bytes())["Endpoints"]["docker"]
        url = str(endpoint["Host"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotStart(
            f"The engine context {name!r} cannot be read from {meta}.",
            hint="See `docker context ls`, or set DOCKER_HOST.",
        ) from error
    tls = config / "contexts" / "tls" / folder / "docker"
    return Address(
        url,
        f"the context {name!r}",
        tls if tls.is_dir() else None,
        verify=not endpoint.get("SkipTLSVerify", False),
    )
