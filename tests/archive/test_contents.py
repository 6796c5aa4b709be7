"""What an archive holds, by name; and what no archive of the bench can hold."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from runner.archive import contents, media
from runner.archive.contents import LeftOut
from runner.errors import DamagedArchive
from runner.oci.documents import Descriptor, Index
from runner.oci.folder import Folder
from tests.oci._kit import attach, image, put, sha

ONE = "memory-bench/one:0123456789ab"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "layout")


def holding(folder: Folder, manifests: Iterable[Descriptor], **fields: dict[str, str]) -> Folder:
    folder.index = Index(manifests=tuple(manifests), annotations=fields.get("annotations"))
    return folder


def test_images_and_all_that_hangs_on_them(folder: Folder) -> None:
    made, other = image("one", shared=b"words"), image("two")
    one, two = put(folder, made, ONE), put(folder, other, "memory-bench/two:2")
    left = (
        LeftOut(name="memory-bench/x:3", config_digest=sha(b"x"), layers=(sha(b"y"),), why="No."),
    )
    holding(
        folder,
        (
            one,
            two,
            attach(folder, one, media.REPORT, {"report.json": b"{}"}),
            attach(folder, one, media.SNAPSHOT, {"a.tar": b"a", "b.tar": b"b"}),
            attach(folder, one, media.LOCKS, {"one.lock": b"1"}),
            attach(folder, two, media.LOCKS, {"two.lock": b"2", "uv.lock": b"3"}),
        ),
        annotations=contents.left_out(left) or {},
    )
    found = contents.read(folder)
    assert list(found.images) == [made.digest, other.digest]
    first, second = found.images.values()
    assert (first.name, first.reference, first.raw) == ("one", ONE, made.config)
    assert (first.diff_ids, first.read.platform) == (made.diff_ids, "linux/amd64")
    assert [one.title for one in found.of(media.SNAPSHOT)] == ["a.tar", "b.tar"]
    report = found.one(media.REPORT)
    assert report is not None
    assert (report.title, report.sha256, report.on) == ("report.json", sha(b"{}")[7:], one.digest)
    assert found.one(media.SEALED) is None
    assert [one.title for one in found.on(first, media.LOCKS)] == ["one.lock"]
    assert [one.title for one in found.on(second, media.LOCKS)] == ["two.lock", "uv.lock"]
    assert found.left_out == left


def test_an_archive_without_anything(folder: Folder) -> None:
    found = contents.read(folder)
    assert (dict(found.images), dict(found.files), found.left_out) == ({}, {}, ())
    assert contents.left_out(()) is None


def test_a_report_whose_images_are_left_out_hangs_on_none(folder: Folder) -> None:
    holding(folder, (attach(folder, None, media.REPORT, {"report.json": b"{}"}),))
    report = contents.read(folder).one(media.REPORT)
    assert report is not None
    assert report.on is None


def _twice(folder: Folder, one: Descriptor) -> list[Descriptor]:
    return [one, put(folder, image("one"), "memory-bench/one:again")]


def _report(folder: Folder, on: Descriptor, **files: bytes) -> Descriptor:
    return attach(folder, on, media.REPORT, files or {"r": b"{}"})


@pytest.mark.parametrize(
    ("manifests", "says"),
    [
        (_twice, "is in the archive twice"),
        (
            lambda folder, one: [one, attach(folder, one, "application/x.unknown", {"a": b"a"})],
            "unknown application/x.unknown",
        ),
        (
            lambda folder, one: [one, _report(folder, one), _report(folder, one, other=b"[]")],
            "more than one",
        ),
        (
            lambda folder, one: [one, _report(folder, one, a=b"{}", b=b"[]")],
            "more than one",
        ),
        (
            lambda folder, one: [one, attach(folder, one, media.CASSETTE, {"a": b"a"})],
            "and no report",
        ),
        (
            lambda folder, one: [attach(folder, one, media.LOCKS, {"a.lock": b"a"})],
            "hangs on an image that is not",
        ),
        (
            lambda folder, one: [one, attach(folder, one, media.LOCKS, {"": b"a"})],
            "has no title",
        ),
        (lambda folder, one: [one.bare], "or of one without name"),
        (
            lambda folder, one: [
                folder.add(
                    folder.manifest(one).model_copy(update={"layers": ()}),
                    annotations=one.annotations,
                )
            ],
            "has not the layers",
        ),
        (lambda folder, one: [folder.put(b"[]", one.media_type)], "The manifest"),
    ],
)
def test_what_cannot_be(
    folder: Folder, manifests: Callable[[Folder, Descriptor], list[Descriptor]], says: str
) -> None:
    holding(folder, manifests(folder, put(folder, image("one"), ONE)))
    with pytest.raises(DamagedArchive, match=says):
        contents.read(folder)


@pytest.mark.parametrize("told", ["", "{}", "[{}]", '[{"name": "x"}]'])
def test_what_is_left_out_has_to_be_told_in_full(folder: Folder, told: str) -> None:
    holding(folder, (), annotations={media.LEFT_OUT: told})
    with pytest.raises(DamagedArchive, match="leaves out"):
        contents.read(folder)


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("memory-bench/engine:47b8e155fba0", "engine"),
        ("memory-bench/basic-memory:1", "basic-memory"),
        ("localhost:5000/memory-bench/mem0:1", "mem0"),
        ("engine", "engine"),
    ],
)
def test_the_name_in_a_reference(reference: str, name: str) -> None:
    assert contents.name_of(reference) == name


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("report.json", "application/json"),
        ("sbom.cdx.json", "application/vnd.cyclonedx+json"),
        ("report.sealed.gz", "application/gzip"),
        ("abc.tar", "application/x-tar"),
        ("locks/1.2.txt", "text/plain"),
        ("run.cassette", "application/octet-stream"),
    ],
)
def test_files_are_typed_by_their_names(title: str, kind: str) -> None:
    assert media.type_of(title) == kind
