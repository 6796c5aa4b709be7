import hashlib
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from runner.errors import CannotStart
from runner.images import _apt
from tests.images._repository import archive, package

pytestmark = pytest.mark.skipif(shutil.which("apt-get") is None, reason="needs apt-get")
ESSENTIAL = {"Essential": "yes"}
BOTH = ("amd64", "arm64")


@pytest.fixture
def source(tmp_path: Path) -> str:
    """An archive in which arm64 lacks one version and has another."""
    return archive(
        tmp_path / "archive",
        *(package("bash", "5.2-1", one, Depends="libc6", **ESSENTIAL) for one in BOTH),
        package("libc6", "2:2.41-1+b1", "amd64"),
        package("libc6", "2:2.41-1", "arm64"),
        package("libc6", "2:2.40-9", "amd64"),
        package("perl-base", "5", "all", Priority="required"),
        package("apt", "3", "amd64", Recommends="much"),
        package("apt", "3", "arm64"),
        package("much", "1", "all"),
        package("jq", "1.7~rc1", "amd64", Depends="libjq (= 1.7~rc1) | other"),
        package("libjq", "1.7~rc1", "amd64"),
    )


def test_what_would_be_there_is_told_for_each_architecture(source: str) -> None:
    found = {}
    for architecture in BOTH:
        with _apt.index(architecture, [source]) as index:
            found[architecture] = index.resolve(_apt.SMALLEST)
            assert index.date() == datetime(2026, 11, 29, 0, 53, 14, tzinfo=UTC)
    told = {
        one: [f"{deb.name} {deb.version} {deb.architecture}" for deb in debs]
        for one, debs in found.items()
    }
    assert told == {
        "amd64": ["apt 3 amd64", "bash 5.2-1 amd64", "libc6 2:2.41-1+b1 amd64", "perl-base 5 all"],
        "arm64": ["apt 3 arm64", "bash 5.2-1 arm64", "libc6 2:2.41-1 arm64", "perl-base 5 all"],
    }
    libc = next(deb for deb in found["arm64"] if deb.name == "libc6")
    assert libc.sha256 == hashlib.sha256(b"libc6 2:2.41-1 arm64").hexdigest()


def test_what_comes_with_a_package_is_told(source: str) -> None:
    with _apt.index("amd64", [source]) as index:
        names = [deb.name for deb in index.resolve(["jq"])]
        assert names == ["jq", "libjq"]
        with pytest.raises(CannotStart, match="Unable to locate package nothing"):
            index.resolve(["nothing"])
        # What is for other architectures alone is not there.
    with _apt.index("arm64", [source]) as index, pytest.raises(CannotStart, match="jq"):
        index.resolve(["jq"])


def test_the_machines_own_settings_have_no_part_in_it(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "apt.conf"
    config.write_text('APT::Install-Recommends "true";\nDir::Etc::sourcelist "/nonexistent";\n')
    monkeypatch.setenv("APT_CONFIG", str(config))
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    with _apt.index("amd64", [source]) as index:
        assert [deb.name for deb in index.resolve(["apt"])] == ["apt"]
    assert not list(Path(os.environ.get("TMPDIR", "/tmp")).glob("memory-bench-apt-*/lists/file*"))


def test_a_part_of_the_archive_that_cannot_be_had_is_no_warning(
    source: str, tmp_path: Path
) -> None:
    missing = f"deb [trusted=yes] file:{tmp_path}/missing trixie main"
    with (
        pytest.raises(CannotStart, match="apt-get update failed"),
        _apt.index("amd64", [source, missing]),
    ):
        pass


def test_an_archive_that_nobody_signed_is_not_believed(source: str) -> None:
    unsigned = source.replace("[trusted=yes] ", "")
    with pytest.raises(CannotStart, match="not signed"), _apt.index("amd64", [unsigned]):
        pass


def test_without_apt_it_says_what_to_do(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(CannotStart, match="none") as caught, _apt.index("amd64", [source]):
        pass
    assert "--only" in caught.value.hint
