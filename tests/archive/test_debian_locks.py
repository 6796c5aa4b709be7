"""Debian's packages in an archive: which locks come along, and what a label may say of them."""

from types import SimpleNamespace
from typing import Any

import pytest

from runner import images
from runner.archive import _locks
from runner.archive.verify.locks import drifted, pins
from runner.images import drift, labels, locks
from runner.model import ImageIdentity, Package

HASH = "0" * 64


def test_a_lock_of_debian_pins_nothing_of_the_others() -> None:
    raw = locks.file("base").read_bytes()
    assert list(pins("base/debian.lock", raw)) == []


def of_the_locks(name: str) -> tuple[Package, ...]:
    wanted = locks.pins(name, "amd64").debian
    assert wanted is not None
    return tuple(Package(manager="deb", name=one, version=at) for one, at in wanted.items())


def identity(name: str, **fields: Any) -> ImageIdentity:
    usual = {
        "name": f"memory-bench/{name}:0",
        "config_digest": "sha256:0",
        "layers": (),
        "platform": "linux/amd64",
        "base": "",
        "source": images.source(name),
        "packages": of_the_locks(name),
    }
    return ImageIdentity(**{**usual, **fields})


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("base", {"debian.lock"}),
        ("engine", {"base/debian.lock", "requirements.lock"}),
        ("bench", {"base/debian.lock", "debian.lock", "uv.lock", "scripts/uv.txt"}),
    ],
)
def test_the_locks_of_all_its_packages_come_along(name: str, titles: set[str]) -> None:
    found = _locks.of(name, identity(name))
    assert found is not None
    assert found.keys() == titles
    at = {"base": "debian.lock"}.get(name, "base/debian.lock")
    assert found[at] == locks.file("base").read_bytes()
    if name == "bench":
        assert found["debian.lock"] == locks.file("bench").read_bytes()


def test_locks_it_was_not_built_with_stay_behind() -> None:
    others = (*of_the_locks("engine")[1:], Package(manager="deb", name="apt", version="0"))
    found = _locks.of("engine", identity("engine", packages=others))
    assert found is not None
    assert found.keys() == {"requirements.lock"}
    # Where it says itself by what it drifted, they are the ones.
    said = drift.drift("engine", "amd64", None, others)
    known = _locks.of("engine", identity("engine", packages=others, drift=said))
    assert known is not None
    assert "base/debian.lock" in known


class Wrong:
    """What is told of a check."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.notes: list[str] = []

    def at(self) -> None:
        """One thing more was looked at."""

    def amiss(self, line: str) -> None:
        self.lines.append(line)

    def note(self, line: str) -> None:
        self.notes.append(line)


def told(
    label: str, *packages: str, raw: bytes | None = None, platform: str = "linux/amd64"
) -> str:
    read = SimpleNamespace(platform=platform, labels={labels.DRIFT: label} if label else {})
    image: Any = SimpleNamespace(reference="memory-bench/x:0", read=read)
    text = "# Debian x as of 20260101T000000Z\n[amd64]\n"
    base = f"{text}bash 1 amd64 {HASH}\n".encode() if raw is None else raw
    own = f"{text}jq 2 amd64 {HASH}\n".encode()
    held = [Package(manager="deb", name=one[:-1], version=one[-1]) for one in packages]
    wrong: Any = Wrong()
    drifted(image, frozenset(held), [base, own], wrong)
    return " ".join(wrong.lines or wrong.notes)


def test_what_an_image_says_it_drifted_by_is_what_it_drifted_by() -> None:
    assert told("", "bash1", "jq2") == ""
    drifted_by = "deb bash: locked 1, holds 3"
    assert told(drifted_by, "bash3", "jq2") == f"memory-bench/x:0 drifted: {drifted_by}."
    # What is said of others is for others.
    assert told("pypi x: not locked, holds 1", "bash1", "jq2") == ""


def test_a_drift_that_is_hidden_or_made_up_is_found() -> None:
    assert "does not say it drifted: deb bash: locked 1, holds 3." in told("", "bash3", "jq2")
    assert "deb jq: locked 2, is missing" in told("", "bash1")
    made_up = told("deb bash: locked 1, holds 3", "bash1", "jq2")
    assert "says it drifted, and did not: deb bash: locked 1, holds 3." in made_up
    assert "no lock for riscv64" in told("", "bash1", platform="linux/riscv64")
    assert "does not say which Debian" in told("", raw=b"nothing")
