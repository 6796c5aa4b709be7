"""What a trace and a sinkhole's log come to: which ways to talk were used, and which reach out."""

import ipaddress
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from tests.containers._quiet.trace import Call, Trace, Unread
from tests.containers._quiet.values import Applied, Array, Changed, Struct, Text, Value, Word

SINKHOLE = "127.53.53.53"
"""Where every name leads, as in ``image/sinkhole.py``: a loopback address that nothing else has."""
DNS = 53
OWN_NAMES = frozenset({"localhost"})
QUIET = frozenset({"AF_UNIX", "AF_INET", "AF_INET6"})
"""Families whose addresses say whether they reach out."""
NETLINK = "AF_NETLINK"
ADDRESS_AT = {"connect": 1, "bind": 1, "sendto": 4}
"""Calls that must show an address, and where."""
SENDS = frozenset({"sendto", "sendmsg", "sendmmsg"})
OWN_SIDE = frozenset({"bind", "getsockname"})
"""Calls whose address is the socket's own; 0.0.0.0 there is every address there is."""

What = Literal["family", "address", "netlink", "name", "knock", "unread"]


@dataclass(frozen=True, slots=True)
class Address:
    """Where a socket is, or leads to."""

    family: str
    host: str = ""
    """Of AF_INET and AF_INET6; a path of AF_UNIX."""
    port: int = 0

    def __str__(self) -> str:
        if self.family == "AF_INET6":
            return f"[{self.host}]:{self.port}"
        return f"{self.host}:{self.port}" if self.family == "AF_INET" else self.family


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not quiet."""

    what: What
    which: str
    """A family, an address, a kind of netlink message, a name, or what was said to a listener."""
    programs: tuple[str, ...]
    text: str = ""
    """The first call of the kind, as strace wrote it."""

    def __str__(self) -> str:
        who = f" by {', '.join(self.programs)}" if self.programs else ""
        return f"{self.what} {self.which}{who}" + (f": {self.text[:300]}" if self.text else "")


@dataclass(frozen=True, slots=True)
class Seen:
    """All of it."""

    families: Mapping[str, tuple[str, ...]]
    """Families of the sockets that were asked for, each with the programs that did."""
    listing: Mapping[str, tuple[str, ...]]
    """Questions to the kernel about its interfaces and addresses, each with who asked."""
    everywhere: Mapping[str, tuple[str, ...]]
    """Ports bound on every address rather than on loopback, each with who did."""
    names: tuple[str, ...]
    """Names that were looked up, with what was asked of them."""
    findings: tuple[Finding, ...]

    def __str__(self) -> str:
        families = ", ".join(sorted(self.families))
        rest = {"listing": self.listing, "everywhere": self.everywhere}
        told = [f"{key}: {', '.join(value)}" for key, value in rest.items() if value]
        return "; ".join([families, *told, *map(str, self.findings)])


class _Who:
    """Who did what, and the first call of each kind."""

    def __init__(self) -> None:
        self.of: dict[str, dict[str, None]] = {}
        self.first: dict[str, str] = {}

    def note(self, which: str, program: str, text: str = "") -> None:
        self.of.setdefault(which, {})[program] = None
        self.first.setdefault(which, text)

    def told(self) -> dict[str, tuple[str, ...]]:
        return {which: tuple(programs) for which, programs in self.of.items()}

    def findings(self, what: What) -> Iterator[Finding]:
        for which, programs in self.of.items():
            yield Finding(what, which, tuple(programs), self.first[which])


def judge(trace: Trace, log: Iterable[str]) -> Seen:
    """What was seen, and what of it reaches out.

    Raises:
        Unread: a socket's family or an address that strace does not tell.
    """
    families, listing, everywhere = _Who(), _Who(), _Who()
    odd_families, odd_addresses, odd_netlink = _Who(), _Who(), _Who()
    asked = ""
    for call in trace.calls:
        program = trace.program(call)
        for family in _families(call):
            families.note(family, program)
            if family not in QUIET and not _is_listing(call, family):
                odd_families.note(family, program, call.text)
        for kind in _netlink_sent(call):
            (listing if kind.startswith("RTM_GET") else odd_netlink).note(kind, program, call.text)
        for address in _addresses(call):
            if address.host == SINKHOLE and address.port == DNS:
                asked = asked or call.text
            elif address.family == "AF_UNSPEC" and call.name not in SENDS:
                continue  # lets go of an address; in a datagram it would be one of IPv4
            elif _anywhere(address) and call.name in OWN_SIDE:
                if call.name == "bind" and address.port:
                    everywhere.note(str(address), program)
            elif not _stays(address):
                odd_addresses.note(str(address), program, call.text)
    names, said = _log(log, trace)
    if asked and not names:
        said.append(Finding("unread", "a question the sinkhole knows nothing of", (), asked))
    return Seen(
        families=families.told(),
        listing=listing.told(),
        everywhere=everywhere.told(),
        names=names,
        findings=(
            *odd_families.findings("family"),
            *odd_addresses.findings("address"),
            *odd_netlink.findings("netlink"),
            *said,
        ),
    )


def _log(lines: Iterable[str], trace: Trace) -> tuple[tuple[str, ...], list[Finding]]:
    names, found = _Who(), []
    for line in lines:
        entry = json.loads(line)
        match entry["kind"]:
            case "name":
                asked = f"{entry['name']} ({entry['type']})"
                for program in _askers(trace, entry["name"]) or ("?",):
                    names.note(asked, program)
            case "knock":
                found.append(Finding("knock", f"on {entry['port']}: {entry['said']!r}", ()))
            case _:
                found.append(Finding("unread", f"by the sinkhole: {entry['what']}", ()))
    foreign = [
        finding
        for finding in names.findings("name")
        if finding.which.split(" ")[0].rstrip(".").lower() not in OWN_NAMES
    ]
    return tuple(names.of), [*foreign, *found]


def _askers(trace: Trace, name: str) -> tuple[str, ...]:
    """Programs that sent a packet with a name in it, as questions carry it."""
    wire = "".join(f"{chr(len(label))}{label}" for label in name.split(".")) + "\0"
    asked = (
        trace.program(call)
        for call in trace.calls
        if call.name in SENDS
        and any(isinstance(value, Text) and wire in value.text for value in _walk(call.fields))
    )
    return tuple(dict.fromkeys(asked))


def _families(call: Call) -> Iterator[str]:
    """The family of a socket that is asked for, whether it is given or not."""
    if call.name in ("socket", "socketpair"):
        family = call.args[0] if call.args else None
        if not isinstance(family, Word):
            raise Unread(f"line {call.line}: a socket of no family: {call.text!r}")
        yield family.text


def _is_listing(call: Call, family: str) -> bool:
    """Whether a socket is one that the kernel is asked about its interfaces by, and no other."""
    protocol = call.args[2] if len(call.args) > 2 else None
    return family == NETLINK and protocol == Word("NETLINK_ROUTE")


def _netlink_sent(call: Call) -> Iterator[str]:
    if call.name in SENDS:
        for value in _walk(call.fields):
            kind = value.get("nlmsg_type") if isinstance(value, Struct) else None
            if isinstance(kind, Word):
                yield kind.text


def _addresses(call: Call) -> Iterator[Address]:
    _shown(call)
    for value in _walk(call.fields):
        if isinstance(value, Struct) and isinstance(family := value.get("sa_family"), Word):
            yield _address(call, family.text, value)


def _shown(call: Call) -> None:
    """Refuse a call whose address strace could not look at, unless the kernel could not either."""
    at = ADDRESS_AT.get(call.name)
    given = [call.args[at]] if at is not None and len(call.args) > at else []
    if call.name in ("sendmsg", "sendmmsg"):
        structs = (value for value in _walk(call.fields) if isinstance(value, Struct))
        given = [name for one in structs if (name := one.get("msg_name")) is not None]
    for value in given:
        hidden = isinstance(value, Word) and value.text != "NULL"
        if hidden and call.error not in ("EFAULT", "EINVAL", "EBADF", "ENOTSOCK"):
            raise Unread(f"line {call.line}: an address that strace did not see: {call.text!r}")


def _address(call: Call, family: str, value: Struct) -> Address:
    try:
        match family:
            case "AF_INET":
                host = _host(_applied(value.get("sin_addr"), "inet_addr")[0])
                return Address(family, host, _port(value.get("sin_port")))
            case "AF_INET6":
                numbered = [one for key, one in value.fields if not key]
                host = _host(_applied(numbered[0], "inet_pton")[1])
                return Address(family, host, _port(value.get("sin6_port")))
            case "AF_UNIX":
                path = value.get("sun_path")
                return Address(family, path.text if isinstance(path, Text) else "")
            case _:
                return Address(family)
    except (IndexError, TypeError, ValueError) as error:
        raise Unread(f"line {call.line}: an address of no form: {call.text!r}") from error


def _stays(address: Address) -> bool:
    """Whether an address is in this container."""
    if address.family not in ("AF_INET", "AF_INET6"):
        return address.family in ("AF_UNIX", NETLINK)
    return address.host != SINKHOLE and _plain(address).is_loopback


def _anywhere(address: Address) -> bool:
    return address.family in ("AF_INET", "AF_INET6") and _plain(address).is_unspecified


def _plain(address: Address) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    plain = ipaddress.ip_address(address.host)
    return getattr(plain, "ipv4_mapped", None) or plain


def _applied(value: Value | None, name: str) -> tuple[Value, ...]:
    if not isinstance(value, Applied) or value.name != name:
        raise TypeError(f"not {name}()")
    return value.args


def _port(value: Value | None) -> int:
    (port,) = _applied(value, "htons")
    if not isinstance(port, Word):
        raise TypeError("no number")
    return int(port.text)


def _host(value: Value) -> str:
    if not isinstance(value, Text):
        raise TypeError("no text")
    ipaddress.ip_address(value.text)
    return value.text


def _walk(value: Value) -> Iterator[Value]:
    """A value and all that it holds."""
    yield value
    held: Iterable[Value] = ()
    match value:
        case Struct():
            held = (one for _, one in value.fields)
        case Array():
            held = value.items
        case Applied():
            held = value.args
        case Changed():
            held = (value.before, value.after)
    for one in held:
        yield from _walk(one)
