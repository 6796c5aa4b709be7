"""Limits as the kernel states them inside the container."""

import os
from collections.abc import Mapping
from typing import NamedTuple, Optional

from runner.runs.sandbox.inside.report import Config, name

CGROUPS = "/sys/fs/cgroup"
SLACK = 4096 * 16
"""How far a size may lie above what was asked: whole pages, and what a file system rounds up to."""


class Seen(NamedTuple):
    """The fields of ``runner.model.Limit``."""

    name: str
    wanted: str
    seen: str
    enforced: bool


def limits(config: Config) -> list[Seen]:
    """Every limit in ``config["limits"]``, and those every container has."""
    wanted: Mapping[str, float] = config["limits"]
    rows = [
        _at_most("memory", wanted["memory"], _number("memory.max", "memory/memory.limit_in_bytes")),
        _at_most("pids", wanted["pids"], _number("pids.max", "pids/pids.max")),
    ]
    if "cpus" in wanted:
        rows.append(_at_most("cpus", wanted["cpus"], _cpus()))
    for path in config.get("sizes", {}):
        rows.append(_at_most(f"size of {path}", config["sizes"][path], _size(path), SLACK))
    for process in ("self", "1"):
        status = _status(process)
        who = "" if process == "self" else " of the first process"
        rows += [
            _equal(f"no new privileges{who}", "1", status.get("NoNewPrivs")),
            _equal(f"system-call filter{who}", "2", status.get("Seccomp")),
            _equal(f"user{who}", config["user"], (status.get("Uid") or "").split("\t")[0]),
        ]
    rows.append(_equal("root", "EROFS", _root()))
    rows.append(_equal("core dumps", "0", _core()))
    return rows


def _at_most(what: str, wanted: float, seen: Optional[float], slack: float = 0) -> Seen:  # noqa: UP045
    if seen is None:
        return Seen(what, _plain(wanted), "not to be seen", False)
    return Seen(what, _plain(wanted), _plain(seen), 0 <= seen <= wanted + slack)


def _plain(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else str(number)


def _equal(what: str, wanted: str, seen: Optional[str]) -> Seen:  # noqa: UP045
    return Seen(what, wanted, seen or "not to be seen", seen == wanted)


def _read(file: str) -> Optional[str]:  # noqa: UP045
    try:
        with open(f"{CGROUPS}/{file}") as handle:
            return handle.read().strip()
    except OSError:
        return None


def _number(*files: str) -> Optional[float]:  # noqa: UP045
    """The first of these files that is there; ``max`` is no limit."""
    for file in files:
        text = _read(file)
        if text is not None:
            return float("inf") if text == "max" else float(text)
    return None


def _cpus() -> Optional[float]:  # noqa: UP045
    both = _read("cpu.max")
    if both is not None:
        quota, period = both.split()
        return float("inf") if quota == "max" else float(quota) / float(period)
    one, other = _read("cpu/cpu.cfs_quota_us"), _read("cpu/cpu.cfs_period_us")
    if one is None or other is None:
        return None
    return float("inf") if float(one) < 0 else float(one) / float(other)


def _size(path: str) -> Optional[float]:  # noqa: UP045
    try:
        room = os.statvfs(path)
    except OSError:
        return None
    return room.f_blocks * room.f_frsize


def _status(process: str) -> dict[str, str]:
    try:
        with open(f"/proc/{process}/status") as file:
            return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    except OSError:
        return {}


def _root() -> str:
    try:
        os.close(os.open("/.probe", os.O_CREAT | os.O_WRONLY, 0o600))
    except OSError as error:
        return name(error.errno or 0)
    os.unlink("/.probe")
    return "writable"


def _core() -> str:
    import resource

    return str(resource.getrlimit(resource.RLIMIT_CORE)[1])
