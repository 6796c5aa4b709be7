"""An archive: what it takes to hold, and that each change is found by the check for it."""

import gzip
import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from runner import paths
from runner.archive import media
from runner.archive.contents import LeftOut
from runner.archive.verify import Sheet, State, verify
from runner.archive.watch import Nobody
from runner.gateway import cassette as cassettes
from runner.oci import documents, tars
from runner.oci.documents import Descriptor, Manifest
from runner.oci.folder import Folder
from runner.oci.layout import BLOBS, CHECKSUMS, INDEX
from tests.archive._altered import File, Hung, Parts, again, put_together, taken_apart
from tests.archive._made import (
    DEBIAN,
    Document,
    Result,
    archived,
    gate,
    honesty,
    layer,
    learning,
    listed,
    recorded,
    replayed,
    small,
    states,
    trip,
)
from tests.oci._engine import Engine
from tests.oci._kit import Image, write

pytestmark = pytest.mark.slow

SUITES = ("trip", "mid-trip", "gate", "dev", "heldout", "learning", "recorded", "replayed")
NO_LOCKS = {"learning"}
"""The router is of the standard library alone: there is nothing to pin."""


@pytest.fixture(scope="session")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An archive of a report of every suite, of a recording and of its replay."""
    folder = tmp_path_factory.mktemp("archives")
    found: dict[str, Result] = {
        "trip": trip(folder / "trip"),
        "mid-trip": trip(folder / "mid-trip", case="mid-trip"),
        "gate": gate(folder / "gate"),
        "dev": honesty(folder / "dev"),
        "heldout": honesty(folder / "heldout", "heldout"),
        "learning": learning(folder / "learning"),
    }
    found["recorded"] = recorded(found["trip"], folder / "recorded")
    found["replayed"] = replayed(found["recorded"], folder / "replayed")
    return {name: archived(one, folder / f"{name}.tar") for name, one in found.items()}


def wrong(sheet: Sheet) -> dict[str, str]:
    """The checks that do not hold, each with what is wrong first."""
    return {line.id: line.first for line in sheet.of(State.WRONG)}


class Heard(Nobody):
    """Remembers of every piece of work how much it was to be, and was."""

    def __init__(self) -> None:
        self.works: dict[str, list[int | None]] = {}

    def begins(self, what: str, total: int | None = None) -> None:
        self.works[what] = [total, 0]

    def moved(self, count: int) -> None:
        work = next(reversed(self.works.values()))
        work[1] = (work[1] or 0) + count


@pytest.mark.parametrize("name", SUITES)
def test_an_archive_of_every_suite_holds(archives: dict[str, Path], name: str) -> None:
    heard = Heard()
    sheet = verify(archives[name], heard).sheet
    assert list(heard.works) == [
        "verifying blobs",
        "computing the report again",
        "unpacking layers",
    ]
    for total, moved in heard.works.values():
        assert moved == (total or 0)
    assert sheet.holds, wrong(sheet)
    assert {line.id for line in sheet.of(State.UNCHECKED)} == (
        {"locks"} if name in NO_LOCKS else set()
    )
    assert all(line.looked_at > 0 for line in sheet.of(State.HOLDS))


def test_what_is_put_together_again_is_the_same(archives: dict[str, Path], tmp_path: Path) -> None:
    """The forger of these tests gets everything right, so that only what was changed is found."""
    sheet = verify(put_together(taken_apart(archives["trip"]), tmp_path / "a.tar")).sheet
    assert sheet.holds, wrong(sheet)
    assert not sheet.of(State.UNCHECKED)


def test_images_alone(archives: dict[str, Path], tmp_path: Path) -> None:
    def bare(parts: Parts) -> None:
        parts.hung = [one for one in parts.hung if one.kind in media.OF_AN_IMAGE]

    sheet = verify(again(archives["trip"], tmp_path / "a.tar", bare)).sheet
    assert sheet.holds, wrong(sheet)
    assert [line.id for line in sheet.of(State.UNCHECKED)] == ["report", "images"]
    assert "images alone" in sheet.line("report").first
    assert sheet.line("packages").looked_at == 6


def test_without_snapshots_none_is_said_to_hold(archives: dict[str, Path], tmp_path: Path) -> None:
    def bare(parts: Parts) -> None:
        parts.hung = [one for one in parts.hung if one.kind in (media.REPORT, media.INPUTS)]

    sheet = verify(again(archives["trip"], tmp_path / "a.tar", bare)).sheet
    assert sheet.holds, wrong(sheet)
    assert {line.id for line in sheet.of(State.UNCHECKED)} == {"snapshots", "sbom", "locks"}
    assert "--kept" in sheet.line("snapshots").first


def test_an_image_that_is_left_out_is_said(archives: dict[str, Path], tmp_path: Path) -> None:
    def leave_out(parts: Parts) -> None:
        told = orjson.loads(parts.file(media.REPORT).data)["images"][0]
        parts.left_out = (
            LeftOut(
                name=told["name"],
                config_digest=told["config_digest"],
                layers=told["layers"],
                why="its licence forbids it",
            ),
        )
        del parts.images[0]
        parts.hung = [one for one in parts.hung if one.on != 0 or one.kind in media.OF_A_REPORT]
        for one in parts.hung:
            one.on = 0

    path = again(archives["trip"], tmp_path / "a.tar", leave_out)
    sheet = verify(path).sheet
    assert sheet.holds, wrong(sheet)
    assert "its licence forbids it" in sheet.line("left-out").first
    assert sheet.line("left-out").state is State.UNCHECKED
    assert sheet.line("images").looked_at == 1

    def another(parts: Parts) -> None:
        (left,) = parts.left_out
        parts.left_out = (left.model_copy(update={"layers": left.layers[:1]}),)

    assert "images" in wrong(verify(again(path, tmp_path / "b.tar", another)).sheet)


# ---------------------------------------------------------------- the file


def test_the_file_itself(archives: dict[str, Path], tmp_path: Path) -> None:
    """Nothing behind it, nothing cut off it, no other header."""
    whole = archives["trip"].read_bytes()
    for spoiled in (
        whole + b"\0" * 512,
        whole + b"x",
        whole[:-512],
        whole[: len(whole) // 2],
        whole[:100] + b"0000755\0" + whole[108:],
        b"\0" * 1024,
        b"PK\3\4" + whole,
        b"",
    ):
        path = tmp_path / "spoiled.tar"
        path.write_bytes(spoiled)
        sheet = verify(path).sheet
        assert "tar" in wrong(sheet), states(sheet)
        assert not sheet.holds


def members(path: Path) -> dict[str, bytes]:
    with path.open("rb") as file:
        found = {}
        for member in list(tars.members(file)):
            file.seek(member.offset)
            found[member.name] = file.read(member.size)
        return found


def rewritten(path: Path, out: Path, how: Callable[[dict[str, bytes]], object]) -> Path:
    """The file in its form, with other members."""
    found = members(path)
    how(found)
    with out.open("wb") as file:
        writer = tars.Writer(file)
        for name, data in found.items():
            writer.add(name, len(data), (data,))
        writer.end()
    return out


def _flip(name: str) -> Callable[[dict[str, bytes]], object]:
    def flip(found: dict[str, bytes]) -> None:
        found[name] = bytes([found[name][0] ^ 1]) + found[name][1:]

    return flip


def _swap(found: dict[str, bytes]) -> None:
    last = found.pop(CHECKSUMS)
    blobs = {name: found.pop(name) for name in list(found) if name.startswith(BLOBS)}
    found |= dict(reversed(blobs.items()))
    found[CHECKSUMS] = last


INDEXES: dict[str, Callable[[dict[str, bytes]], object]] = {
    "another index": _flip(INDEX),
    "other checksums": _flip(CHECKSUMS),
    "another version": _flip("oci-layout"),
    "blobs in another order": _swap,
    "no index": lambda found: found.pop(INDEX),
    "a member of another name": lambda found: found.update({"other": found.pop(CHECKSUMS)}),
}


@pytest.mark.parametrize("what", INDEXES)
def test_index_and_marker(archives: dict[str, Path], tmp_path: Path, what: str) -> None:
    sheet = verify(rewritten(archives["gate"], tmp_path / "a.tar", INDEXES[what])).sheet
    assert set(wrong(sheet)) == {"index"}, states(sheet)


def test_every_blob_is_held_to_its_digest(archives: dict[str, Path], tmp_path: Path) -> None:
    names = [name for name in members(archives["gate"]) if name.startswith(BLOBS)]
    for name in names:
        sheet = verify(rewritten(archives["gate"], tmp_path / "a.tar", _flip(name))).sheet
        assert sheet.line("blobs").wrong == 1
        assert name[-64:] in wrong(sheet)["blobs"]


# ---------------------------------------------------------------- manifests

Finish = Callable[[Folder, list[Descriptor]], list[Descriptor]]


def _stray(folder: Folder, manifests: list[Descriptor]) -> list[Descriptor]:
    """An artifact in the index, and then not: its blobs stay."""
    return [*manifests, folder.attach(None, media.SBOM, [_titled(folder, b"stray")])]


def _titled(folder: Folder, data: bytes, title: str = "a.txt") -> Descriptor:
    put = folder.put(data, "text/plain")
    return put.model_copy(update={"annotations": {documents.TITLE: title}})


def _changed(
    place: int, **fields: object
) -> Callable[[Folder, list[Descriptor]], list[Descriptor]]:
    """One descriptor of the index with other fields."""

    def change(_folder: Folder, manifests: list[Descriptor]) -> list[Descriptor]:
        manifests[place] = manifests[place].model_copy(update=fields)
        return manifests

    return change


def _twice(_folder: Folder, manifests: list[Descriptor]) -> list[Descriptor]:
    return [*manifests, manifests[0]]


def _rewritten(
    place: int, how: Callable[[Folder, Manifest], Manifest]
) -> Callable[[Folder, list[Descriptor]], list[Descriptor]]:
    """One manifest in another form."""

    def change(folder: Folder, manifests: list[Descriptor]) -> list[Descriptor]:
        old = manifests[place]
        made = folder.add(how(folder, folder.manifest(old)), annotations=old.annotations)
        manifests[place] = made
        return manifests

    return change


def _subject(**fields: object) -> Callable[[Folder, Manifest], Manifest]:
    def change(_folder: Folder, manifest: Manifest) -> Manifest:
        assert manifest.subject is not None
        return manifest.model_copy(update={"subject": manifest.subject.model_copy(update=fields)})

    return change


def _on_itself(folder: Folder, manifests: list[Descriptor]) -> list[Descriptor]:
    """An artifact on an artifact."""
    manifests[-1] = folder.attach(manifests[2], media.LOCKS, [_titled(folder, b"x")])
    return manifests


def _kind(kind: str) -> Callable[[Folder, Manifest], Manifest]:
    return lambda _folder, manifest: manifest.model_copy(update={"artifact_type": kind})


def _configured(folder: Folder, manifest: Manifest) -> Manifest:
    return manifest.model_copy(update={"config": folder.put(b'{"a":1}', documents.EMPTY)})


def _untitled(_folder: Folder, manifest: Manifest) -> Manifest:
    bare = tuple(one.model_copy(update={"annotations": None}) for one in manifest.layers)
    return manifest.model_copy(update={"layers": bare})


def _not_zstd(_folder: Folder, manifest: Manifest) -> Manifest:
    plain = tuple(one.model_copy(update={"media_type": "a/b"}) for one in manifest.layers)
    return manifest.model_copy(update={"layers": plain})


LAYOUTS: dict[str, tuple[str, Finish]] = {
    "a manifest twice": ("manifests", _twice),
    "a descriptor that says it is another kind": (
        "manifests",
        _changed(3, artifact_type=media.CASSETTE),
    ),
    "a descriptor of no manifest": ("manifests", _changed(3, media_type="a/b")),
    "an image without a name": ("manifests", _changed(0, annotations=None)),
    "an image whose layers are not compressed": ("manifests", _rewritten(0, _not_zstd)),
    "an artifact with a config": ("manifests", _rewritten(3, _configured)),
    "a subject that is not there": (
        "referrers",
        _rewritten(3, _subject(digest="sha256:" + "0" * 64)),
    ),
    "a subject of another size": ("referrers", _rewritten(3, _subject(size=1))),
    "a subject of another kind": ("referrers", _rewritten(3, _subject(media_type="a/b"))),
    "an artifact on an artifact": ("referrers", _on_itself),
    "an artifact of no known kind": (
        "contents",
        _rewritten(3, _kind("application/vnd.example.v1")),
    ),
    "two reports": ("contents", _rewritten(4, _kind(media.REPORT))),
    "a file without a title": ("contents", _rewritten(3, _untitled)),
    "a bill of materials on nothing": ("contents", _stray),
}


@pytest.mark.parametrize("what", LAYOUTS)
def test_a_layout_is_held_to_its_form(archives: dict[str, Path], tmp_path: Path, what: str) -> None:
    check, finish = LAYOUTS[what]
    path = put_together(taken_apart(archives["trip"]), tmp_path / "a.tar", finish)
    sheet = verify(path).sheet
    assert check in wrong(sheet), states(sheet)


def test_a_blob_that_nothing_asks_for(archives: dict[str, Path], tmp_path: Path) -> None:
    data = b"what is this?"
    name = BLOBS + hashlib.sha256(data).hexdigest()

    def add(found: dict[str, bytes]) -> None:
        last = found.pop(CHECKSUMS)
        blobs = {one: found.pop(one) for one in list(found) if one.startswith(BLOBS)}
        found |= dict(sorted({**blobs, name: data}.items()))
        found[CHECKSUMS] = last

    sheet = verify(rewritten(archives["gate"], tmp_path / "a.tar", add)).sheet
    assert set(wrong(sheet)) == {"manifests"}
    assert name[-64:] in wrong(sheet)["manifests"]


def test_a_blob_that_is_asked_for_and_not_there(archives: dict[str, Path], tmp_path: Path) -> None:
    names = [name for name in members(archives["gate"]) if name.startswith(BLOBS)]
    for name in names:
        path = rewritten(archives["gate"], tmp_path / "a.tar", lambda found: found.pop(name))  # noqa: B023
        assert "manifests" in wrong(verify(path).sheet)


# ---------------------------------------------------------------- images

SITE = "opt/engine/lib/python3.13/site-packages"


def _config(parts: Parts, how: Callable[[Document], object]) -> None:
    document = json.loads(parts.images[0].config)
    how(document)
    parts.images[0].config = json.dumps(document).encode()


def _of_another_build(parts: Parts) -> None:
    """The engine's image with something more in it, right in itself."""
    other = small("engine", also=[("opt/engine/more", b"1")])
    parts.images[0].config = other.image.config
    parts.images[0].layers = list(other.image.layers)


def _in_its_place(parts: Parts, *entries: tuple[str, bytes | str | None]) -> None:
    """The engine's image with other files, and a report that knows no better but by packages."""
    other = small("engine", also=entries)
    parts.images[0].config = other.image.config
    parts.images[0].layers = list(other.image.layers)
    parts.report(
        lambda d: d["images"][0].update(
            config_digest=other.identity.config_digest, layers=list(other.identity.layers)
        )
    )
    parts.hung = [one for one in parts.hung if one.kind != media.SBOM]


def _told(**fields: object) -> Callable[[Parts], object]:
    return lambda parts: parts.report(lambda d: d["images"][0].update(fields))


def _only(parts: Parts) -> None:
    parts.images.pop()
    parts.hung = [one for one in parts.hung if one.on == 0]


def _moved(parts: Parts, kinds: tuple[str, ...]) -> None:
    for one in parts.hung:
        if one.kind in kinds:
            one.on = 1


def _no_tar(parts: Parts) -> None:
    other = small("engine")
    made = Image((other.image.layers[0], b"no tar" * 200), other.image.labels)
    parts.images[0].config, parts.images[0].layers = made.config, list(made.layers)
    parts.report(
        lambda d: d["images"][0].update(config_digest=made.digest, layers=list(made.diff_ids))
    )


def _bill(parts: Parts, how: Callable[[Document], object]) -> None:
    file = parts.file(media.SBOM)
    document = json.loads(file.data)
    how(document)
    file.data = json.dumps(document).encode()


EXTRA = b"Metadata-Version: 2.4\nName: extra\nVersion: 1.0\n"
IMAGES: dict[str, tuple[str, Callable[[Parts], object]]] = {
    "another config": ("images", lambda p: _config(p, lambda d: d.update(created="2020-01-01"))),
    "another build": ("images", _of_another_build),
    "an image left away": ("images", _only),
    "other layers in the report": ("images", _told(layers=["sha256:" + "0" * 64])),
    "another platform in the report": ("images", _told(platform="linux/arm64")),
    "another base in the report": ("images", _told(base="somewhere else")),
    "other sources in the report": ("images", _told(source="0" * 64)),
    "another name in the report": ("images", _told(name="memory-bench/other:0123456789ab")),
    "a restriction in the report": (
        "images",
        _told(redistributable=False, restriction="nobody may"),
    ),
    "a report on another image": ("images", lambda p: _moved(p, media.OF_A_REPORT)),
    "another layer": (
        "layers",
        lambda p: p.images[0].layers.__setitem__(1, layer(("opt/evil", b"1"))),
    ),
    "layers in another order": ("layers", lambda p: p.images[0].layers.reverse()),
    "a package in the report that is not in it": (
        "packages",
        lambda p: p.report(
            lambda d: d["images"][0]["packages"].append(
                {"manager": "pypi", "name": "extra", "version": "1.0"}
            )
        ),
    ),
    "a package in it that the report does not name": (
        "packages",
        lambda p: p.report(lambda d: d["images"][0]["packages"].pop()),
    ),
    "a package in it that nobody lists": (
        "packages",
        lambda p: _in_its_place(p, (f"{SITE}/extra-1.0.dist-info/METADATA", EXTRA)),
    ),
    "a list of its own that is another": (
        "packages",
        lambda p: _in_its_place(p, ("usr/share/memory-bench/packages.json", listed(DEBIAN))),
    ),
    "a package that is taken away": (
        "packages",
        lambda p: _in_its_place(p, ("var/lib/dpkg/.wh.status", b"")),
    ),
    "a database that is a link": (
        "packages",
        lambda p: _in_its_place(p, ("var/lib/dpkg/status", "../../other")),
    ),
    "a layer that leads out of the image": (
        "packages",
        lambda p: _in_its_place(p, ("../etc/passwd", b"root")),
    ),
    "no tar at all, of the right digest": ("packages", _no_tar),
    "a bill of other packages": (
        "sbom",
        lambda p: _bill(p, lambda d: d["components"].pop()),
    ),
    "a bill of another version": (
        "sbom",
        lambda p: _bill(p, lambda d: d["components"][0].update(version="9")),
    ),
    "a bill of another image": (
        "sbom",
        lambda p: _bill(p, lambda d: d["metadata"]["component"].update(version="sha256:0")),
    ),
    "a bill of another day": (
        "sbom",
        lambda p: _bill(p, lambda d: d["metadata"].update(timestamp="2020-01-01T00:00:00Z")),
    ),
    "a bill of another number": (
        "sbom",
        lambda p: _bill(p, lambda d: d.update(serialNumber="urn:uuid:0")),
    ),
    "no bill": ("sbom", lambda p: setattr(p.file(media.SBOM), "data", b"[]")),
    "a lock of other packages": (
        "locks",
        lambda p: setattr(p.file(media.LOCKS), "data", b"other==1.0 --hash=sha256:0\n"),
    ),
    "a lock that is none": (
        "locks",
        lambda p: vars(p.file(media.LOCKS)).update(title="uv.lock", data=b"no toml"),
    ),
}


@pytest.mark.parametrize("what", IMAGES)
def test_an_image_is_what_the_report_says(
    archives: dict[str, Path], tmp_path: Path, what: str
) -> None:
    check, how = IMAGES[what]
    sheet = verify(again(archives["trip"], tmp_path / "a.tar", how)).sheet
    assert check in wrong(sheet), states(sheet)
    assert wrong(sheet)[check]
    assert sheet.line("blobs").state is State.HOLDS
    assert sheet.line("manifests").state is State.HOLDS


def test_where_layers_are_damaged_packages_are_not_said_to_hold(
    archives: dict[str, Path], tmp_path: Path
) -> None:
    def damage(parts: Parts) -> None:
        parts.images[0].layers[1] = layer(("opt/evil", b"1"))

    sheet = verify(again(archives["trip"], tmp_path / "a.tar", damage)).sheet
    assert sheet.line("packages").state is State.UNCHECKED
    assert "damaged" in sheet.line("packages").first


# ---------------------------------------------------------------- what belongs to a report


def _store(document: Document) -> Document:
    found: Document = document["runs"][3]["snapshots"][-1]["store"]
    return found


def _input(parts: Parts, title: str, data: bytes) -> None:
    parts.file(media.INPUTS, title).data = data


def _without(parts: Parts, kind: str, title: str) -> None:
    parts.of(kind).files.remove(parts.file(kind, title))


def _hostile(parts: Parts) -> None:
    """A snapshot with a link in it, which report and archive agree about."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        told = tarfile.TarInfo("memory.db")
        told.type, told.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(told)
    _snapshot(parts, raw.getvalue())


def _damaged(parts: Parts) -> None:
    """A store that is none, which report and archive agree about."""
    _snapshot(parts, layer(("memory.db", b"SQLite format 3\0" + b"\xff" * 4000)))


def _snapshot(parts: Parts, data: bytes) -> None:
    file = parts.of(media.SNAPSHOT).files[0]
    old, new = file.title.removesuffix(".tar"), hashlib.sha256(data).hexdigest()
    file.title, file.data = f"{new}.tar", data

    def tell(document: Document) -> None:
        for run in document["runs"]:
            for one in (*run["snapshots"], *run["steps"]):
                for name in ("sha256", "snapshot"):
                    if one.get(name) == old:
                        one[name] = new
                        if name == "sha256":
                            one["size"] = len(data)

    parts.report(tell)


def _tape(parts: Parts, how: Callable[[Document], object]) -> None:
    """Another recording, of which report and file agree."""
    file = parts.file(media.CASSETTE)
    document = orjson.loads(gzip.decompress(file.data))["cassette"]
    how(document)
    made = cassettes.Cassette.model_validate(document)
    file.data = cassettes.dump(made)

    def tell(report: Document) -> None:
        report["cassette"]["sha256"] = made.sha256()
        for run in report["runs"]:
            if run["gateway"]["cassette_sha256"] is not None:
                run["gateway"]["cassette_sha256"] = made.sha256()

    parts.report(tell)


def _entries(document: Document) -> list[Document]:
    found: list[Document] = document["runs"]["reader-move-1"]
    return found


def _reply(entry: Document, **said: object) -> None:
    entry["body"] = orjson.dumps(orjson.loads(entry["body"]) | said).decode()


def _consistent(document: Document) -> None:
    """One token less, with the costs that come of it."""
    call = document["runs"][0]["calls"][0]
    call["usage"]["output"] -= 1


KEPT: dict[str, tuple[str, str, Callable[[Parts], object]]] = {
    "a store that says something else": (
        "trip",
        "snapshots",
        lambda p: p.report(lambda d: _store(d)["claims"][0].update(text="I never travel.")),
    ),
    "a claim that no snapshot holds": (
        "trip",
        "snapshots",
        lambda p: p.report(lambda d: _store(d)["unmapped"].append("a row")),
    ),
    "a snapshot that is not there": (
        "trip",
        "snapshots",
        lambda p: p.of(media.SNAPSHOT).files.pop(),
    ),
    "a snapshot of no run": (
        "trip",
        "snapshots",
        lambda p: p.of(media.SNAPSHOT).files.append(File("0" * 64 + ".tar", b"")),
    ),
    "a snapshot twice": (
        "trip",
        "snapshots",
        lambda p: p.of(media.SNAPSHOT).files.append(p.of(media.SNAPSHOT).files[0]),
    ),
    "snapshots under each other's names": (
        "trip",
        "snapshots",
        lambda p: _cross(p.of(media.SNAPSHOT)),
    ),
    "a snapshot of another size": (
        "trip",
        "snapshots",
        lambda p: p.report(lambda d: d["runs"][0]["snapshots"][0].update(size=1)),
    ),
    "a snapshot with a link in it": ("trip", "snapshots", _hostile),
    "a snapshot whose store is damaged": ("trip", "snapshots", _damaged),
    "another note": ("trip", "inputs", lambda p: _input(p, "reader-01.md", b"I stay.\n")),
    "a note left out": ("trip", "inputs", lambda p: _without(p, media.INPUTS, "reader-01.md")),
    "an input of nothing": (
        "trip",
        "inputs",
        lambda p: p.of(media.INPUTS).files.append(File("x", b"x", notes={media.FIXTURE: "x"})),
    ),
    "another page": ("dev", "inputs", lambda p: _input(p, ".md", b"# Nothing\n")),
    "a page left out": ("dev", "inputs", lambda p: _without(p, media.INPUTS, ".md")),
    "another listing": ("dev", "inputs", lambda p: _input(p, ".sha256", b"")),
    "other questions": ("dev", "inputs", lambda p: _input(p, "dev.jsonl", b"{}\n")),
    "questions that do not unpack": (
        "heldout",
        "inputs",
        lambda p: _input(p, "heldout.jsonl.gz", b"no gzip"),
    ),
    "other pairs": ("gate", "inputs", lambda p: _input(p, "development.toml", b"schema = 1\n")),
    "another table": (
        "trip",
        "inputs",
        lambda p: _input(p, "engine/reader.toml", b"schema = 1\n"),
    ),
    "an answer that no table holds": (
        "trip",
        "scripted",
        lambda p: p.report(lambda d: d["runs"][0]["calls"][0].update(source="engine/x.toml:y")),
    ),
    "an answer of another size": ("trip", "scripted", lambda p: p.report(_consistent)),
    "other sealed answers": (
        "heldout",
        "sealed",
        lambda p: setattr(p.file(media.SEALED), "data", gzip.compress(b"{}", mtime=0)),
    ),
    "no cassette": (
        "recorded",
        "cassette",
        lambda p: setattr(p.file(media.CASSETTE), "data", b"no gzip"),
    ),
    "a cassette of another case": (
        "recorded",
        "cassette",
        lambda p: _tape(p, lambda d: d.update(case="mid-trip")),
    ),
    "a request under another key": (
        "recorded",
        "cassette",
        lambda p: _tape(p, lambda d: _entries(d)[0].update(key="0" * 64)),
    ),
    "a recording left out": (
        "recorded",
        "recorded",
        lambda p: _tape(p, lambda d: _entries(d).pop()),
    ),
    "a recording too many": (
        "recorded",
        "recorded",
        lambda p: _tape(p, lambda d: _entries(d).append(_entries(d)[0])),
    ),
    "a recorded reply of another model": (
        "recorded",
        "replies",
        lambda p: _tape(p, lambda d: _reply(_entries(d)[0], model="another")),
    ),
    "a recorded reply of another length": (
        "recorded",
        "replies",
        lambda p: _tape(p, lambda d: _reply(_entries(d)[0], usage={"input_tokens": 1,
                                                                   "output_tokens": 1})),
    ),
    "a recorded reply that was cut": (
        "replayed",
        "replies",
        lambda p: _tape(p, lambda d: _reply(_entries(d)[0], stop_reason="max_tokens")),
    ),
    "a recorded reply that is none": (
        "recorded",
        "replies",
        lambda p: _tape(p, lambda d: _entries(d)[0].update(body="{}")),
    ),
    "another recording of a replay": (
        "replayed",
        "recorded",
        lambda p: p.report(
            lambda d: d["runs"][0]["calls"][0].update(source="cassette:1"),
        ),
    ),
    "a replay of nothing": (
        "replayed",
        "recorded",
        lambda p: p.report(
            lambda d: d["runs"][0]["calls"][0].update(source="cassette:999"),
        ),
    ),
    "a replay that passed over a recording": (
        "replayed",
        "recorded",
        lambda p: _tape(
            p,
            lambda d: _entries(d).append(
                {**_entries(d)[0], "canonical": "{}", "key": cassettes.key_of(
                    "/v1/messages", False, b"{}"
                )}
            ),
        ),
    ),
}  # fmt: skip


def _cross(hung: Hung) -> None:
    first, second = hung.files[:2]
    first.title, second.title = second.title, first.title


@pytest.mark.parametrize("what", KEPT)
def test_what_belongs_to_a_report_is_its_own(
    archives: dict[str, Path], tmp_path: Path, what: str
) -> None:
    name, check, how = KEPT[what]
    sheet = verify(again(archives[name], tmp_path / "a.tar", how)).sheet
    assert check in wrong(sheet), states(sheet)
    assert wrong(sheet)[check]
    for id_ in ("tar", "index", "blobs", "manifests", "referrers", "layers", "packages", "sbom"):
        assert sheet.line(id_).state is State.HOLDS, id_


def test_the_report_in_an_archive_is_held_to_itself(
    archives: dict[str, Path], tmp_path: Path
) -> None:
    def forge(parts: Parts) -> None:
        parts.report(lambda d: d["verdict"].update(bar_met=None))

    sheet = verify(again(archives["trip"], tmp_path / "a.tar", forge)).sheet
    assert set(wrong(sheet)) == {"verdict"}

    def careless(parts: Parts) -> None:
        parts.report(lambda d: d.update(bench_version="9"), digests=False)

    sheet = verify(again(archives["trip"], tmp_path / "b.tar", careless)).sheet
    assert set(wrong(sheet)) == {"digests"}

    def none(parts: Parts) -> None:
        parts.file(media.REPORT).data = b"{}"

    sheet = verify(again(archives["trip"], tmp_path / "c.tar", none)).sheet
    assert set(wrong(sheet)) == {"report"}


def test_containerd_gives_the_same(tmp_path: Path) -> None:
    """Whatever engine the images come from."""
    engine = Engine(by_manifest=True, compressed=True)
    out = archived(gate(tmp_path / "gate"), tmp_path / "a.tar", engine)
    assert verify(out).sheet.holds


def test_an_archive_of_nothing(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "layout")
    write(tmp_path / "a.tar", folder, ())
    sheet = verify(tmp_path / "a.tar").sheet
    assert sheet.line("blobs").state is State.UNCHECKED
    assert not wrong(sheet)


# ---------------------------------------------------------------- on a bench of another day


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bench whose cases, pairs, vaults and questions are others by now."""
    root = tmp_path / "later"
    shutil.copytree(paths.fixtures(), root / "fixtures")
    (root / "images").symlink_to(paths.images())
    for file in (*root.glob("fixtures/cases/*.toml"), *root.glob("fixtures/pairs/*.toml")):
        file.write_text(file.read_text() + "\n# another\n")
    for file in root.glob("fixtures/honesty/vault1/*/*.md"):
        file.write_text(file.read_text() + "\nAnother.\n")
    for name in ("dev.jsonl", "learn.jsonl"):
        (root / "fixtures" / "honesty" / name).write_bytes(b"")
    monkeypatch.setenv("BENCH_ROOT", str(root))
    return root


@pytest.mark.parametrize("name", SUITES)
def test_an_archive_holds_what_was_asked_for_ever(
    archives: dict[str, Path], later: Path, name: str
) -> None:
    """What a later bench no longer has is in the archive, and is read from there."""
    sheet = verify(archives[name]).sheet
    assert sheet.holds, wrong(sheet)
    assert sheet.line("case").state is State.HOLDS
    assert sheet.line("verdict").state is State.HOLDS
    assert later.exists()


LATER: dict[str, tuple[str, Callable[[Document], object]]] = {
    "a word the checks look for": (
        "trip",
        lambda d: d["case"]["words"].update(residence=["nothing"]),
    ),
    "an expected answer": (
        "gate",
        lambda d: d["case"]["sets"][0]["pairs"][0].update(expected="report"),
    ),
    "a right page": (
        "dev",
        lambda d: next(
            one["gold"].__setitem__(0, d["case"]["pages"][0]["name"])
            for one in d["case"]["questions"]
            if one["kind"] == "current"
        ),
    ),
    "a page that was replaced": (
        "dev",
        lambda d: next(one for one in d["case"]["pages"] if one["superseded"]).update(
            superseded=False, superseded_by=None
        ),
    ),
    "a right page of a pair": (
        "learning",
        lambda d: next(one for one in d["case"]["pairs"] if one["gold"])["gold"].append("x.md"),
    ),
}


@pytest.mark.parametrize("what", LATER)
def test_what_was_asked_is_what_the_archive_holds(
    archives: dict[str, Path], later: Path, tmp_path: Path, what: str
) -> None:
    name, how = LATER[what]
    path = again(archives[name], tmp_path / "a.tar", lambda p: p.report(how))
    assert "case" in wrong(verify(path).sheet)
    assert later.exists()
