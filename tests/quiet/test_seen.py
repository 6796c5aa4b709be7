"""What reaches out is told from what does not."""

import json
from collections.abc import Mapping

import pytest

from tests.containers._quiet.seen import SINKHOLE, Finding, Seen, judge
from tests.containers._quiet.trace import Unread, read

EXEC = '7 execve("/opt/tool", ["tool"], 0x1 /* 2 vars */) = 0'


def judged(*calls: str, log: tuple[Mapping[str, object], ...] = ()) -> Seen:
    """What a tool's calls, less their process, and the sinkhole's lines come to."""
    return judge(read([EXEC, *(f"7 {call}" for call in calls)]), map(json.dumps, log))


def four(host: str, port: int = 443) -> str:
    return f'{{sa_family=AF_INET, sin_port=htons({port}), sin_addr=inet_addr("{host}")}}'


def six(host: str, port: int = 443) -> str:
    return (
        f"{{sa_family=AF_INET6, sin6_port=htons({port}), sin6_flowinfo=htonl(0),"
        f' inet_pton(AF_INET6, "{host}", &sin6_addr), sin6_scope_id=0}}'
    )


@pytest.mark.parametrize(
    "call",
    [
        "socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0) = 3",
        "socketpair(AF_UNIX, SOCK_STREAM, 0, [3, 4]) = 0",
        'connect(3, {sa_family=AF_UNIX, sun_path="/run/door/model.sock"}, 110) = 0',
        'connect(3, {sa_family=AF_UNIX, sun_path=@"abstract"}, 110) = 0',
        "getpeername(3, {sa_family=AF_UNIX}, [110 => 2]) = 0",
        f"connect(3, {four('127.0.0.1', 8080)}, 16) = -1 EINPROGRESS (Operation now in progress)",
        f"connect(3, {four('127.200.3.4')}, 16) = 0",
        f"connect(3, {six('::1')}, 28) = -1 EADDRNOTAVAIL (Cannot assign requested address)",
        f"connect(3, {six('::ffff:127.0.0.1')}, 28) = 0",
        f"bind(3, {four('0.0.0.0', 0)}, 16) = 0",
        f"getsockname(3, {six('::', 0)}, [28]) = 0",
        'connect(3, {sa_family=AF_UNSPEC, sa_data="\\0\\0\\0\\0"}, 16) = 0',
        'sendto(3, "POST /", 6, 0, NULL, 0) = 6',
        "connect(3, 0x7ff, 16) = -1 EFAULT (Bad address)",
    ],
)
def test_unix_and_loopback_are_quiet(call: str) -> None:
    seen = judged(call)
    assert seen.findings == ()
    assert (seen.names, seen.listing, seen.everywhere) == ((), {}, {})


@pytest.mark.parametrize(
    ("call", "what", "which"),
    [
        ("socket(AF_VSOCK, SOCK_STREAM, 0) = 3", "family", "AF_VSOCK"),
        ("socket(AF_PACKET, SOCK_RAW, htons(0x3)) = -1 EPERM (No)", "family", "AF_PACKET"),
        ("socket(0x2f /* AF_??? */, SOCK_RAW, 0) = -1 EPERM (No)", "family", "0x2f"),
        ("socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG) = 3", "family", "AF_NETLINK"),
        ("socketpair(AF_TIPC, SOCK_STREAM, 0, [3, 4]) = 0", "family", "AF_TIPC"),
        (f"connect(3, {four('192.0.2.1')}, 16) = 0", "address", "192.0.2.1:443"),
        (f"connect(3, {four('0.0.0.0', 80)}, 16) = 0", "address", "0.0.0.0:80"),
        (f"connect(3, {four('192.0.2.1')}, 16) = ?", "address", "192.0.2.1:443"),
        (
            f"connect(3, {six('2001:db8::1')}, 28) = -1 ENETUNREACH (No)",
            "address",
            "[2001:db8::1]:443",
        ),
        (f"connect(3, {six('::ffff:192.0.2.1')}, 28) = 0", "address", "[::ffff:192.0.2.1]:443"),
        (f"connect(3, {four(SINKHOLE)}, 16) = 0", "address", f"{SINKHOLE}:443"),
        (f'sendto(3, "x", 1, 0, {four("192.0.2.1")}, 16) = 1', "address", "192.0.2.1:443"),
        (
            f'sendmsg(3, {{msg_name={four("192.0.2.1")}, msg_namelen=16, msg_iov=[{{iov_base="x",'
            " iov_len=1}], msg_iovlen=1}, 0) = 1",
            "address",
            "192.0.2.1:443",
        ),
        (
            f"sendmmsg(3, [{{msg_hdr={{msg_name=NULL, msg_namelen=0}}}}, {{msg_hdr={{msg_name="
            f"{four('192.0.2.1')}, msg_namelen=16}}, msg_len=1}}], 2, 0) = 2",
            "address",
            "192.0.2.1:443",
        ),
        (f"bind(3, {four('192.0.2.1')}, 16) = -1 EADDRNOTAVAIL (No)", "address", "192.0.2.1:443"),
        (
            'sendto(3, "x", 1, 0, {sa_family=AF_UNSPEC, sa_data="\\0P\\300\\0\\2\\1"}, 16) = 1',
            "address",
            "AF_UNSPEC",
        ),
        (
            "sendto(3, [{nlmsg_len=20, nlmsg_type=RTM_NEWADDR}, {...}], 20, 0, NULL, 0) = 20",
            "netlink",
            "RTM_NEWADDR",
        ),
    ],
)
def test_what_reaches_out_is_found_with_who_did_it(call: str, what: str, which: str) -> None:
    (finding,) = judged(call, call).findings
    assert (finding.what, finding.which, finding.programs) == (what, which, ("/opt/tool",))
    assert finding.text == call
    assert which in str(finding)


def test_asking_the_kernel_of_its_interfaces_is_told_apart() -> None:
    seen = judged(
        "socket(AF_NETLINK, SOCK_RAW|SOCK_CLOEXEC, NETLINK_ROUTE) = 3",
        "bind(3, {sa_family=AF_NETLINK, nl_pid=0, nl_groups=00000000}, 12) = 0",
        "sendto(3, [{nlmsg_len=20, nlmsg_type=RTM_GETADDR}, {ifa_family=AF_UNSPEC, ...}], 20, 0,"
        " {sa_family=AF_NETLINK, nl_pid=0, nl_groups=00000000}, 12) = 20",
    )
    assert seen.findings == ()
    assert seen.listing == {"RTM_GETADDR": ("/opt/tool",)}
    assert "listing: RTM_GETADDR" in str(seen)


def test_a_port_on_every_address_is_told_of() -> None:
    seen = judged(f"bind(3, {four('0.0.0.0', 8000)}, 16) = 0")
    assert seen.findings == ()
    assert seen.everywhere == {"0.0.0.0:8000": ("/opt/tool",)}


QUESTION = (
    'sendto(3, "\\272\\357\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\tTelemetry\\7example\\0\\0\\1\\0\\1",'
    " 35, MSG_NOSIGNAL, NULL, 0) = 35"
)
ASKING = f"connect(3, {four(SINKHOLE, 53)}, 16) = 0"


def test_a_name_is_found_with_who_asked_for_it() -> None:
    entry = {"kind": "name", "name": "Telemetry.example", "type": "A"}
    seen = judged(ASKING, QUESTION, log=(entry, entry))
    assert seen.names == ("Telemetry.example (A)",)
    assert seen.findings == (Finding("name", "Telemetry.example (A)", ("/opt/tool",)),)


def test_a_name_that_nobody_was_seen_asking_for_is_found_too() -> None:
    (finding,) = judged(log=({"kind": "name", "name": "a.example", "type": "AAAA"},)).findings
    assert (finding.which, finding.programs) == ("a.example (AAAA)", ("?",))


@pytest.mark.parametrize("name", ["localhost", "LOCALHOST."])
def test_the_own_name_is_nobody_elses(name: str) -> None:
    seen = judged(ASKING, log=({"kind": "name", "name": name, "type": "A"},))
    assert seen.findings == ()
    assert seen.names == (f"{name} (A)",)


def test_what_was_said_to_the_sinkhole_is_found() -> None:
    (finding,) = judged(log=({"kind": "knock", "port": 80, "said": "GET / HTTP/1.1"},)).findings
    assert (finding.what, finding.which) == ("knock", "on 80: 'GET / HTTP/1.1'")


def test_a_question_that_the_sinkhole_did_not_understand_is_found() -> None:
    assert [one.what for one in judged(ASKING).findings] == ["unread"]
    (finding,) = judged(log=({"kind": "unread", "what": "00ff"},)).findings
    assert (finding.what, finding.which) == ("unread", "by the sinkhole: 00ff")


@pytest.mark.parametrize(
    "call",
    [
        "connect(3, 0x7ff, 16) = 0",
        'sendto(3, "x", 1, 0, 0x7ff, 16) = 1',
        "sendmsg(3, {msg_name=0x7ff, msg_namelen=16}, 0) = 1",
        'connect(3, {sa_family=AF_INET, sa_data="\\0\\0"}, 4) = 0',
        'connect(3, {sa_family=AF_INET, sin_port=80, sin_addr=inet_addr("127.0.0.1")}, 16) = 0',
        'connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("here")}, 16) = 0',
        "connect(3, {sa_family=AF_INET6, sin6_port=htons(80), sin6_scope_id=0}, 28) = 0",
        'socket("AF_UNIX", SOCK_STREAM, 0) = 3',
    ],
)
def test_an_address_that_cannot_be_read_is_an_error(call: str) -> None:
    with pytest.raises(Unread, match="line 2"):
        judged(call)
