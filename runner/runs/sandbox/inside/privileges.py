"""Probes for becoming more than one is: users, capabilities, namespaces, and calls into the kernel.

Every call is made in a way that does nothing when it is let through: with no address, an invalid
descriptor or a wrong magic number, whatever the kernel looks at only after it has looked at
permission.
"""

import ctypes
import mmap
import os
import platform
import signal
import stat
import time
from collections.abc import Callable

from runner.runs.sandbox.inside.report import (
    BLOCKED,
    ESCAPED,
    INAPPLICABLE,
    Config,
    Found,
    Verdict,
    collect,
    in_child,
    name,
)

EPERM, EACCES, ENOSYS = 1, 13, 38
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
PROGRAM_FOLDERS = "/bin /sbin /usr/bin /usr/sbin /usr/local/bin /usr/local/sbin /usr/lib/openssh"

# Numbers on x86_64 and aarch64.
NUMBERS = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clone": (56, 220),
    "clone3": (435, 435),
    "fanotify_init": (300, 262),
    "fsopen": (430, 430),
    "init_module": (175, 105),
    "io_uring_setup": (425, 425),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "mount": (165, 40),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "ptrace": (101, 117),
    "reboot": (169, 142),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
BAD = 1
"""An address at which there is nothing."""


def call(which: str, *args: "int | bytes | ctypes.Array[ctypes.c_char]") -> Verdict:
    """A system call by its number: blocked when permission was refused, else escaped."""
    column = {"x86_64": 0, "aarch64": 1}.get(platform.machine())
    if column is None:
        return INAPPLICABLE, f"numbers for {platform.machine()} are not known"
    libc = ctypes.CDLL(None, use_errno=True)
    plain = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    plain += [ctypes.c_long(0)] * (6 - len(plain))
    result = libc.syscall(ctypes.c_long(NUMBERS[which][column]), *plain)
    if result >= 0:
        return ESCAPED, f"returned {result}"
    error = ctypes.get_errno()
    return (BLOCKED if error in (EPERM, EACCES, ENOSYS) else ESCAPED), name(error)


def system_call(config: Config) -> list[Found]:
    """Calls that reach what a container shares with the host."""
    attempts: dict[str, Callable[[], Verdict]] = {
        "acct": lambda: call("acct", BAD),
        "add_key": lambda: call("add_key", BAD, BAD),
        "bpf": lambda: call("bpf", 0, BAD, 8),
        "fanotify_init": lambda: call("fanotify_init", 0x200, 0),
        "init_module": lambda: call("init_module", 0, 0, BAD),
        "io_uring_setup": lambda: call("io_uring_setup", 0, 0),
        "kexec_load": lambda: call("kexec_load", 0, 0, 0, 0x4000),
        "keyctl": lambda: call("keyctl", 0, -3, 0),
        "open_by_handle_at": lambda: call("open_by_handle_at", -1, BAD, 0),
        "perf_event_open": lambda: call("perf_event_open", BAD, 0, -1, -1),
        "process_vm_readv": lambda: call("process_vm_readv", os.getpid(), 0, 0, 0, 0, 0),
        "ptrace": lambda: call("ptrace", 0, 0, 0, 0),
        "reboot": lambda: call("reboot", 0, 0, 0, 0),
        "sethostname": lambda: call("sethostname", BAD, -1),
        "settimeofday": lambda: call("settimeofday", 0, 0),
        "swapon": lambda: call("swapon", BAD, 0),
        "syslog": lambda: call("syslog", 10, 0, 0),
        "userfaultfd": lambda: call("userfaultfd", 0x80001),
    }
    return collect(config, "system-call", _all(attempts), "calls")


def namespace(config: Config) -> list[Found]:
    """New namespaces, foreign ones, another root, another mount."""

    def join() -> Verdict:
        handle = os.open("/proc/self/ns/net", os.O_RDONLY)
        return call("setns", handle, CLONE_NEWNET)

    def forked(which: str, *args: "int | ctypes.Array[ctypes.c_char]") -> Verdict:
        pid = os.getpid()
        verdict = call(which, *args)
        if os.getpid() != pid:
            os._exit(0)
        return verdict

    def clone3() -> Verdict:
        # struct clone_args: flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size,
        # tls
        args = (ctypes.c_uint64 * 8)(CLONE_NEWUSER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
        return forked("clone3", ctypes.addressof(args), ctypes.sizeof(args))

    attempts: dict[str, Callable[[], Verdict]] = {
        "chroot": lambda: call("chroot", b"/"),
        "clone(user)": lambda: forked("clone", CLONE_NEWUSER | signal.SIGCHLD),
        "clone3(user)": clone3,
        "fsopen": lambda: call("fsopen", b"tmpfs", 0),
        "mount": lambda: call("mount", b"none", b"/mnt", b"tmpfs", 0, 0),
        "open_tree": lambda: call("open_tree", -100, b"/", 1),
        "pivot_root": lambda: call("pivot_root", BAD, BAD),
        "setns": join,
        "unshare(mount)": lambda: call("unshare", CLONE_NEWNS),
        "unshare(net)": lambda: call("unshare", CLONE_NEWNET),
        "unshare(user)": lambda: call("unshare", CLONE_NEWUSER),
    }
    return collect(config, "namespace", _all(attempts), "calls")


def foreign_call(config: Config) -> list[Found]:
    """Calls by another architecture's numbers, which a filter for one architecture does not see."""
    if platform.machine() != "x86_64":
        return [Found("foreign-call", "calls", INAPPLICABLE, f"not on {platform.machine()}")]

    def int80() -> Verdict:
        # push rbx; mov eax, 20 (getpid); int 0x80; pop rbx; ret
        return _machine_code(b"\x53\xb8\x14\x00\x00\x00\xcd\x80\x5b\xc3")

    def x32() -> Verdict:
        # mov eax, 0x40000000 + 39 (getpid); syscall; ret
        return _machine_code(b"\xb8\x27\x00\x00\x40\x0f\x05\xc3")

    return collect(config, "foreign-call", _all({"32-bit": int80, "x32": x32}), "ways")


def privilege(config: Config) -> list[Found]:
    """Another user, a capability, a device node, a program that changes who it runs as."""

    def become(function: Callable[[], None]) -> Callable[[], Verdict]:
        def attempt() -> Verdict:
            function()
            return ESCAPED, "allowed"

        return attempt

    attempts = {
        "setuid(0)": become(lambda: os.setuid(0)),
        "setgid(0)": become(lambda: os.setgid(0)),
        "setgroups(0)": become(lambda: os.setgroups([0])),
        "chown": become(lambda: os.chown("/tmp", 0, 0)),  # noqa: S108
        "mknod": _mknod,
    }
    verdicts = _all(attempts)
    verdicts |= {f"capabilities of {who}": _capabilities(who) for who in ("self", "1")}
    rows = collect(config, "privilege", verdicts, "ways")
    programs = {path: _setuid(path) for path in _setuid_programs()[:8]}
    return rows + collect(config, "setuid-program", programs, "programs")


def _all(attempts: "dict[str, Callable[[], Verdict]]") -> dict[str, Verdict]:
    return {target: in_child(attempt) for target, attempt in attempts.items()}


def _machine_code(code: bytes) -> Verdict:
    with mmap.mmap(
        -1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    ) as page:
        page.write(code)
        start = ctypes.c_char.from_buffer(page)
        result: int = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(start))()
        del start
    if result == os.getpid():
        return ESCAPED, "answered"
    return BLOCKED, name(-result)


def _mknod() -> Verdict:
    path = f"/tmp/.probe-{os.getpid()}"  # noqa: S108
    os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    os.unlink(path)
    return ESCAPED, "made"


def _capabilities(process: str) -> Verdict:
    fields = _status(process)
    held = [f"{kind} {fields[kind]}" for kind in ("CapEff", "CapPrm", "CapInh", "CapAmb", "CapBnd")
            if int(fields[kind], 16)]  # fmt: skip
    return (ESCAPED, ", ".join(held)) if held else (BLOCKED, "none")


def _setuid_programs() -> list[str]:
    found = []
    for folder in PROGRAM_FOLDERS.split():
        if os.path.islink(folder) or not os.path.isdir(folder):
            continue
        for entry in os.scandir(folder):
            if entry.is_file(follow_symlinks=False) and entry.stat().st_mode & stat.S_ISUID:
                found.append(entry.path)
    # Those that wait for input stay long enough to be looked at.
    return sorted(found, key=lambda path: (not path.endswith(("/su", "/sudo")), path))


def _setuid(path: str) -> Verdict:
    """Whether a program that is marked to run as root does."""
    read, write = os.pipe()
    quiet = [(os.POSIX_SPAWN_OPEN, number, "/dev/null", os.O_WRONLY, 0) for number in (1, 2)]
    try:
        pid = os.posix_spawn(
            path, [path], {}, file_actions=[(os.POSIX_SPAWN_DUP2, read, 0), *quiet]
        )
    except OSError as error:
        return BLOCKED, name(error.errno or 0)
    finally:
        os.close(read)
    try:
        effective = _user_of(pid, os.path.basename(path)[:15])
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(write)
    if os.getuid() == 0:
        return INAPPLICABLE, "already root"
    if effective is None:
        return INAPPLICABLE, "did not start"
    return (ESCAPED, "ran as root") if effective == "0" else (BLOCKED, "ran without it")


def _user_of(pid: int, name: str) -> "str | None":
    """Who a child runs as, once it has become the program of that name."""
    for _ in range(100):
        status = _status(str(pid))
        if status.get("Name") == name:
            return status["Uid"].split()[1]
        time.sleep(0.001)
    return None


def _status(process: str) -> "dict[str, str]":
    with open(f"/proc/{process}/status") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


PROBES = (system_call, namespace, foreign_call, privilege)
