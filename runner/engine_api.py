"""Connects the docker SDK to the container engine; for images. Runs speak to it themselves."""

from collections.abc import Mapping

import docker
import docker.errors
from docker.tls import TLSConfig

from runner.engine_address import Address, addresses, is_socket
from runner.errors import CannotStart

__all__ = ["Address", "addresses", "connect", "find"]

_HELLO_S = 5.0
_POOL = 64


def connect(
    timeout_s: float = 60.0, environ: Mapping[str, str] | None = None
) -> docker.DockerClient:
    """A client of the first engine that answers.

    Args:
        timeout_s: bound on every later read from the engine, in seconds; finding an engine has
            a bound of its own of a few seconds.
        environ: the environment to look in; this process's own by default.

    Raises:
        CannotStart: no engine answers; the message says which were tried and what they said.
    """
    client, _ = find(timeout_s, environ)
    return client


def find(
    timeout_s: float = 60.0, environ: Mapping[str, str] | None = None
) -> tuple[docker.DockerClient, Address]:
    """As `connect`, and where the engine was found."""
    tried: list[str] = []
    for address in addresses(environ):
        try:
            return _open(address, timeout_s), address
        except (docker.errors.DockerException, OSError) as error:
            tried.append(f"{address.url} ({address.origin}): {_why(error, address)}")
    if not tried:
        raise CannotStart(
            "No container engine was found.",
            hint="Install and start Docker or podman, or run scripts/bench, which does it.",
        )
    raise CannotStart(
        "No container engine answers. Tried: " + "; ".join(tried) + ".",
        hint="Start it, or name another with DOCKER_HOST. `bench doctor` says more.",
    )


def _open(address: Address, timeout_s: float) -> docker.DockerClient:
    tls: TLSConfig | bool = False
    if address.certificates is not None:
        at = address.certificates
        tls = TLSConfig(
            ca_cert=str(at / "ca.pem"),
            client_cert=(str(at / "cert.pem"), str(at / "key.pem")),
            verify=address.verify,
        )
    client = docker.DockerClient(
        base_url=address.url,
        version="auto",
        timeout=_HELLO_S,
        tls=tls,
        use_ssh_client=address.url.startswith("ssh://"),
        max_pool_size=_POOL,
    )
    client.api.timeout = timeout_s
    return client


def _why(error: Exception, address: Address) -> str:
    socket = address.socket
    if socket is not None and not is_socket(socket):
        return "no socket there"
    text = str(error)
    if "Permission denied" in text or "PermissionError" in text:
        return "permission denied: this user may not use the socket"
    if "ConnectionRefused" in text or "Connection refused" in text:
        return "nothing listens: the engine is not running"
    if "timed out" in text.lower():
        return f"no answer within {_HELLO_S:g} s"
    return text
