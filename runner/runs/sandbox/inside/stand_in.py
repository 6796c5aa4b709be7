"""Stands in, inside the control's own network namespace, for everything a probe tries to reach.

It takes the very addresses that the probes dial onto the loopback and listens there, so that the
same probes succeed while no packet leaves the container. It ends when its standard input does.
"""

import contextlib
import fcntl
import json
import os
import socket
import struct
import sys
import threading
import time
from typing import NoReturn

SIOCSIFADDR, SIOCSIFNETMASK = 0x8916, 0x891C
TCP_PORTS = (80, 443)
NOBODY = 10001
ABSTRACT = "\0memory-bench-control"
ENGINE_SOCKET = "/run/control/docker.sock"
SETUID_PROGRAM = "/usr/local/bin/memory-bench-setuid"


def own(address: str, number: int) -> bool:
    """Put one address on the loopback; whether it is ours now."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with contextlib.suppress(OSError):
        (_take6 if family == socket.AF_INET6 else _take4)(address, number)
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.bind((address, 0))
    except OSError:
        return False
    return True


def _take4(address: str, number: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for request, value in ((SIOCSIFADDR, address), (SIOCSIFNETMASK, "255.255.255.255")):
            sockaddr = struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(value))
            fcntl.ioctl(sock, request, struct.pack("16s16s8x", b"lo:%d" % number, sockaddr))


def _take6(address: str, number: int) -> None:
    with open("/proc/sys/net/ipv6/conf/lo/disable_ipv6", "w") as file:
        file.write("0")
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        raw = socket.inet_pton(socket.AF_INET6, address)
        fcntl.ioctl(sock, SIOCSIFADDR, struct.pack("=16sIi", raw, 128, socket.if_nametoindex("lo")))
    time.sleep(0.01)


def _listen(family: int, address: "str | tuple[str, int]") -> None:
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    sock.bind(address)
    sock.listen(64)

    def serve() -> NoReturn:
        while True:
            sock.accept()[0].close()

    threading.Thread(target=serve, daemon=True).start()


def _resolve() -> None:
    """A resolver that knows one address for every name."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("0.0.0.0", 53))  # noqa: S104

    def serve() -> NoReturn:
        while True:
            question, who = sock.recvfrom(512)
            end = question.index(b"\0", 12) + 5
            asks_address = question[end - 4 : end - 2] == b"\0\1"
            head = question[:2] + struct.pack(">HHHHH", 0x8180, 1, int(asks_address), 0, 0)
            answer = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + socket.inet_aton("127.0.0.1")
            sock.sendto(head + question[12:end] + (answer if asks_address else b""), who)

    threading.Thread(target=serve, daemon=True).start()


def _somebody_else() -> None:
    """A process of another user."""
    if os.fork() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        while True:  # until the first process ends, and the container with it
            time.sleep(60)


def _setuid_program() -> None:
    """A program that runs as root whoever starts it, for images that have none."""
    with open("/bin/cat", "rb") as source, open(SETUID_PROGRAM, "wb") as target:
        target.write(source.read())
    os.chmod(SETUID_PROGRAM, 0o4755)  # noqa: S103


def main(addresses: list[str]) -> None:
    """Take the addresses, listen, say which are ours, and wait for the end of input."""
    owned = [address for number, address in enumerate(addresses, 1) if own(address, number)]
    _somebody_else()
    _setuid_program()
    for port in TCP_PORTS:
        _listen(socket.AF_INET, ("0.0.0.0", port))  # noqa: S104
        if any(":" in address for address in owned):
            _listen(socket.AF_INET6, ("::", port))
    _resolve()
    _listen(socket.AF_UNIX, ABSTRACT)
    if os.path.isdir(os.path.dirname(ENGINE_SOCKET)):
        _listen(socket.AF_UNIX, ENGINE_SOCKET)
    print(json.dumps({"event": "ready", "owned": owned}), flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
