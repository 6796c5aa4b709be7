"""Layouts in folders: blobs under their digests, whole or not there."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.errors import DamagedArchive
from runner.oci import documents
from runner.oci.documents import Config, Descriptor, Index, Manifest
from runner.oci.folder import Folder
from runner.oci.layout import DOCUMENT
from tests.oci._kit import Image, attach, image, layer, noise, put, sha


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "layout")


def files(folder: Folder) -> list[str]:
    return sorted(
        path.relative_to(folder.root).as_posix()
        for path in folder.root.rglob("*")
        if path.is_file()
    )


def test_a_blob_is_put_under_its_digest_and_got_by_it(folder: Folder) -> None:
    one = folder.put(b"words", "text/plain")
    assert (one.digest, one.size, one.media_type) == (sha(b"words"), 5, "text/plain")
    assert folder.put((b"wo", b"rds"), "text/plain") == one
    assert folder.get(one) == b"words"
    assert files(folder) == [f"blobs/sha256/{one.hex}", "oci-layout"]


def test_what_fails_half_way_leaves_nothing(folder: Folder) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"some"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        folder.put(pieces(), "text/plain")
    assert files(folder) == ["oci-layout"]


@pytest.mark.parametrize("data", [b"wordz", b"word", b"words2", b""])
def test_a_damaged_blob_is_never_read_to_its_end(folder: Folder, data: bytes) -> None:
    one = folder.put(b"words", "text/plain")
    (folder.root / "blobs/sha256" / one.hex).write_bytes(data)
    with pytest.raises(DamagedArchive, match=one.digest):
        folder.get(one)


def test_a_blob_that_is_not_there_or_of_another_size(folder: Folder) -> None:
    one = folder.put(b"words", "text/plain")
    with pytest.raises(DamagedArchive, match="has 5 bytes, not 4"):
        folder.get(one.model_copy(update={"size": 4}))
    folder.drop(one.digest)
    assert folder.size(one.digest) is None
    with pytest.raises(DamagedArchive, match="is not there"):
        folder.get(one)
    large = folder.put(bytes(DOCUMENT + 1), "text/plain")
    with pytest.raises(DamagedArchive, match="are allowed"):
        folder.get(large)


def test_an_empty_blob(folder: Folder) -> None:
    assert folder.get(folder.put(b"", "text/plain")) == b""
    wrong = Descriptor(media_type="text/plain", digest=sha(b"x"), size=0)
    (folder.root / "blobs/sha256" / wrong.hex).write_bytes(b"")
    with pytest.raises(DamagedArchive, match="does not match"):
        folder.get(wrong)


def test_documents_are_canonical_and_read_again(folder: Folder) -> None:
    made = image()
    one = put(folder, made, "memory-bench/one:0123456789ab")
    raw = folder.get(one)
    assert raw.startswith(b'{"config":{"digest":"sha256:')
    assert b" " not in raw
    assert b"null" not in raw
    read = folder.manifest(one)
    assert read.written() == raw
    assert folder.get(read.config) == made.config
    config = documents.parse(Config, made.config, "it")
    assert (config.platform, config.diff_ids) == ("linux/amd64", made.diff_ids)
    assert config.labels["memory-bench.name"] == "one"


def test_a_config_is_kept_as_it_is_whatever_is_in_it() -> None:
    assert documents.canonical(documents.parse(Config, image().config, "it").labels)
    bare = documents.parse(
        Config,
        b'{"os":"linux","architecture":"arm64","variant":"v8","rootfs":{"type":"layers","diff_ids":[]}}',
        "it",
    )
    assert (bare.platform, bare.labels) == ("linux/arm64/v8", {})


def test_layers_are_held_to_both_digests(folder: Folder) -> None:
    made = Image((layer(("name", noise(300_000))),))
    (blob,) = folder.manifest(put(folder, made, "memory-bench/one:1")).layers
    moved: list[int] = []
    assert b"".join(folder.layer(blob, made.diff_ids[0], moved.append)) == made.layers[0]
    assert sum(moved) == blob.size
    with pytest.raises(DamagedArchive, match="does not unpack to"):
        list(folder.layer(blob, sha(b"")))
    with pytest.raises(DamagedArchive, match="not under zstd"):
        list(folder.layer(blob.model_copy(update={"media_type": "text/plain"}), sha(b"")))


def test_what_hangs_on_an_image_is_found_by_it(folder: Folder) -> None:
    one = put(folder, image("one"), "memory-bench/one:1")
    two = put(folder, image("two"), "memory-bench/two:2")
    report = attach(folder, one, "application/x.report", {"r.json": b"{}"})
    locks = attach(folder, one, "application/x.locks", {"a.lock": b"a", "b.lock": b"b"})
    alone = attach(folder, None, "application/x.report", {"r.json": b"{}"})
    folder.index = Index(manifests=(one, two, report, locks, alone))
    assert list(folder.referrers(one.digest)) == [report, locks]
    assert list(folder.referrers(one.digest, "application/x.locks")) == [locks]
    assert list(folder.referrers(two.digest)) == []
    read = folder.manifest(report)
    assert read.subject == one.bare
    assert report.artifact_type == read.artifact_type == "application/x.report"
    assert read.config.media_type == documents.EMPTY
    assert folder.get(read.config) == b"{}"
    assert folder.find("memory-bench/two:2") == folder.find(two.digest) == two
    assert folder.find("memory-bench/three:3") is None


def test_all_that_an_index_leads_to_is_checked(folder: Folder) -> None:
    one = put(folder, image(shared=b"words"), "memory-bench/one:1")
    folder.index = Index(manifests=(one,))
    reached = folder.reached()
    assert list(reached) == sorted(reached)
    assert len(reached) == 4
    moved: list[int] = []
    folder.check(moved.append)
    assert sum(moved) == sum(blob.size for blob in reached.values())
    folder.check(but=set(reached))
    for blob in reached.values():
        path = folder.root / "blobs/sha256" / blob.hex
        raw = path.read_bytes()
        path.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
        with pytest.raises(DamagedArchive, match=blob.digest):
            folder.check()
        path.write_bytes(raw)


def test_a_folder_is_taken_up_again(folder: Folder) -> None:
    one = folder.put(b"words", "text/plain")
    folder.write("index.json", Index(annotations={"a": "b"}).written())
    again = Folder(folder.root)
    assert again.get(one) == b"words"
    assert again.index.annotations == {"a": "b"}
    (folder.root / "oci-layout").write_bytes(b'{"imageLayoutVersion":"2.0.0"}')
    with pytest.raises(DamagedArchive, match="not of the version"):
        Folder(folder.root)


def test_leftovers_are_tidied_away(folder: Folder) -> None:
    left = folder.root / ".new" / "left"
    left.write_bytes(b"half")
    folder.tidy()
    assert not left.exists()


def listing(digest: str, size: int) -> bytes:
    one = {"mediaType": "x", "digest": digest, "size": size}
    return json.dumps({"schemaVersion": 2, "manifests": [one]}).encode()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b'{"schemaVersion":1,"config":{},"layers":[]}',
        b'{"schemaVersion":2,"mediaType":"text/plain","manifests":[]}',
        listing("sha256:00", 1),
        listing("sha512:" + "0" * 64, 1),
        listing("sha256:" + "0" * 64 + "\n", 1),
        listing("sha256:" + "A" * 64, 1),
        listing("sha256:" + "0" * 64, -1),
    ],
)
def test_documents_of_another_form_are_refused(raw: bytes) -> None:
    with pytest.raises(DamagedArchive, match="The index is none"):
        documents.parse(Index, raw, "The index")


def test_a_manifest_of_anything_else_is_refused(folder: Folder) -> None:
    index = folder.put(Index().written(), documents.MANIFEST)
    with pytest.raises(DamagedArchive, match="The manifest"):
        folder.manifest(index)
    assert Manifest(config=index, layers=()).blobs == (index,)
