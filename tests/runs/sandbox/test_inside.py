"""The parts of the probes that need no container, run here."""

import os
import signal
import time
from pathlib import Path

import pytest

from runner.runs.sandbox.inside import limits as inside_limits
from runner.runs.sandbox.inside import report
from runner.runs.sandbox.inside.report import BLOCKED, ESCAPED, INAPPLICABLE, collect, in_child


def test_one_success_is_never_hidden_among_failures() -> None:
    verdicts = {"a": (BLOCKED, "EPERM"), "b": (ESCAPED, "opened"), "c": (BLOCKED, "EPERM")}
    rows = [tuple(row) for row in collect({}, "probe", verdicts, "ways")]
    assert rows == [
        ("probe", "b", ESCAPED, "opened"),
        ("probe", "2 ways", BLOCKED, "EPERM (2)"),
    ]
    assert len(collect({"each": True}, "probe", verdicts, "ways")) == 3
    assert collect({}, "probe", {}, "ways")[0].result == INAPPLICABLE


def test_a_child_tells_how_it_fared(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> tuple[str, str]:
        raise PermissionError(1, "no")

    def killed() -> tuple[str, str]:
        os.kill(os.getpid(), signal.SIGSYS)
        return ESCAPED, "never"

    def hung() -> tuple[str, str]:
        time.sleep(30)
        return ESCAPED, "never"

    def broken() -> tuple[str, str]:
        raise KeyError("x")

    assert in_child(lambda: (ESCAPED, "it went out")) == (ESCAPED, "it went out")
    assert in_child(refused) == (BLOCKED, "EPERM")
    assert in_child(killed) == (BLOCKED, "killed by SIGSYS")
    monkeypatch.setattr(report, "CHILD_S", 0.2)
    assert in_child(hung) == (INAPPLICABLE, "no end within 0.2 s")
    assert in_child(broken)[0] == INAPPLICABLE
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.parametrize(
    ("files", "memory", "pids", "cpus"),
    [
        (
            {"memory.max": "1000", "pids.max": "7", "cpu.max": "150000 100000"},
            ("1000", True),
            ("7", True),
            ("1.5", True),
        ),
        (
            {"memory.max": "max", "pids.max": "max", "cpu.max": "max 100000"},
            ("inf", False),
            ("inf", False),
            ("inf", False),
        ),
        (
            {
                "memory/memory.limit_in_bytes": "9223372036854771712",
                "pids/pids.max": "8",
                "cpu/cpu.cfs_quota_us": "-1",
                "cpu/cpu.cfs_period_us": "100000",
            },
            ("9223372036854771712", False),
            ("8", False),
            ("inf", False),
        ),
        ({}, ("not to be seen", False), ("not to be seen", False), ("not to be seen", False)),
    ],
)
def test_both_kinds_of_control_groups_are_read(
    files: dict[str, str],
    memory: tuple[str, bool],
    pids: tuple[str, bool],
    cpus: tuple[str, bool],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    monkeypatch.setattr(inside_limits, "CGROUPS", str(tmp_path))
    monkeypatch.setattr(inside_limits, "_root", lambda: "EROFS")
    config = {"limits": {"memory": 1000, "pids": 7, "cpus": 1.5}, "user": "0"}
    seen = {row.name: (row.seen, row.enforced) for row in inside_limits.limits(config)}
    assert (seen["memory"], seen["pids"], seen["cpus"]) == (memory, pids, cpus)
