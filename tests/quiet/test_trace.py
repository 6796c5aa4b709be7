"""What strace writes is read whole, or not at all."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.containers._quiet.trace import Trace, Unread, read
from tests.containers._quiet.values import Applied, Array, Changed, Struct, Text, Value, Word

# As strace 6.13 wrote them, on x86-64.
PLAIN = """\
7     execve("/usr/bin/python3", ["python3", "-m", "page_router"], 0x7fff9fbafcc8 /* 6 vars */) = 0
7     socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_IP) = 3
7     setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
7     bind(3, {sa_family=AF_INET, sin_port=htons(8080), sin_addr=inet_addr("127.0.0.1")}, 16) = 0
7     listen(3, 128)                    = 0
7     getsockname(3, {sa_family=AF_INET, sin_port=htons(8080), sin_addr=inet_addr("127.0.0.1")}, \
[128 => 16]) = 0
7     +++ exited with 0 +++
"""
BETWEEN = """\
14    execve("/usr/bin/python3", ["python3", "a.py"], 0x7fff9fbafcc8 /* 6 vars */) = 0
14    clone(child_stack=0x7f783babdf30, flags=CLONE_VM|CLONE_THREAD, parent_tid=[15]) = 15
14    socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_TCP <unfinished ...>
15    accept4(4,  <unfinished ...>
14    <... socket resumed>)             = 5
14    connect(5, {sa_family=AF_INET, sin_port=htons(4363), sin_addr=inet_addr("127.0.0.1")}, 16) = 0
15    <... accept4 resumed>{sa_family=AF_INET, sin_port=htons(38542), \
sin_addr=inet_addr("127.0.0.1")}, [16], SOCK_CLOEXEC) = 3
14    vfork( <unfinished ...>
16    execve("/usr/local/bin/wget", ["wget"], 0x7ffc /* 6 vars */) = -1 ENOENT (No such file or \
directory)
16    execve("/usr/bin/wget", ["wget"], 0x7ffc /* 6 vars */ <unfinished ...>
14    <... vfork resumed>)              = 16
16    <... execve resumed>)             = 0
16    recvfrom(3,  <unfinished ...>
15    recvfrom(3, "x\\"y\\n\\0", 5, 0, NULL, NULL) = 5
16    <... recvfrom resumed> <unfinished ...>) = ?
16    +++ killed by SIGKILL +++
15    recvmsg(3,  <unfinished ...>
15    +++ killed by SIGKILL +++
14    +++ killed by SIGKILL +++
"""


def traced(text: str) -> Trace:
    return read(text.splitlines())


def value(text: str) -> Value:
    """One argument, as it is read in a call."""
    (call,) = traced(f"1 getsockopt({text}) = 0").calls
    (read_as,) = call.args
    return read_as


def test_a_plain_trace_is_read_call_by_call() -> None:
    trace = traced(PLAIN)
    assert [call.name for call in trace.calls] == [
        "execve",
        "socket",
        "setsockopt",
        "bind",
        "listen",
        "getsockname",
    ]
    assert [call.result for call in trace.calls] == [0, 3, 0, 0, 0, 0]
    assert {trace.program(call) for call in trace.calls} == {"/usr/bin/python3"}
    assert trace.ended == {7: "exited with 0"}
    address = trace.calls[3].args[1]
    assert isinstance(address, Struct)
    assert address.get("sa_family") == Word("AF_INET")
    assert address.get("sin_port") == Applied("htons", (Word("8080"),))
    assert address.get("sin_addr") == Applied("inet_addr", (Text("127.0.0.1"),))
    assert address.get("sin6_port") is None
    assert trace.calls[5].args[2] == Array((Changed(Word("128"), Word("16")),))


def test_calls_of_several_processes_are_put_together() -> None:
    trace = traced(BETWEEN)
    socket, accept = trace.calls[2], trace.calls[3]
    assert (socket.name, socket.process, socket.result) == ("socket", 14, 5)
    assert socket.args[2] == Word("IPPROTO_TCP")
    assert (accept.name, accept.process, accept.line, accept.result) == ("accept4", 15, 4, 3)
    assert len(accept.args) == 4
    assert [(call.name, call.process) for call in trace.calls if call.result is None] == [
        ("recvfrom", 16),
        ("recvmsg", 15),
    ]


def test_a_call_is_of_the_program_that_its_process_runs_then() -> None:
    trace = traced(BETWEEN)
    programs = [(call.process, call.name, trace.program(call)) for call in trace.calls]
    assert (15, "accept4", "/usr/bin/python3") in programs
    assert (16, "execve", "/usr/bin/python3") in programs  # the one that failed
    assert (16, "recvfrom", "/usr/bin/wget") in programs
    assert (15, "recvfrom", "/usr/bin/python3") in programs


def test_a_process_of_unknown_origin_has_a_program_of_no_name() -> None:
    trace = traced("5 socket(AF_UNIX, SOCK_STREAM, 0) = 3")
    assert trace.program(trace.calls[0]) == "?"


@pytest.mark.parametrize(
    "lines",
    [
        (
            '9 execve("/usr/bin/curl", ["curl"], 0x1 /* 2 vars */ <unfinished ...>',
            "8 <... recvfrom resumed> <unfinished ...>) = ?",
            "8 +++ superseded by execve in pid 9 +++",
        ),
        (
            '9 execve("/usr/bin/curl", ["curl"], 0x1 /* 2 vars */ <pid changed to 8 ...>',
            "8 +++ superseded by execve in pid 9 +++",
        ),
    ],
)
def test_a_thread_that_runs_a_program_becomes_its_process(lines: tuple[str, ...]) -> None:
    trace = read(
        [
            "8 recvfrom(4,  <unfinished ...>",
            *lines,
            "8 <... execve resumed>)             = 0",
            "8 socket(AF_UNIX, SOCK_STREAM, 0) = 3",
        ]
    )
    assert [(call.name, call.process, call.result) for call in trace.calls] == [
        ("recvfrom", 8, None),
        ("execve", 8, 0),
        ("socket", 8, 3),
    ]
    assert trace.program(trace.calls[2]) == "/usr/bin/curl"
    assert trace.ended == {}


GONE = "3 ???( <unfinished ...>", "3 <... ??? resumed>) = ?"
KILLED = "3 +++ killed by SIGKILL +++"


@pytest.mark.parametrize("lines", [(GONE[0], KILLED), (*GONE, KILLED), ("3 ???() = ?", KILLED)])
def test_a_process_may_be_killed_before_its_call_is_seen(lines: tuple[str, ...]) -> None:
    trace = read(lines)
    assert [(call.name, call.args, call.result) for call in trace.calls] == [("???", (), None)]
    assert trace.ended == {3: "killed by SIGKILL"}


@pytest.mark.parametrize(
    "lines",
    [
        GONE,
        ("3 ???( <unfinished ...>",),
        ("3 ???() = 0", KILLED),
        ("3 ???( <unfinished ...>", "3 <... ??? resumed>) = 3", KILLED),
        (*GONE, "3 socket(AF_UNIX, SOCK_STREAM, 0) = 3", KILLED),
        (*GONE, *GONE, KILLED),
    ],
)
def test_one_that_goes_on_may_not_have_made_a_call_unseen(lines: tuple[str, ...]) -> None:
    with pytest.raises(Unread, match="not seen"):
        read(lines)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("NULL", Word("NULL")),
        ("...", Word("...")),
        ("MSG_PEEK|MSG_DONTWAIT", Word("MSG_PEEK|MSG_DONTWAIT")),
        ("0x43 /* IFLA_??? */", Word("0x43")),
        ("htons(0 /* ETH_P_??? */)", Applied("htons", (Word("0"),))),
        ("[]", Array(())),
        ("{}", Struct(())),
        ('@"abs\\"x"', Text('\0abs"x')),
        ('"\\272\\357\\1\\0"', Text("\xba\xef\x01\0")),
        ('"\\x01\\xffz"...', Text("\x01\xffz", cut=True)),
        ('"} = ?, <unfinished ...>"', Text("} = ?, <unfinished ...>")),
        ('"/* no remark */"', Text("/* no remark */")),
        ("{msg_namelen=110 => 0}", Struct((("msg_namelen", Changed(Word("110"), Word("0"))),))),
        (
            '{inet_pton(AF_INET6, "::1", &sin6_addr), sin6_scope_id=0}',
            Struct(
                (
                    ("", Applied("inet_pton", (Word("AF_INET6"), Text("::1"), Word("&sin6_addr")))),
                    ("sin6_scope_id", Word("0")),
                )
            ),
        ),
        (
            "{ifa_family=AF_UNSPEC, ...}",
            Struct((("ifa_family", Word("AF_UNSPEC")), ("", Word("...")))),
        ),
        ("[[IPV4_DEVCONF_MC_FORWARDING-1]=0]", Array((Word("0"),))),
        (
            "{stack_size=0x7ff} => {parent_tid=[15]}",
            Changed(
                Struct((("stack_size", Word("0x7ff")),)),
                Struct((("parent_tid", Array((Word("15"),))),)),
            ),
        ),
    ],
)
def test_arguments_are_what_strace_writes(text: str, wanted: Value) -> None:
    assert value(text) == wanted


@given(st.binary(max_size=40))
@example(b'\\"\n\0007')
@example(b"*/ /* ")
def test_every_string_is_read_back(content: bytes) -> None:
    said = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}"
        for byte in content
    )
    assert value(f'"{said}"') == Text(content.decode("latin-1"))


@pytest.mark.parametrize(
    ("result", "number", "error"),
    [
        ("= 0", 0, ""),
        ("= -1 EPERM (Operation not permitted)", -1, "EPERM"),
        ("= 0x7f00", 0x7F00, ""),
        ("= ?", None, ""),
        ("= ? ERESTARTSYS (To be restarted if SA_RESTART is set)", None, "ERESTARTSYS"),
        ("= 1 (left {tv_sec=0, tv_nsec=5})", 1, ""),
    ],
)
def test_results_are_read(result: str, number: int | None, error: str) -> None:
    (call,) = traced(f"1 recvmmsg(3, NULL) {result}").calls
    assert (call.result, call.error) == (number, error)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "socket(AF_UNIX, SOCK_STREAM, 0) = 3",
        "strace: Process 15 attached",
        "1 strace: something went wrong",
        "1 socket(AF_UNIX, SOCK_STREAM, 0)",
        "1 socket(AF_UNIX, SOCK_STREAM, 0) = three",
        "1 socket(AF_UNIX, SOCK_STREAM, 0 = 3",
        "1 socket(AF_UNIX, SOCK_STREAM], 0) = 3",
        "1 connect(3, {sa_family=AF_INET, sin_port=}, 16) = 0",
        "1 connect(3, {sa_family=AF_INET, 16) = 0",
        '1 sendto(3, "not ended, 3) = 0',
        '1 sendto(3, "an \\escape", 3) = 0',
        "1 <... connect resumed>) = 0",
        "1 +++ vanished +++",
        "1 ????(  = 0",
    ],
)
def test_a_line_of_another_form_is_an_error(line: str) -> None:
    with pytest.raises(Unread, match="line 1"):
        traced(line + "\n")


@pytest.mark.parametrize(
    "second",
    ["1 socket(AF_UNIX, SOCK_STREAM, 0) = 3", "1 <... accept resumed>) = 0"],
)
def test_a_call_that_is_not_over_is_followed_by_its_end(second: str) -> None:
    with pytest.raises(Unread, match="line 2"):
        traced(f"1 connect(3,  <unfinished ...>\n{second}\n")
