"""Probes for everything a packet or a socket could reach."""

import errno
import os
import socket
import struct
from collections.abc import Callable

from runner.runs.sandbox.inside.report import (
    BLOCKED,
    ESCAPED,
    INAPPLICABLE,
    Config,
    Found,
    Verdict,
    collect,
    name,
)

CONNECT_S = 0.4
PUBLIC = (("1.1.1.1", 443), ("1.1.1.1", 80), ("8.8.8.8", 443))
RESOLVERS = ("1.1.1.1", "8.8.8.8", "127.0.0.11")
METADATA = ("169.254.169.254", "fd00:ec2::254")
IPV6 = (("2606:4700:4700::1111", 443), ("2001:4860:4860::8888", 443))
HOST_PORTS = (22, 2375)
LOOKUP = "example.com"

# The kernel's own words for "there is no way there". Anything else, a refusal or a silence, means
# that a packet left: from a box without interfaces none does.
NO_WAY = {
    errno.ENETUNREACH,
    errno.EADDRNOTAVAIL,
    errno.EAFNOSUPPORT,
    errno.EPERM,
    errno.EACCES,
}
AF_PACKET, AF_KEY, AF_ALG, AF_VSOCK, AF_XDP = 17, 15, 38, 40, 44
NETLINK_KOBJECT_UEVENT = 15
CID_HYPERVISOR, CID_LOCAL, CID_HOST = 0, 1, 2


def public_address(config: Config) -> list[Found]:
    """Addresses on the internet, over TCP and UDP."""
    targets: dict[str, Verdict] = {}
    for address, port in PUBLIC:
        targets[f"tcp {address}:{port}"] = _tcp(address, port)
        targets[f"udp {address}:{port}"] = _udp(address, port)
    return collect(config, "public-address", targets, "addresses")


def host(config: Config) -> list[Found]:
    """The machine itself, by any address it is known by; a refused connection has reached it."""
    targets = {
        f"{address}:{port}": _tcp(address, port)
        for address in config.get("hosts", ())
        for port in config.get("host_ports", HOST_PORTS)
    }
    return collect(config, "host", targets, "addresses")


def dns(config: Config) -> list[Found]:
    """Names: through the resolver library, and by asking resolvers themselves."""
    rows = []
    try:
        addresses = {str(entry[4][0]) for entry in socket.getaddrinfo(LOOKUP, 443)}
        rows.append(Found("dns", LOOKUP, ESCAPED, "resolved to " + ", ".join(sorted(addresses))))
    except OSError as error:
        rows.append(Found("dns", LOOKUP, BLOCKED, str(error)))
    targets = {f"udp {server}:53": _ask(server) for server in (*_resolvers(), *RESOLVERS)}
    return rows + collect(config, "dns", targets, "resolvers")


def metadata(config: Config) -> list[Found]:
    """The address at which clouds hand out credentials."""
    return collect(
        config, "metadata", {f"{host}:80": _tcp(host, 80) for host in METADATA}, "addresses"
    )


def ipv6(config: Config) -> list[Found]:
    """The internet's other half, which rules are often forgotten for."""
    if not socket.has_ipv6:
        return [Found("ipv6", "addresses", INAPPLICABLE, "this kernel has no IPv6")]
    return collect(
        config, "ipv6", {f"[{host}]:{port}": _tcp(host, port) for host, port in IPV6}, "addresses"
    )


def interface(config: Config) -> list[Found]:
    """A network interface that is up, other than the loopback."""
    up = {}
    for device in os.listdir("/sys/class/net"):
        try:
            with open(f"/sys/class/net/{device}/flags") as file:
                flags = int(file.read(), 16)
        except OSError:
            continue
        if not flags & 0x8:  # IFF_LOOPBACK
            up[device] = (ESCAPED, "is up") if flags & 0x1 else (BLOCKED, "is down")
    return (
        collect(config, "interface", up, "interfaces")
        if up
        else [Found("interface", "interfaces", BLOCKED, "only the loopback")]
    )


def raw_socket(config: Config) -> list[Found]:
    """Packets made by hand."""
    kinds = {
        "icmp": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
        "ip": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW),
        "icmp6": lambda: socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6),
    }
    return _openings(config, "raw-socket", kinds)


def packet_socket(config: Config) -> list[Found]:
    """Frames below IP."""
    kinds = {
        "raw": lambda: socket.socket(AF_PACKET, socket.SOCK_RAW, socket.htons(3)),
        "cooked": lambda: socket.socket(AF_PACKET, socket.SOCK_DGRAM, socket.htons(3)),
    }
    return _openings(config, "packet-socket", kinds)


def vsock(config: Config) -> list[Found]:
    """The hypervisor, which no network namespace keeps apart."""
    try:
        opened = socket.socket(AF_VSOCK, socket.SOCK_STREAM)
    except OSError as error:
        return [Found("vsock", "socket", BLOCKED, name(error.errno or 0))]
    opened.close()
    answers = []
    for cid in (CID_HYPERVISOR, CID_LOCAL, CID_HOST):
        with socket.socket(AF_VSOCK, socket.SOCK_STREAM) as sock:
            sock.settimeout(CONNECT_S)
            try:
                code = sock.connect_ex((cid, 1024))
            except OSError as error:
                code = error.errno or 0
        answers.append(f"cid {cid}: {name(code) if code else 'connected'}")
    return [Found("vsock", "socket", ESCAPED, "opened; " + ", ".join(answers))]


def other_socket(config: Config) -> list[Found]:
    """Families and protocols no memory needs, each a way into the kernel."""
    kinds = {
        "alg": lambda: socket.socket(AF_ALG, socket.SOCK_SEQPACKET),
        "key": lambda: socket.socket(AF_KEY, socket.SOCK_RAW, 2),
        "xdp": lambda: socket.socket(AF_XDP, socket.SOCK_RAW),
        "netlink uevent": lambda: socket.socket(
            socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_KOBJECT_UEVENT
        ),
    }
    return _openings(config, "other-socket", kinds)


def abstract_socket(config: Config) -> list[Found]:
    """Unix sockets without a file, kept apart by network namespace: any of no process here."""
    ours = set()
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            for descriptor in os.listdir(f"/proc/{process}/fd"):
                ours.add(os.readlink(f"/proc/{process}/fd/{descriptor}"))
        except OSError:
            continue
    targets: dict[str, Verdict] = {}
    with open("/proc/net/unix") as file:
        lines = file.read().splitlines()[1:]
    for line in lines:
        fields = line.split(None, 7)
        if len(fields) == 8 and fields[7].startswith("@") and f"socket:[{fields[6]}]" not in ours:
            targets[fields[7]] = _unix("\0" + fields[7][1:])
    if not targets:
        return [Found("abstract-socket", "/proc/net/unix", BLOCKED, "none that is not ours")]
    return collect(config, "abstract-socket", targets, "sockets")


def engine_socket(config: Config) -> list[Found]:
    """Sockets of container engines, and any other under /run that is not the door."""
    paths = {"/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock"}
    paths.add("/run/containerd/containerd.sock")
    for folder, _, files in os.walk("/run"):
        paths.update(
            os.path.join(folder, file) for file in files if file.endswith((".sock", "socket"))
        )
    allowed = tuple(config.get("sockets", ()))
    targets = {
        path: _unix(path) for path in sorted(paths) if not path.startswith(allowed or ("\0",))
    }
    return collect(config, "engine-socket", targets, "places")


# ---------------------------------------------------------------- how one is tried


def _tcp(host: str, port: int) -> Verdict:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as sock:
            sock.settimeout(CONNECT_S)
            sock.connect((host, port))
    except OSError as error:
        return _reached(error)
    return ESCAPED, "connected"


def _udp(host: str, port: int) -> Verdict:
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.settimeout(CONNECT_S)
            sock.sendto(b"\0", (host, port))
    except OSError as error:
        return _reached(error)
    return ESCAPED, "a packet was sent"


def _reached(error: OSError) -> Verdict:
    if error.errno in NO_WAY:
        return BLOCKED, name(error.errno or 0)
    if isinstance(error, ConnectionRefusedError):
        return ESCAPED, "refused, so it was reached"
    return ESCAPED, f"a packet left: {error}"


def _ask(server: str) -> Verdict:
    """One question to a resolver. Silence means that it went somewhere, but for the loopback."""
    labels = b"".join(bytes([len(part)]) + part.encode() for part in LOOKUP.split("."))
    question = struct.pack(">HHHHHH", 0x6D62, 0x0100, 1, 0, 0, 0) + labels + b"\0\0\1\0\1"
    family = socket.AF_INET6 if ":" in server else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.settimeout(CONNECT_S)
            sock.connect((server, 53))
            sock.send(question)
            sock.recv(512)
    except OSError as error:
        if server.startswith("127.") or server == "::1":
            return BLOCKED, "nobody there"
        return _reached(error)
    return ESCAPED, "answered"


def _resolvers() -> list[str]:
    try:
        with open("/etc/resolv.conf") as file:
            words = [line.split() for line in file]
    except OSError:
        return []
    return [line[1] for line in words if len(line) > 1 and line[0] == "nameserver"]


def _unix(path: str) -> Verdict:
    try:
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(CONNECT_S)
            sock.connect(path)
    except FileNotFoundError:
        return BLOCKED, "absent"
    except OSError as error:
        if error.errno == errno.EPROTOTYPE:
            return ESCAPED, "there, of another type"
        return BLOCKED, name(error.errno or 0)
    return ESCAPED, "connected"


def _openings(
    config: Config, probe: str, kinds: "dict[str, Callable[[], socket.socket]]"
) -> list[Found]:
    verdicts: dict[str, Verdict] = {}
    for kind, opening in kinds.items():
        try:
            opening().close()
            verdicts[kind] = ESCAPED, "opened"
        except OSError as error:
            verdicts[kind] = BLOCKED, name(error.errno or 0)
    return collect(config, probe, verdicts, "kinds")


PROBES = (
    public_address,
    host,
    dns,
    metadata,
    ipv6,
    interface,
    raw_socket,
    packet_socket,
    vsock,
    other_socket,
    abstract_socket,
    engine_socket,
)
