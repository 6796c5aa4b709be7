"""Sockets to the engine: over a file, over TCP, over TCP with TLS."""

import http.client
import socket
import ssl
import time
from urllib.parse import urlsplit

from runner.engine_address import Address
from runner.errors import CannotStart


class Connection(http.client.HTTPConnection):
    """An HTTP connection over whatever leads to the engine."""

    def __init__(self, address: Address, end: float) -> None:
        super().__init__("engine")
        self._address = address
        self._end = end
        self.sock: socket.socket

    def connect(self) -> None:
        self.sock = open_socket(self._address, self._end)


def open_socket(address: Address, end: float) -> socket.socket:
    """A connected socket to the engine.

    Raises:
        OSError: nobody answers there in time.
        CannotStart: an address of a kind that cannot be spoken to.
    """
    url = urlsplit(address.url)
    if url.scheme == "unix":
        sock = socket.socket(socket.AF_UNIX)
        try:
            sock.settimeout(left(end))
            sock.connect(url.path)
        except BaseException:
            sock.close()
            raise
        return sock
    if url.scheme in ("tcp", "http", "https"):
        sock = socket.create_connection((url.hostname, url.port or 2375), timeout=left(end))
        if address.certificates is None and url.scheme != "https":
            return sock
        try:
            return _tls(address).wrap_socket(sock, server_hostname=url.hostname)
        except BaseException:
            sock.close()
            raise
    raise CannotStart(
        f"An engine at {address.url!r} (from {address.origin}) cannot be spoken to, "
        "only ones at unix:// and tcp://.",
        hint="Forward its socket, for example with `ssh -L`, and point DOCKER_HOST at that.",
    )


def _tls(address: Address) -> ssl.SSLContext:
    folder = address.certificates
    authority = folder / "ca.pem" if folder is not None and (folder / "ca.pem").is_file() else None
    context = ssl.create_default_context(cafile=authority)
    if not address.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if folder is not None and (folder / "cert.pem").is_file():
        context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


def left(end: float) -> float:
    """Seconds until ``end`` of the monotonic clock; TimeoutError when it has passed."""
    seconds = end - time.monotonic()
    if seconds <= 0:
        raise TimeoutError("timed out")
    return seconds
