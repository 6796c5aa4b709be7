"""What is installed in an image, read out of layers that may be anybody's."""

import io
import tarfile
from collections.abc import Iterator

import pytest

from runner.archive.verify import databases
from runner.archive.verify.databases import Databases
from runner.errors import DamagedArchive
from runner.model import Package
from tests.archive._made import STATUS, Entry_, layer, listed

SITE = "opt/x/lib/python3.13/site-packages"


def read(*layers: bytes, chunk: int = 700) -> Databases:
    """Layers laid over one another, read in small pieces."""
    found = Databases()
    for raw in layers:
        found.add(pieces(raw, chunk))
    return found


def pieces(raw: bytes, chunk: int = 700) -> Iterator[bytes]:
    for at in range(0, len(raw), chunk):
        yield raw[at : at + chunk]


def said(*layers: bytes) -> set[str]:
    return {f"{one.manager} {one.name} {one.version}" for one in read(*layers).packages()}


def dist(name: str, version: str = "1.0", site: str = SITE) -> Entry_:
    told = f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n\nName: no\n".encode()
    return f"{site}/{name}-{version}.dist-info/METADATA", told


def node(name: str, version: str = "1.0", modules: str = "opt/y/node_modules") -> Entry_:
    return f"{modules}/{name}/package.json", f'{{"name":"{name}","version":"{version}"}}'.encode()


def test_the_databases_of_every_manager() -> None:
    assert said(
        layer(
            ("./var/lib/dpkg/status", STATUS.encode()),
            dist("Ruamel.YAML", "0.18"),
            (f"{SITE}/old.egg-info/PKG-INFO", b"Name: old\nVersion: 2\n"),
            node("zod", "4.1.0"),
            node("@scope/name", "1.2"),
        )
    ) == {
        "deb libc6 2.41-12",
        "deb libstdc++6 14.2.0-19",
        "pypi ruamel-yaml 0.18",
        "pypi old 2",
        "npm zod 4.1.0",
        "npm @scope/name 1.2",
    }


def test_what_only_looks_like_one_is_none() -> None:
    assert not said(
        layer(
            ("opt/x/lib/python3.13/dist-packages/debians-1.dist-info/METADATA", b"x"),
            (f"{SITE}/setuptools/_vendor/more-1.dist-info/METADATA", b"x"),
            (f"{SITE}/a-1.dist-info/RECORD", b"x"),
            ("usr/share/nodejs/node_modules/debians/package.json", b"x"),
            ("opt/y/node_modules/zod/dist/package.json", b"x"),
            ("opt/y/node_modules/.bin/package.json", b"x"),
            ("opt/y/node_modules/package.json", b"x"),
            ("tmp/var/lib/dpkg/status", b"x"),
        )
    )


def test_a_list_of_the_images_own() -> None:
    package = Package(manager="pypi", name="a", version="1")
    there = layer(("usr/share/memory-bench/packages.json", listed([package])))
    assert read(there).listed() == frozenset({package})
    assert read(layer(("a", b""))).listed() is None
    assert not read(there).packages()
    with pytest.raises(DamagedArchive, match="list of packages is none"):
        read(layer(("usr/share/memory-bench/packages.json", b"[1]"))).listed()


# ---------------------------------------------------------------- layer over layer


@pytest.mark.parametrize(
    ("above", "left"),
    [
        (("x", b""), {"pypi a 1.0", "pypi b 1.0"}),
        ((f"{SITE}/.wh.a-1.0.dist-info", b""), {"pypi b 1.0"}),
        ((f"{SITE}/a-1.0.dist-info/.wh.METADATA", b""), {"pypi b 1.0"}),
        ((f"{SITE}/.wh..wh..opq", b""), set()),
        (("opt/.wh.x", b""), set()),
        ((".wh.opt", b""), set()),
        ((".wh..wh..opq", b""), set()),
        (("opt/x", b"a file where a folder was"), set()),
        (("opt/x", "elsewhere"), set()),
        ((SITE, "../../elsewhere"), set()),
        (("opt/x", None), {"pypi a 1.0", "pypi b 1.0"}),
        ((f"{SITE}/a-1.0.dist-info/METADATA", None), {"pypi b 1.0"}),
        (("opt/.wh.xx", b""), {"pypi a 1.0", "pypi b 1.0"}),
        (dist("a", "2.0"), {"pypi a 1.0", "pypi a 2.0", "pypi b 1.0"}),
    ],
)
def test_an_upper_layer_goes_before_a_lower_one(above: Entry_, left: set[str]) -> None:
    assert said(layer(dist("a"), dist("b")), layer(above)) == left


def test_what_a_layer_removes_it_may_bring_again() -> None:
    """In whatever order it says so: removal is of what lies below."""
    below = layer(dist("a"), dist("b"))
    assert said(below, layer(("opt/.wh.x", b""), dist("c"))) == {"pypi c 1.0"}
    assert said(below, layer(dist("c"), ("opt/.wh.x", b""))) == {"pypi c 1.0"}
    assert said(below, layer((f"{SITE}/.wh..wh..opq", b""), dist("b"))) == {"pypi b 1.0"}


def test_within_a_layer_the_last_one_counts() -> None:
    changed = (dist("a")[0], b"Name: other\nVersion: 3\n")
    assert said(layer(dist("a"), changed)) == {"pypi other 3"}
    assert said(layer(dist("a"), (SITE, "elsewhere"))) == set()


def test_a_copy_is_its_own() -> None:
    one = read(layer(dist("a")))
    other = one.copy()
    other.add(pieces(layer(dist("b"))))
    assert (len(one.packages()), len(other.packages())) == (1, 2)


def linked(target: str, kind: bytes = tarfile.LNKTYPE) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        name, data = dist("a")
        assert isinstance(data, bytes)
        told = tarfile.TarInfo(name)
        told.size = len(data)
        tar.addfile(told, io.BytesIO(data))
        link = tarfile.TarInfo(f"{SITE}/b-1.0.dist-info/METADATA")
        link.type, link.linkname = kind, target
        tar.addfile(link)
    return raw.getvalue()


def test_a_second_name_of_a_file_is_the_file() -> None:
    assert said(linked(f"{SITE}/a-1.0.dist-info/METADATA")) == {"pypi a 1.0"}


# ---------------------------------------------------------------- hostile


@pytest.mark.parametrize(
    "raw",
    [
        linked("etc/passwd"),
        linked(f"{SITE}/a-1.0.dist-info/METADATA", tarfile.SYMTYPE),
        linked("", tarfile.CHRTYPE),
        linked("", tarfile.FIFOTYPE),
    ],
)
def test_what_is_no_plain_file_is_not_read(raw: bytes) -> None:
    with pytest.raises(DamagedArchive, match="no plain file"):
        read(raw)


@pytest.mark.parametrize("name", ["../x", "a/../../x", "a/.."])
def test_nothing_leads_out_of_the_image(name: str) -> None:
    with pytest.raises(DamagedArchive, match="out of the image"):
        read(layer((name, b"")))


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"no tar" * 100, "no readable tar"),
        (layer(("a", b"x" * 5000))[:2000], "no readable tar"),
        (layer(("a", b"x")).rstrip(b"\0") + b"\1" * 1024, "does not end"),
        (layer(("a", b"x")) + b"\1", "does not end"),
        (layer(("a", b"x"))[:1024] + b"\1" * 512 + layer(dist("hidden")), "does not end"),
    ],
)
def test_what_is_no_tar_or_goes_on_behind_one(raw: bytes, says: str) -> None:
    with pytest.raises(DamagedArchive, match=says):
        read(raw)


def test_nothing_is_read_beyond_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "MOST_BYTES", 4096)
    with pytest.raises(DamagedArchive, match="larger than is read"):
        read(layer((dist("a")[0], b"x" * 5000)))
    read(layer(("anything", b"x" * 50_000)))
    name = "n" * 9000
    with pytest.raises(DamagedArchive, match="more than is read of them"):
        read(layer((name, b"")))
    monkeypatch.setattr(databases, "MOST_KEPT", 300)
    with pytest.raises(DamagedArchive, match="tells more of packages"):
        read(layer(*(dist(f"p{number}") for number in range(9))))
    monkeypatch.setattr(databases, "MOST_ENTRIES", 5)
    with pytest.raises(DamagedArchive, match="more than 5 entries"):
        read(layer(*((f"f{number}", b"") for number in range(9))))
    monkeypatch.setattr(databases, "MOST_FILES", 2)
    with pytest.raises(DamagedArchive, match="tells more of packages"):
        read(layer(dist("a"), dist("b"), dist("c")))


def test_many_files_are_read_in_a_moment() -> None:
    """Removing what lies below is no work where nothing does."""
    many = [(f"usr/lib/f{number}", b"") for number in range(5000)]
    assert said(layer(dist("a")), layer(*many)) == {"pypi a 1.0"}


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (("var/lib/dpkg/status", b"Package: a\nStatus: install ok installed\n"), "Version"),
        (("var/lib/dpkg/status", b"Package: a\nVersion: 1\n"), "Status"),
        (("var/lib/dpkg/status", b"Status:\nPackage: a\nVersion: 1\n"), "entry without"),
        ((dist("a")[0], b"Version: 1\n"), "names no package"),
        ((dist("a")[0], b"\xff\xfe\0"), "names no package"),
        ((node("a")[0], b'{"name": "a"}'), "names no package"),
        ((node("a")[0], b'{"name": 1, "version": "1"}'), "names no package"),
        ((node("a")[0], b"no json"), "names no package"),
        ((node("a")[0], b"[]"), "names no package"),
    ],
)
def test_a_database_that_cannot_be_read_is_no_empty_one(entry: Entry_, says: str) -> None:
    with pytest.raises(DamagedArchive, match=says):
        read(layer(entry)).packages()
