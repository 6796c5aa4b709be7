import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner import paths
from runner.errors import CannotStart, UsageError
from runner.images import _folder, _renewal, locks, relock
from runner.images.relock import Change, Kind, Renewed
from tests.images._repository import archive, package, served, wheel
from tests.images.conftest import Make

ROOT = Path(__file__).parents[2]
X86 = "py3-none-manylinux_2_17_x86_64"
ARM = "py3-none-manylinux_2_17_aarch64"


def quiet(_line: str) -> None:
    """Says nothing."""


def looked(name: str, kind: Kind, source: str = "") -> list[Renewed]:
    sources = [source] if source else None
    return list(relock.relock([name], {kind}, quiet, sources))


# ---------------------------------------------------------------- Debian


needs_apt = pytest.mark.skipif(shutil.which("apt-get") is None, reason="needs apt-get")
SMALLEST = (
    package("bash", "5", "amd64", Essential="yes"),
    package("bash", "5", "arm64", Essential="yes"),
    package("apt", "3", "all"),
    package("tini", "1", "all"),
)


@pytest.fixture
def debian(make: Make, tmp_path: Path) -> Path:
    """A project with a base and an image that installs more; where its archive is to lie."""
    base = tmp_path / "images/base"
    (base / "make-debian").write_text("mmdebstrap --variant=minbase\n")
    (base / "install").write_text('"$here"/bin/bench-apt tini\n')
    (base / "debian.env").write_text("DEBIAN_SUITE=trixie\nSOURCE_DATE_EPOCH=1\n")
    folder = make("some")
    (folder / "Dockerfile").write_text("FROM x\nRUN bench-apt jq && bench-seal\n")
    (tmp_path / "Dockerfile").write_text("FROM x\n")
    return tmp_path / "archive"


@pytest.mark.slow
@needs_apt
def test_each_image_gets_what_it_adds_and_a_change_is_told(debian: Path) -> None:
    jq = [package("jq", "1.7", one, Depends="bash, libjq") for one in ("amd64", "arm64")]
    source = archive(debian, *SMALLEST, *jq, package("libjq", "1", "all"))
    assert relock.names() == ("base", "some")
    base, some = relock.relock(["base", "some"], {Kind.DEBIAN}, quiet, [source])
    assert [(one.package, one.platform, one.was, one.now) for one in some.changes] == [
        ("jq", "amd64", "", "1.7"),
        ("libjq", "amd64", "", "1"),
        ("jq", "arm64", "", "1.7"),
        ("libjq", "arm64", "", "1"),
    ]
    assert {one.package for one in base.changes} == {"apt", "bash", "tini"}
    assert not locks.file("base").exists()
    for one in (base, some):
        one.write()
    lock = locks.debian("some")
    assert lock is not None
    assert (lock.suite, lock.moment) == ("trixie", "20261129T005314Z")

    # A later index with the same packages is no reason to write anything.
    later = "Mon, 30 Nov 2026 00:00:00 UTC"
    archive(debian, *SMALLEST, *jq, package("libjq", "1", "all"), date=later)
    (same,) = looked("some", Kind.DEBIAN, source)
    assert same.changes == ()
    before = same.file.read_bytes()
    same.write()
    assert same.file.read_bytes() == before

    # The same version with other bytes is a change too, and what nobody needs is gone.
    arm = package("jq", "1.7", "arm64", SHA256="f" * 64, Depends="bash")
    archive(debian, *SMALLEST, package("jq", "1.8", "amd64"), arm, date=later)
    (changed,) = looked("some", Kind.DEBIAN, source)
    assert changed.changes == (
        Change("jq", "amd64", "1.7", "1.8"),
        Change("libjq", "amd64", "1", ""),
        Change("jq", "arm64", "1.7", "1.7"),
        Change("libjq", "arm64", "1", ""),
    )
    changed.write()
    renewed = locks.debian("some")
    assert renewed is not None
    assert renewed.moment == "20261130T000000Z"


@needs_apt
def test_a_lock_that_cannot_be_written_is_told(debian: Path, tmp_path: Path) -> None:
    source = archive(debian, *SMALLEST, package("jq", "1", "all"))
    (one,) = looked("some", Kind.DEBIAN, source)
    shutil.rmtree(tmp_path / "images/some")
    (tmp_path / "images/some").write_text("in the way")
    with pytest.raises(CannotStart, match=r"debian\.lock cannot be written"):
        one.write()


# ---------------------------------------------------------------- Python


@pytest.fixture
def index(tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An index of Python packages that nothing but this test has."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/uv.txt", tmp_path / "scripts/uv.txt")
    folder = tmp_path / "index"
    folder.mkdir()
    wheel(folder, "some", "1.0", "py3-none-any", "native>=1")
    wheel(folder, "native", "1.0", X86)
    wheel(folder, "native", "1.0", ARM)
    with served(folder) as address:
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"{address}/simple")
        monkeypatch.setenv("UV_NO_CACHE", "1")
        for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.delenv(name, raising=False)
        yield folder


def table(folder: Path, text: str) -> None:
    (folder / "locks.toml").write_text(text)


@pytest.mark.slow
def test_python_is_resolved_again_from_what_is_asked_for(index: Path, make: Make) -> None:
    folder = make("some")
    table(folder, '[[python]]\nlock = "r.lock"\ninputs = ["r.in"]\npython = "3.13"\n')
    (folder / "r.in").write_text("some\n")
    (folder / "r.lock").write_text("# kept\n# as it is\nsome==0.9\n")
    (found,) = looked("some", Kind.PYTHON)
    assert found.changes == (Change("native", "", "", "1.0"), Change("some", "", "0.9", "1.0"))
    assert found.remarks == ()
    assert found.text.startswith("# kept\n# as it is\nnative==1.0 \\\n    --hash=sha256:")
    # Both wheels of the one that has two.
    assert found.text.count("--hash=") == 3
    assert str(paths.root()) not in found.text
    found.write()
    (same,) = looked("some", Kind.PYTHON)
    assert same.changes == ()

    wheel(index, "some", "1.1", "py3-none-any")
    (newer,) = looked("some", Kind.PYTHON)
    assert newer.changes == (Change("native", "", "1.0", ""), Change("some", "", "1.0", "1.1"))


@pytest.mark.slow
def test_what_has_no_wheel_for_an_architecture_is_told(index: Path, make: Make) -> None:
    folder = make("some", "ARG VERSION=1.0", locks=("1.0.txt",))
    table(
        folder,
        '[[python]]\nlock = "locks/{version}.txt"\nrequire = "some=={version}"\npython = "3.13"\n'
        '[[python]]\nlock = "x.lock"\nrequire = "only ; platform_machine == \'x86_64\'"\n'
        'python = "3.13"\ndependencies = false\n',
    )
    wheel(index, "some", "1.0", "py3-none-any", "native>=1", "lonely")
    wheel(index, "lonely", "2", X86)
    wheel(index, "only", "3", X86, "unheard-of")
    first, second = looked("some", Kind.PYTHON)
    assert first.file.name == "1.0.txt"
    assert first.remarks == ("some, locks/1.0.txt: arm64 has no wheel of lonely",)
    assert second.remarks == ("some, x.lock: arm64 has no wheel of only",)
    assert "unheard-of" not in second.text


@pytest.mark.slow
def test_a_wheel_that_came_later_is_a_change_of_the_lock(index: Path, make: Make) -> None:
    folder = make("some")
    table(folder, '[[python]]\nlock = "r.lock"\nrequire = "lonely"\npython = "3.13"\n')
    wheel(index, "lonely", "2", X86)
    (first,) = looked("some", Kind.PYTHON)
    first.write()
    wheel(index, "lonely", "2", ARM)
    (second,) = looked("some", Kind.PYTHON)
    assert first.remarks == ("some, r.lock: arm64 has no wheel of lonely",)
    assert (second.changes, second.remarks) == ((Change("lonely", "", "2", "2"),), ())


@pytest.mark.slow
def test_what_cannot_be_resolved_is_told(index: Path, make: Make) -> None:
    folder = make("some")
    table(folder, '[[python]]\nlock = "r.lock"\nrequire = "nobody-has-this"\npython = "3.13"\n')
    with pytest.raises(CannotStart, match=r"uv pip compile failed[\s\S]*nobody-has-this"):
        looked("some", Kind.PYTHON)
    assert not (folder / "r.lock").exists()


@pytest.mark.parametrize("text", ["python = 1", "[[python]]\nlock = 'x'", "[x]", "[[python"])
def test_a_table_that_says_nothing_is_named(make: Make, text: str) -> None:
    table(make("some"), text)
    with pytest.raises(UsageError, match=r"images/some/locks\.toml"):
        looked("some", Kind.PYTHON)


# ---------------------------------------------------------------- npm


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")
def test_npm_is_resolved_again(make: Make, tmp_path: Path) -> None:
    folder = make("some")
    table(folder, "[npm]\n")
    (folder / "package.json").write_text(json.dumps({"name": "x", "dependencies": {}}))
    old = {"packages": {"": {"name": "x"}, "node_modules/a": {"version": "1", "integrity": "i"}}}
    (folder / "package-lock.json").write_text(json.dumps(old))
    (found,) = looked("some", Kind.NPM)
    assert found.changes == (Change("a", "", "1", ""),)
    assert json.loads(found.text)["packages"] == {"": {"name": "x"}}


def test_without_npm_it_says_what_to_do(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make("some")
    table(folder, "[npm]\n")
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(CannotStart, match="there is none here"):
        looked("some", Kind.NPM)


# ---------------------------------------------------------------- the project's own


def test_the_tables_name_files_that_there_are() -> None:
    for name in _folder.names():
        how, folder = _renewal.renewal(name), _renewal.folder(name)
        named = {folder / locks.UV} if how.uv else set()
        for many in how.python:
            for one in _renewal.each(name, many):
                for file in (one.lock, *one.inputs, *filter(None, [one.overrides])):
                    assert (folder / file).is_file(), file
                named.add(folder / one.lock)
        if how.npm:
            named.add(folder / locks.NPM)
        # Each lock can be renewed.
        assert set(locks.files(name)) <= named
