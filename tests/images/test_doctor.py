from pathlib import Path
from typing import Any

import pytest

from runner.images import doctor

FINE = {
    "OSType": "linux",
    "Architecture": "aarch64",
    "SecurityOptions": ["name=seccomp,profile=default"],
    "MemoryLimit": True,
    "PidsLimit": True,
    "CgroupVersion": "2",
    "CgroupDriver": "systemd",
}


def levels(info: dict[str, Any]) -> dict[str, str]:
    return {found.what: found.level for found in doctor.machine(info)}


@pytest.mark.parametrize(
    ("change", "what", "level"),
    [
        ({}, "limits", "ok"),
        ({"OSType": "windows"}, "platform", "problem"),
        ({"Architecture": "riscv64"}, "platform", "problem"),
        ({"SecurityOptions": ["name=apparmor"]}, "seccomp", "problem"),
        ({"SecurityOptions": None}, "seccomp", "problem"),
        ({"PidsLimit": False}, "limits", "warning"),
        ({"MemoryLimit": False}, "limits", "warning"),
    ],
)
def test_what_a_kernel_lacks(change: dict[str, Any], what: str, level: str) -> None:
    found = levels(FINE | change)
    assert found[what] == level
    assert [name for name in found if found[name] != "ok"] == ([] if level == "ok" else [what])


@pytest.mark.parametrize(
    ("bound", "level"), [(None, "ok"), ("PLENTY_BYTES", "warning"), ("LEAST_BYTES", "problem")]
)
def test_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str | None, level: str
) -> None:
    monkeypatch.setattr(doctor, "PLENTY_BYTES", 0)
    monkeypatch.setattr(doctor, "LEAST_BYTES", 0)
    if bound:
        monkeypatch.setattr(doctor, bound, 10**18)
    found = doctor.room(tmp_path, local=True)
    assert found.level == level
    assert bool(found.next_step) == (level != "ok")
    assert doctor.room(tmp_path, local=False).level == "ok"
    assert doctor.room(tmp_path / "gone", local=True).level == "ok"


def test_a_state_folder_that_cannot_be_made(tmp_path: Path) -> None:
    assert doctor.state_folder(tmp_path / "new/deep").level == "ok"
    (tmp_path / "file").write_text("")
    found = doctor.state_folder(tmp_path / "file/deep")
    assert found.level == "problem"
    assert "BENCH_STATE" in found.next_step


def test_a_bundle_that_is_not_there() -> None:
    found = doctor.certificates({"BENCH_CA": "/nonexistent/ca.crt"})
    assert found.level == "problem"
    assert "BENCH_CA" in found.next_step


def test_no_engine_is_one_problem_with_a_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/engine.sock")
    problems = [found for found in doctor.examine() if found.level == "problem"]
    assert [found.what for found in problems] == ["engine"]
    assert problems[0].next_step
