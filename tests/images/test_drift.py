from pathlib import Path

from runner.images import _source, drift, labels
from runner.images.locks import Pins
from runner.images.survey import compare
from runner.model import Package
from tests.images.conftest import Make
from tests.images.test_survey import BASE_ID, base, built

HASH = "0" * 64


def deb(name: str, version: str = "1") -> Package:
    return Package(manager="deb", name=name, version=version)


def pypi(name: str, version: str = "1") -> Package:
    return Package(manager="pypi", name=name, version=version)


def pins(*others: Package, **debian: str) -> Pins:
    return Pins(debian, frozenset(others), frozenset(one.manager for one in others))


def test_an_image_of_its_locks_has_not_drifted() -> None:
    held = [deb("bash"), pypi("numpy")]
    assert drift.compare(held, pins(pypi("numpy"), pypi("pip", "9"), bash="1"), "amd64") == ()


def test_every_way_to_drift_is_told_with_both_versions() -> None:
    held = [
        deb("bash", "5.2-1+b2"),
        deb("new"),
        pypi("numpy", "2"),
        pypi("six"),
        Package(manager="npm", name="@a/b", version="3"),
    ]
    wanted = pins(
        pypi("numpy", "1.26"),
        pypi("numpy", "1.25"),
        Package(manager="npm", name="@a/b", version="2"),
        bash="5.2-1",
        gone="1:7",
    )
    assert drift.compare(held, wanted, "amd64") == (
        "deb bash: locked 5.2-1, holds 5.2-1+b2",
        "deb gone: locked 1:7, is missing",
        "deb new: not locked, holds 1",
        "npm @a/b: locked 2, holds 3",
        "pypi numpy: locked 1.25 or 1.26, holds 2",
        "pypi six: not locked, holds 1",
    )


def test_an_architecture_without_a_lock_is_told_once() -> None:
    found = drift.compare([deb("a"), deb("b")], Pins(None, frozenset(), frozenset()), "riscv64")
    assert found == ("deb: no lock for riscv64",)


def test_a_version_is_held_to_its_own_lock(make: Make, tmp_path: Path) -> None:
    folder = make("some", "ARG VERSION=2.0", locks=("2.0.txt", "1.0.txt"))
    (tmp_path / "images/base/debian.lock").write_text(
        f"# Debian x as of 20260101T000000Z\n[amd64]\nbash 1 amd64 {HASH}\n"
    )
    (folder / "locks/2.0.txt").write_text("some==2.0\n")
    (folder / "locks/1.0.txt").write_text("some==1.0\n")
    held = [deb("bash"), pypi("some", "1.0")]
    assert drift.drift("some", "amd64", "1.0", held) == ()
    assert drift.drift("some", "amd64", "2.0", held) == ("pypi some: locked 2.0, holds 1.0",)


def test_a_label_says_it_and_is_read() -> None:
    lines = ("deb bash: locked 1, holds 2", "deb dash: locked 1:2~3, is missing")
    assert drift.of({labels.DRIFT: drift.label(lines)}) == lines
    assert drift.of({}) == ()
    assert drift.label(()) == ""


def test_a_line_tells_three_and_counts_the_rest() -> None:
    assert drift.brief(["a", "b", "c"]) == "a; b; c"
    assert drift.brief(["a", "b", "c", "d", "e"]) == "a; b; c; and 2 more"


def test_a_list_tells_what_drifted(make: Make) -> None:
    make("some")
    tag = _source.recipe("some", BASE_ID).tag
    rows = compare([base(), built("sha256:1", "some", tag, **{labels.DRIFT: "a; b"})])
    assert [row.drift for row in rows] == [(), ("a", "b"), ()]
