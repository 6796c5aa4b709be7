"""How a box is described to the engine: all that makes a container hermetic, in one place."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runner.runs.sandbox._seccomp import profile
from runner.runs.sandbox.protocol import MIB, GatewayBox, SystemBox

USER = 10001
HOME = "/home/bench"
DOOR = "/run/door"
LEDGER = "/run/ledger"
CALLS = f"{LEDGER}/calls.jsonl"
EXCHANGE = "/run/exchange"
STORE = "/run/store"
"""Where a snapshot lies for a driver that is asked what it holds."""
DOOR_BYTES = 1 * MIB
GATEWAY_TMP_BYTES = 64 * MIB

# What the engine would mask by itself, and /dev/mqueue, which anybody can write to. Spelled out, so
# that it is the same on every engine.
MASKED = (
    "/proc/acpi",
    "/proc/asound",
    "/proc/interrupts",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/scsi",
    "/proc/sched_debug",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/sys/devices/virtual/powercap",
    "/sys/firmware",
    "/dev/mqueue",
)
READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")


@dataclass(frozen=True, slots=True)
class Names:
    """What the objects of one box are called on the engine."""

    system: str
    gateway: str
    door: str
    ledger: str
    exchange: str

    @classmethod
    def of(cls, key: str) -> "Names":
        """Names for a box with this key, which has to be unique on the engine."""
        return cls(*(f"memory-bench-{key}-{role}" for role in cls.__slots__))

    @property
    def containers(self) -> tuple[str, ...]:
        """Both containers."""
        return (self.system, self.gateway)

    @property
    def volumes(self) -> tuple[str, ...]:
        """All volumes."""
        return (self.door, self.ledger, self.exchange)


@dataclass(frozen=True, slots=True)
class ReadingNames:
    """What the objects are called by which a store is read."""

    system: str
    putting: str
    store: str

    @classmethod
    def of(cls, key: str) -> "ReadingNames":
        """Names for a reading with this key, which has to be unique on the engine."""
        return cls(*(f"memory-bench-{key}-reading-{role}" for role in cls.__slots__))

    @property
    def containers(self) -> tuple[str, ...]:
        """Both containers; one of them is never started."""
        return (self.system, self.putting)

    @property
    def volumes(self) -> tuple[str, ...]:
        """The one volume."""
        return (self.store,)


def volume(name: str, size: int, labels: Mapping[str, str]) -> dict[str, Any]:
    """A volume in memory: it has a size, an owner, and nothing of it stays on a disk."""
    options = f"size={size},uid={USER},gid={USER},mode=0700"
    return {
        "Name": name,
        "Driver": "local",
        "DriverOpts": {"type": "tmpfs", "device": "tmpfs", "o": options},
        "Labels": dict(labels),
    }


def disk_volume(name: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """A volume on the engine's disk: what is in it outlives the container that wrote it. It has
    the owner of the folder it hides in the image that mounts it first."""
    return {"Name": name, "Driver": "local", "Labels": dict(labels)}


def system(box: SystemBox, names: Names, labels: Mapping[str, str]) -> dict[str, Any]:
    """The body that creates the system's container."""
    body = _system(box, labels)
    body["HostConfig"]["Mounts"] = [
        _mount(names.door, DOOR, read_only=True),
        _mount(names.exchange, EXCHANGE),
    ]
    return body


def _system(box: SystemBox, labels: Mapping[str, str]) -> dict[str, Any]:
    tmpfs = {HOME: _tmpfs(box.home_bytes, "exec"), "/tmp": _tmpfs(box.tmp_bytes, "exec")}  # noqa: S108
    if box.shm_bytes:
        tmpfs["/dev/shm"] = _tmpfs(box.shm_bytes, "noexec")  # noqa: S108
    body = _container(box.image, box.env, labels)
    if box.command:
        body["Cmd"] = list(box.command)
    body["HostConfig"] |= {
        "NetworkMode": "none",
        "Memory": box.memory_bytes,
        "MemorySwap": box.memory_bytes,
        "PidsLimit": box.pids,
        "Tmpfs": tmpfs,
    }
    if box.cpus is not None:
        body["HostConfig"]["NanoCpus"] = round(box.cpus * 1e9)
    return body


def putting(box: SystemBox, names: ReadingNames, labels: Mapping[str, str]) -> dict[str, Any]:
    """The body of a container that is never started: a store is put into a volume through it."""
    body = _container(box.image, {}, labels)
    body["Entrypoint"], body["Cmd"] = ["true"], []
    body["HostConfig"] |= {"NetworkMode": "none", "Mounts": [_mount(names.store, STORE)]}
    return body


def reading(box: SystemBox, names: ReadingNames, labels: Mapping[str, str]) -> dict[str, Any]:
    """The body of a container that reads a store: as the system's own, without a door."""
    body = _system(box, labels)
    body["HostConfig"]["Mounts"] = [_mount(names.store, STORE, read_only=True)]
    return body


def gateway(box: GatewayBox, names: Names, labels: Mapping[str, str]) -> dict[str, Any]:
    """The body that creates the gateway's container."""
    body = _container(box.image, {"HOME": "/tmp", **box.env}, labels)  # noqa: S108
    body["Entrypoint"], body["Cmd"] = list(box.command), []
    body["HostConfig"] |= {
        "NetworkMode": box.network,
        "Memory": box.memory_bytes,
        "MemorySwap": box.memory_bytes,
        "PidsLimit": box.pids,
        "Tmpfs": {"/tmp": _tmpfs(GATEWAY_TMP_BYTES, "noexec")},  # noqa: S108
        "Mounts": [_mount(names.door, DOOR), _mount(names.ledger, LEDGER, take_owner=True)],
    }
    if box.network == "none":
        body["HostConfig"] |= _NO_RESOLVER
    return body


def declared_mounts(box: SystemBox) -> dict[str, str]:
    """Every mount the system's container may have, as ``ro``, ``rw`` or ``kernel`` (what the
    runtime makes).

    A path that ends in ``/*`` stands for everything below it.
    """
    mounts = dict.fromkeys((*MASKED, *READ_ONLY), "kernel")
    mounts |= dict.fromkeys(("/proc", "/dev", "/dev/pts", "/sys", "/sys/fs/cgroup/*"), "kernel")
    mounts |= {"/sys/fs/cgroup": "kernel", "/dev/console": "kernel"}
    mounts |= dict.fromkeys(("/", DOOR, "/etc/hosts", "/etc/hostname", "/etc/resolv.conf"), "ro")
    mounts |= dict.fromkeys((HOME, "/tmp", EXCHANGE), "rw")  # noqa: S108
    if box.shm_bytes:
        mounts["/dev/shm"] = "rw"  # noqa: S108
    return mounts


# Without this the host's own resolver addresses and search domains are written into the container.
_NO_RESOLVER: dict[str, Any] = {
    "Dns": ["127.0.0.1"],
    "DnsSearch": ["."],
    "DnsOptions": ["attempts:1"],
}


def _container(image: str, env: Mapping[str, str], labels: Mapping[str, str]) -> dict[str, Any]:
    return {
        "Image": image,
        "User": f"{USER}:{USER}",
        "Hostname": "box",
        "Env": [f"{key}={value}" for key, value in env.items()],
        "Labels": dict(labels),
        "OpenStdin": True,
        "StdinOnce": True,  # the lifeline: input ends when whoever attached to it goes
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "Tty": False,
        "HostConfig": {
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges", f"seccomp={profile()}"],
            "ReadonlyRootfs": True,
            "MaskedPaths": list(MASKED),
            "ReadonlyPaths": list(READ_ONLY),
            "IpcMode": "none",
            "RestartPolicy": {"Name": "no"},
            "LogConfig": {"Type": "none"},  # the attached streams are the log
            "Ulimits": [
                # A core dump is handed to a program of the host's choice, outside the container.
                {"Name": "core", "Soft": 0, "Hard": 0},
                {"Name": "nofile", "Soft": 8192, "Hard": 8192},
                # Counted per user over all containers; the real limit is the cgroup's. Podman wants
                # it given.
                {"Name": "nproc", "Soft": 32768, "Hard": 32768},
            ],
            **_NO_RESOLVER,
        },
    }


def _mount(
    source: str, target: str, *, read_only: bool = False, take_owner: bool = False
) -> dict[str, Any]:
    return {
        "Type": "volume",
        "Source": source,
        "Target": target,
        "ReadOnly": read_only,
        "VolumeOptions": {"NoCopy": not take_owner},
    }


def _tmpfs(size: int, execute: str) -> str:
    return f"rw,nosuid,nodev,{execute},size={size},mode=0700,uid={USER},gid={USER}"
