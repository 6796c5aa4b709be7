import json
from pathlib import Path

import pytest

from runner.errors import UsageError
from runner.images import _folder, _installs, locks
from runner.images._apt import Deb
from runner.images.locks import DebianLock
from runner.model import Package
from tests.images.conftest import Make

HASH = "0" * 64
LOCK = DebianLock(
    "trixie",
    "20261129T005314Z",
    {
        "amd64": (Deb("bash", "5.2-1+b1", "amd64", HASH), Deb("tzdata", "1:2026a", "all", HASH)),
        "arm64": (Deb("bash", "5.2-1", "arm64", "1" * 64),),
    },
)


def test_a_lock_is_read_as_it_is_written() -> None:
    text = LOCK.text()
    assert locks.parse(text) == LOCK
    assert locks.parse(text).text() == text
    assert text.splitlines()[0] == "# Debian trixie as of 20261129T005314Z"
    assert f"bash 5.2-1+b1 amd64 {HASH}" in text.splitlines()


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        ("# Debian trixie as of 20261129T005314Z", "", "does not say which Debian"),
        ("as of 2026", "of 2026", "does not say which Debian"),
        ("[arm64]", "[amd64]", r"has \[amd64\] twice"),
        ("tzdata 1:2026a all", "tzdata 1:2026a", "Line 5 .* is no package"),
        (HASH, HASH[1:], "Line 4 .* is no package"),
        ("[amd64]\n", "", "Line 3 .* is no package"),
        ("tzdata 1:2026a all", "bash 5.2-2 amd64", r"a package twice in \[amd64\]"),
    ],
)
def test_a_damaged_lock_is_none(was: str, now: str, why: str) -> None:
    text = LOCK.text()
    assert was in text
    with pytest.raises(UsageError, match=why) as caught:
        locks.parse(text.replace(was, now, 1), "images/x/debian.lock")
    assert "images/x/debian.lock" in caught.value.message
    assert "bench images lock" in caught.value.hint


def debian(folder: Path, *rows: str) -> None:
    lines = "".join(f"{row} amd64 {HASH}\n" for row in rows)
    (folder / "debian.lock").write_text(f"# Debian x as of 20260101T000000Z\n[amd64]\n{lines}")


def deb(name: str, version: str) -> Package:
    return Package(manager="deb", name=name, version=version)


def test_an_image_is_pinned_by_the_bases_lock_and_its_own(make: Make, tmp_path: Path) -> None:
    folder = make("some", "ARG VERSION=2.0", locks=("2.0.txt", "1.0.txt", "build.txt"))
    debian(tmp_path / "images/base", "bash 1", "dash 2")
    debian(folder, "nodejs 20")
    (folder / "locks/2.0.txt").write_text(f"Some_Thing[x]==2.0 \\\n    --hash=sha256:{HASH}\n")
    (folder / "locks/1.0.txt").write_text("some-thing==1.0\n")
    (folder / "locks/build.txt").write_text("# nothing==1\nwheel==3 ; python_version < '3'\n")
    (folder / "package-lock.json").write_text(
        json.dumps(
            {
                "packages": {
                    "": {"name": "root", "version": "0"},
                    "node_modules/a/node_modules/@b/c": {"version": "1.2.3"},
                    "node_modules/alias": {"name": "real", "version": "4"},
                    "node_modules/link": {"link": True},
                }
            }
        )
    )
    found = locks.pins("some", "amd64", "2.0")
    assert found.debian == {"bash": "1", "dash": "2", "nodejs": "20"}
    assert {f"{one.manager} {one.name} {one.version}" for one in found.others} == {
        "pypi some-thing 2.0",
        "pypi wheel 3",
        "npm @b/c 1.2.3",
        "npm real 4",
    }
    assert found.managers == {"pypi", "npm"}
    assert len(locks.pins("some", "amd64").others) == 5
    assert locks.pins("some", "arm64").debian is None
    (folder / "debian.lock").unlink()
    assert locks.pins("some", "amd64").debian == {"bash": "1", "dash": "2"}
    (tmp_path / "images/base/debian.lock").unlink()
    assert locks.pins("some", "amd64").debian is None


@pytest.mark.parametrize(
    ("name", "text"),
    [("package-lock.json", "[]"), ("package-lock.json", "{"), ("uv.lock", "x"), ("uv.lock", "")],
)
def test_a_file_that_is_no_lock_is_named(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=f"{name} is no lock"):
        list(locks.pinned(tmp_path / name))


def test_hashes_are_told_by_package_and_version() -> None:
    text = "# a==0\nA_b==1 ; python_version < '3' \\\n"
    text += f"    --hash=sha256:{HASH} \\\n    --hash=sha256:{'1' * 64}\n    # via c\nc==2\n"
    found = locks.digests("requirements.lock", text)
    assert found.keys() == {"a-b", "c"}
    assert f"sha256:{HASH}" in found["a-b"]["1"]
    assert found["a-b"] != locks.digests("x.lock", text.replace("'3'", "'4'"))["a-b"]
    assert locks.digests("x.lock", "") == {}
    npm = json.dumps({"packages": {"node_modules/a": {"version": "1", "integrity": "sha512-x"}}})
    assert locks.digests("package-lock.json", npm) == {"a": {"1": ("sha512-x",)}}
    uv = '[[package]]\nname = "A"\nversion = "1"\nsdist = { hash = "s" }\nwheels = [{ hash = "w" }]'
    assert locks.digests("uv.lock", uv) == {"a": {"1": ("s", "w")}}


# ---------------------------------------------------------------- the project's own


def test_every_package_that_an_image_installs_is_locked_for_both_architectures() -> None:
    assert set(_installs.names()) == {"base", "bench", "claude-mem"}
    for name in _folder.names():
        lock = locks.debian(name)
        wanted = _installs.wanted(name)
        assert (lock is None) == (not wanted)
        if lock is None:
            continue
        assert tuple(sorted(lock.packages)) == locks.ARCHITECTURES
        for architecture, debs in lock.packages.items():
            assert {deb.architecture for deb in debs} <= {architecture, "all"}
            names = {deb.name for deb in debs}
            assert {one for one in wanted if one.isidentifier() or "-" in one} <= names
            if name != "base":
                below = locks.debian("base")
                assert below is not None
                assert not names & {deb.name for deb in below.packages[architecture]}
                assert below.suite == lock.suite


def test_what_images_install_is_read_from_their_files() -> None:
    assert set(_installs.wanted("bench")) == {"docker-cli", "docker-buildx"}
    assert {"?essential", "tini", "python3-venv", "ca-certificates"} <= set(
        _installs.wanted("base")
    )
    # npm is in a stage that is left behind.
    assert set(_installs.wanted("claude-mem")) == {"nodejs", "procps"}


def test_only_what_the_last_stage_and_those_below_it_install_counts(make: Make) -> None:
    make(
        "some",
        "FROM a AS b",
        "RUN bench-apt npm",
        "FROM --platform=linux/amd64 a as below",
        "RUN bench-apt --yes nothing; bench-apt sl && bench-seal",
        "FROM below",
        "RUN --mount=type=secret,id=apt,target=/dev/apt.sources \\",
        "    bench-apt g++ \\",
        "# for a reason",
        "        libc6-dev && bench-seal",
        "RUN apt-get update && apt-get install -q -y --no-install-recommends jq; bench-seal",
    )
    file = make("other") / "Dockerfile"
    file.write_text(file.read_text() + "RUN bench-apt $WHAT && echo bench-aptitude x\n")
    some = Path(file.parent.parent / "some/Dockerfile")
    some.write_text(some.read_text().replace("\nFROM x\n", "\n"))
    assert _installs.wanted("some") == ("g++", "jq", "libc6-dev", "sl")
    assert _installs.wanted("other") == ()


def test_every_lock_of_python_has_a_hash_for_every_package() -> None:
    for name in _folder.names():
        for file in locks.files(name):
            found = locks.digests(file.name, file.read_text())
            if file.name == locks.UV:
                continue
            assert found
            for package, versions in found.items():
                hashes = [one for version in versions.values() for one in version]
                assert any(one.startswith(("sha256:", "sha512-")) for one in hashes), package
