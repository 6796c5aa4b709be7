"""Probes for everything that can be seen or written in the file system."""

import contextlib
import errno
import os
import stat

from runner.runs.sandbox.inside.report import (
    BLOCKED,
    ESCAPED,
    Config,
    Found,
    Verdict,
    collect,
    name,
)

KERNEL_TYPES = {"cgroup", "cgroup2", "devpts", "devtmpfs", "mqueue", "proc", "sysfs", "tmpfs"}
PLACES = (
    "/ /bin /boot /dev /dev/mqueue /dev/pts /dev/shm /etc /home /lib /media /mnt /opt /proc "
    "/root /run /run/lock /sbin /srv /sys /sys/fs/cgroup /usr /usr/bin /usr/lib /usr/local "
    "/usr/local/bin /var /var/cache /var/lib /var/log /var/tmp"
)
KERNEL_FILES = (
    "/proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sys/kernel/modprobe "
    "/proc/sys/vm/drop_caches /proc/sys/net/ipv4/ip_forward /proc/sysrq-trigger "
    "/proc/irq/0/smp_affinity /sys/kernel/uevent_helper "
    "/sys/kernel/mm/transparent_hugepage/enabled /sys/power/state"
)
CGROUP_FILES = (
    "cgroup.procs tasks release_agent notify_on_release memory.max memory.limit_in_bytes "
    "pids.max cpu.max cpu.cfs_quota_us devices.allow"
)
STANDARD_NODES = (
    "console core fd full mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero"
)


def mounts() -> list[tuple[str, set[str], str]]:
    """Every mount: where, its options, its file system's type."""
    found = []
    with open("/proc/self/mountinfo") as file:
        for line in file:
            left, _, right = line.partition(" - ")
            fields = left.split()
            path = fields[4].encode().decode("unicode_escape")
            found.append((path, set(fields[5].split(",")), right.split()[0]))
    return found


def mount(config: Config) -> list[Found]:
    """Mounts that were not declared, or are not what was declared."""
    declared = config["mounts"]
    rows = []
    seen = mounts()
    for path, options, kind in seen:
        wanted = declared.get(path) or next(
            (
                what
                for at, what in declared.items()
                if at.endswith("/*") and path.startswith(at[:-1])
            ),
            None,
        )
        if wanted is None:
            rows.append(Found("mount", path, ESCAPED, f"an undeclared {kind}"))
        elif wanted == "ro" and "ro" not in options:
            rows.append(Found("mount", path, ESCAPED, "writable, declared read-only"))
        elif wanted == "kernel" and kind not in KERNEL_TYPES:
            rows.append(Found("mount", path, ESCAPED, f"a {kind} in the place of the kernel's own"))
    if not rows:
        rows.append(Found("mount", f"{len(seen)} mounts", BLOCKED, "all declared"))
    return rows


def write(config: Config) -> list[Found]:
    """Creating or opening something for writing outside what was declared writable."""
    allowed = [path for path, what in config["mounts"].items() if what == "rw"]
    points = [path for path, _, _ in mounts() if not path.startswith("/proc/")]
    cgroups = [path for path in points if path.startswith("/sys/fs/cgroup")]
    verdicts: dict[str, Verdict] = {}
    for path in {*PLACES.split(), *points, *config.get("places", ())}:
        if os.path.isdir(path) and not _within(path, allowed):
            verdicts[path] = _create(path)
    files = [
        *KERNEL_FILES.split(),
        *(f"{group}/{file}" for group in cgroups for file in CGROUP_FILES.split()),
    ]
    files += [path for path in points if os.path.isfile(path)]
    for path in files:
        if os.path.exists(path):
            verdicts[path] = _open(path)
    return collect(config, "write", dict(sorted(verdicts.items())), "places")


def device(config: Config) -> list[Found]:
    """Device nodes beyond those every container has."""
    verdicts: dict[str, Verdict] = {}
    for folder, _, files in os.walk("/dev"):
        for file in files:
            path = os.path.join(folder, file)
            if folder == "/dev/pts" or (folder == "/dev" and file in STANDARD_NODES.split()):
                continue
            with contextlib.suppress(OSError):
                mode = os.stat(path).st_mode
                if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
                    verdicts[path] = _open(path)
    if not verdicts:
        return [Found("device", "/dev", BLOCKED, "only the standard nodes")]
    return collect(config, "device", verdicts, "nodes")


def other_process(config: Config) -> list[Found]:
    """Memory, environment and root of processes that run as somebody else."""
    verdicts: dict[str, Verdict] = {}
    me = os.getuid()
    for process in filter(str.isdigit, os.listdir("/proc")):
        if _user(process) in (me, None):
            continue
        for entry in ("environ", "mem", "root/etc"):
            path = f"/proc/{process}/{entry}"
            verdicts[path] = _open(path, os.O_RDONLY)
    return collect(config, "other-process", verdicts, "entries of processes of other users")


def _user(process: str) -> "int | None":
    """Who a process runs as; none for one that is gone. Its folder's owner may be another."""
    try:
        with open(f"/proc/{process}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Uid:"))
    except (OSError, StopIteration):
        return None


def _within(path: str, folders: list[str]) -> bool:
    return any(path == folder or path.startswith(folder + "/") for folder in folders)


def _create(folder: str) -> Verdict:
    path = os.path.join(folder, f".probe-{os.getpid()}")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        return BLOCKED, name(error.errno or 0)
    with contextlib.suppress(OSError):
        os.unlink(path)
    return ESCAPED, "a file was created"


def _open(path: str, flags: int = os.O_WRONLY) -> Verdict:
    try:
        os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY))
    except OSError as error:
        # A node that opens only in another way, or has nothing behind it, was still within reach.
        if error.errno in (errno.EBUSY, errno.EINVAL):
            return ESCAPED, name(error.errno)
        return BLOCKED, name(error.errno or 0)
    return ESCAPED, "opened"


PROBES = (mount, write, device, other_process)
