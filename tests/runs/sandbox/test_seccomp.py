"""The filter says what its script says, and shuts what it has to."""

import importlib.util
import json
from types import ModuleType
from typing import Any

import pytest

from runner.paths import root
from runner.runs.sandbox._seccomp import profile


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "seccomp_profile", root() / "scripts" / "seccomp_profile.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rules(call: str) -> list[dict[str, Any]]:
    return [rule for rule in json.loads(profile())["syscalls"] if call in rule["names"]]


def test_whatever_is_not_allowed_is_denied() -> None:
    parsed = json.loads(profile())
    assert parsed["defaultAction"] == "SCMP_ACT_ERRNO"
    assert all(entry["subArchitectures"] == [] for entry in parsed["archMap"])
    assert {rule["action"] for rule in parsed["syscalls"]} == {"SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"}


def test_what_is_denied_is_on_no_list(script: ModuleType) -> None:
    for group in script.DENIED.values():
        for call in group.split():
            assert rules(call) == [], call
    for call in ("read", "openat", "execve", "futex", "epoll_wait", "mmap", "statx", "rseq"):
        assert rules(call) == [{"names": rules(call)[0]["names"], "action": "SCMP_ACT_ALLOW",
                                "args": []}]  # fmt: skip


def test_sockets_by_family() -> None:
    families = sorted(rule["args"][0]["value"] for rule in rules("socket"))
    assert families == [1, 2, 10, 16]
    assert all(arg["op"] == "SCMP_CMP_EQ" for rule in rules("socket") for arg in rule["args"])
    netlink = next(rule for rule in rules("socket") if rule["args"][0]["value"] == 16)
    assert netlink["args"][1] == {"index": 2, "value": 0, "op": "SCMP_CMP_EQ"}
    assert [rule["args"][0]["value"] for rule in rules("socketpair")] == [1]
    assert rules("socketcall") == []


def test_no_new_namespaces() -> None:
    (clone,) = rules("clone")
    assert clone["args"][0]["op"] == "SCMP_CMP_MASKED_EQ"
    assert clone["args"][0]["value"] & 0x10000000
    assert clone["args"][0]["valueTwo"] == 0
    (clone3,) = rules("clone3")
    assert (clone3["action"], clone3["errnoRet"]) == ("SCMP_ACT_ERRNO", 38)


def test_the_file_is_what_the_script_writes(script: ModuleType) -> None:
    """On whatever libseccomp there is: what an older one does not know may be missing, no more."""
    names: set[str] = set()
    for architecture in script.ARCHITECTURES.values():
        names |= script.known(architecture)
    built, kept = script.build(names), json.loads(profile())
    assert built["syscalls"][1:] == kept["syscalls"][1:]
    assert set(built["syscalls"][0]["names"]) <= set(kept["syscalls"][0]["names"])
