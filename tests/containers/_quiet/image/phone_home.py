"""The control: a driver that phones home in every way it is told to, while it answers.

    python3 -I phone_home.py WAY...

None of the names and addresses is anybody's: they are kept for documents (RFC 2606, 5737, 3849).
"""

import ctypes
import json
import platform
import socket
import ssl
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable

PATIENCE_S = 5.0


def http() -> None:
    """Usage by plain HTTP, as a statistics client sends it."""
    body = json.dumps({"event": "asked"}).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.open("http://telemetry.example.com/capture", body, PATIENCE_S).close()


def tls() -> None:
    """A check for updates."""
    with socket.create_connection(("updates.example.org", 443), PATIENCE_S) as plain:
        ssl.create_default_context().wrap_socket(plain, server_hostname="updates.example.org")


def address() -> None:
    """A connection that asks for no name."""
    socket.create_connection(("192.0.2.1", 443), PATIENCE_S).close()


def datagram() -> None:
    """A count to a collector, with no connection at all."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"asked:1|c", ("198.51.100.7", 8125))


def six() -> None:
    """The same by the newer protocol."""
    with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as caller:
        caller.settimeout(PATIENCE_S)
        caller.connect(("2001:db8::7", 443))


def static() -> None:
    """A child that is linked statically, which no preloaded library would see."""
    command = ["/usr/bin/busybox", "wget", "-q", "-O", "/dev/null", "http://static.example.net/"]
    subprocess.run(command, timeout=PATIENCE_S, check=True, capture_output=True)


def bare() -> None:
    """The kernel asked without the C library's functions, in a thread."""
    sockaddr = socket.AF_INET.to_bytes(2, sys.byteorder) + (80).to_bytes(2, "big")
    sockaddr += socket.inet_aton("203.0.113.9") + bytes(8)
    number = {"x86_64": 42, "aarch64": 203}[platform.machine()]

    def call() -> None:
        with socket.socket() as caller:
            ctypes.CDLL(None).syscall(number, caller.fileno(), sockaddr, len(sockaddr))

    caller = threading.Thread(target=call)
    caller.start()
    caller.join()


def family() -> None:
    """The way to the hypervisor, which no network namespace shuts; opened and not used."""
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()


WAYS: dict[str, Callable[[], None]] = {
    way.__name__: way for way in (http, tls, address, datagram, six, static, bare, family)
}


def main() -> None:
    """Answer a line at a time; the ways are taken on ``ask``."""
    for line in sys.stdin:
        asked = json.loads(line)
        tried = {}
        for way in sys.argv[1:] if asked["verb"] == "ask" else ():
            try:
                WAYS[way]()
                tried[way] = "done"
            except Exception as error:  # a statistics client never troubles its user
                tried[way] = f"{type(error).__name__}: {error}"
        print(json.dumps({"id": asked["id"], "ok": True, "result": {"tried": tried}}), flush=True)
        if asked["verb"] == "stop":
            return


if __name__ == "__main__":
    main()
