"""Where a container engine may answer, for everything here that talks to one.

First match wins:

1. ``DOCKER_HOST`` (with ``DOCKER_TLS_VERIFY`` and ``DOCKER_CERT_PATH``);
2. the CLI's context, from ``DOCKER_CONTEXT`` or the ``currentContext`` of its configuration;
3. the sockets that engines make: the system's, the user's own (rootless), podman's.

The first two are the user's choice: when that engine does not answer no other is tried.
"""

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.errors import CannotStart


@dataclass(frozen=True, slots=True)
class Address:
    """Where an engine answers.

    Attributes:
        url: ``unix://``, ``tcp://`` or ``ssh://``, as ``DOCKER_HOST`` takes it.
        origin: who named it, for messages.
        chosen: whether the user named it, so that nothing else may be used in its place.
        certificates: a folder with ``ca.pem``, ``cert.pem`` and ``key.pem``, for TLS.
        verify: whether the engine's certificate is checked.
    """

    url: str
    origin: str
    chosen: bool = False
    certificates: Path | None = None
    verify: bool = True

    @property
    def socket(self) -> Path | None:
        """The Unix socket, where the address is one."""
        return Path(self.url.removeprefix("unix://")) if self.url.startswith("unix://") else None

    def environment(self) -> dict[str, str]:
        """What makes the ``docker`` command talk to this very engine."""
        env = {"DOCKER_HOST": self.url}
        if self.certificates is not None:
            env["DOCKER_CERT_PATH"] = str(self.certificates)
            env["DOCKER_TLS_VERIFY"] = "1" if self.verify else ""
        return env


def addresses(environ: Mapping[str, str] | None = None) -> tuple[Address, ...]:
    """Every place an engine may answer, in order of preference.

    Raises:
        CannotStart: the CLI's context is named but not described, or not for an engine.
    """
    env = os.environ if environ is None else environ
    if host := env.get("DOCKER_HOST"):
        return (_from_host(host, env),)
    if context := _from_context(env):
        return (context,)
    places = [
        ("the system's socket", Path("/var/run/docker.sock")),
        ("the user's rootless socket", _runtime_dir(env) / "docker.sock"),
        ("the desktop's socket", _home(env) / ".docker/run/docker.sock"),
        ("podman's socket", _runtime_dir(env) / "podman/podman.sock"),
        ("podman's system socket", Path("/run/podman/podman.sock")),
    ]
    return tuple(
        Address(f"unix://{path}", origin, chosen=False)
        for origin, path in places
        if is_socket(path)
    )


def _from_host(host: str, env: Mapping[str, str]) -> Address:
    secured = host.startswith("tcp://") and (
        env.get("DOCKER_TLS_VERIFY") or env.get("DOCKER_CERT_PATH")
    )
    folder = Path(env.get("DOCKER_CERT_PATH") or _config(env)) if secured else None
    return Address(
        host, "DOCKER_HOST", True, certificates=folder, verify=bool(env.get("DOCKER_TLS_VERIFY"))
    )


def _from_context(env: Mapping[str, str]) -> Address | None:
    config = _config(env)
    name = env.get("DOCKER_CONTEXT") or _current_context(config / "config.json")
    if name in (None, "", "default"):
        return None
    assert name is not None
    # The CLI files a context under the digest of its name.
    key = hashlib.sha256(name.encode()).hexdigest()
    try:
        meta = json.loads((config / "contexts/meta" / key / "meta.json").read_bytes())
        endpoint = meta["Endpoints"]["docker"]
        host = endpoint["Host"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotStart(
            f"The docker context {name!r} cannot be read ({error}).",
            hint="`docker context ls` lists them; `docker context use default` goes back.",
        ) from error
    certificates = config / "contexts/tls" / key / "docker"
    return Address(
        host,
        f"docker context {name!r}",
        chosen=True,
        certificates=certificates if certificates.is_dir() else None,
        verify=not endpoint.get("SkipTLSVerify", False),
    )


def _current_context(file: Path) -> str | None:
    try:
        found = json.loads(file.read_bytes()).get("currentContext")
    except (OSError, ValueError, AttributeError):
        return None
    return found if isinstance(found, str) else None


def _config(env: Mapping[str, str]) -> Path:
    return Path(env.get("DOCKER_CONFIG") or _home(env) / ".docker")


def _home(env: Mapping[str, str]) -> Path:
    return Path(env.get("HOME") or "/")


def _runtime_dir(env: Mapping[str, str]) -> Path:
    return Path(env.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")


def is_socket(path: Path) -> bool:
    """Whether a socket lies there."""
    try:
        return stat.S_ISSOCK(path.stat().st_mode)
    except OSError:
        return False
