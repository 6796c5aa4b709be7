"""The folder archives share: nothing twice, nothing half, nothing that is not whole."""

import fcntl
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.archive.opening import opened
from runner.archive.store import Store, check_name, temporary
from runner.errors import CannotStart, DamagedArchive, UsageError
from runner.oci import documents
from runner.oci.documents import Index
from runner.oci.engine_io import Layer
from tests.oci._kit import image, layer, noise, put, sha

RAW = layer(("name", noise(200_000)))


class Given:
    """A layer's bytes, a little at a time."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.read_count = 0

    def read(self, count: int, /) -> bytes:
        piece, self._data = self._data[: min(count, 5000)], self._data[min(count, 5000) :]
        self.read_count += len(piece)
        return piece


def coming(raw: bytes = RAW, *, size: bool = True, named: bool = False) -> Layer:
    return Layer(Given(raw), len(raw) if size else None, sha(raw) if named else None)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def files(root: Path) -> list[str]:
    return sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())


# ---------------------------------------------------------------- layers


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("size", [True, False])
@pytest.mark.parametrize("others", [set(), {"sha256:" + "0" * 64}])
def test_a_layer_is_packed_as_it_comes_and_found_again(
    store: Store, named: bool, size: bool, others: set[str]
) -> None:
    moved: list[int] = []
    with store.filling():
        blob = store.take(
            coming(size=size, named=named), others, level=1, threads=2, moved=moved.append
        )
    assert blob is not None
    assert sum(moved) == len(RAW)
    assert store.layer(sha(RAW)) == store.blob_of(sha(RAW)) == blob
    assert b"".join(store.folder.layer(blob, sha(RAW))) == RAW
    assert [name for name in files(store.root) if name.startswith((".new", "blobs"))] == [
        f"blobs/sha256/{blob.hex}"
    ]


@pytest.mark.parametrize("named", [True, False])
def test_a_layer_that_is_there_is_not_packed_again(store: Store, named: bool) -> None:
    with store.filling():
        blob = store.take(coming(), set(), level=1, threads=1)
        assert blob is not None
        path = store.root / "blobs/sha256" / blob.hex
        before = path.stat()
        assert store.take(coming(named=named), {sha(RAW)}, level=1, threads=1) is None
    after = path.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert len([name for name in files(store.root) if name.startswith("blobs")]) == 1


def test_a_layer_that_is_not_there(store: Store) -> None:
    assert store.layer(sha(RAW)) is None
    assert store.config(sha(b"")) is None


@pytest.mark.parametrize("damage", [b"", b"x", None])
def test_a_damaged_layer_is_dropped_and_packed_anew(store: Store, damage: bytes | None) -> None:
    with store.filling():
        blob = store.take(coming(), set(), level=1, threads=1)
    assert blob is not None
    path = store.root / "blobs/sha256" / blob.hex
    raw = path.read_bytes()
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(raw[:-1] + damage)
    told: list[str] = []
    assert store.layer(sha(RAW), told.append) is None
    assert "packed anew" in told[0]
    assert not path.exists()
    with store.filling():
        assert store.take(coming(), set(), level=1, threads=1) == blob
    assert path.read_bytes() == raw


def test_a_note_that_leads_to_another_layer_is_not_believed(store: Store) -> None:
    other = layer(("other", b"words"))
    with store.filling():
        store.take(coming(), set(), level=1, threads=1)
        store.take(coming(other), set(), level=1, threads=1)
    notes = store.root / "layers"
    (notes / sha(RAW)[7:]).write_bytes((notes / sha(other)[7:]).read_bytes())
    assert store.layer(sha(RAW)) is None
    (notes / sha(other)[7:]).write_bytes(b"{}")
    assert store.layer(sha(other)) is None


def test_a_config_is_found_by_its_digest_where_it_is_whole(store: Store) -> None:
    made = image()
    blob = store.folder.put(made.config, documents.CONFIG)
    assert store.config(made.digest) == blob
    (store.root / "blobs/sha256" / blob.hex).write_bytes(b"{}")
    assert store.config(made.digest) is None


# ---------------------------------------------------------------- the folder


def test_what_the_disk_refuses_leaves_nothing(store: Store) -> None:
    class Full(Given):
        def read(self, count: int, /) -> bytes:
            if self.read_count > 50_000:
                raise OSError(28, "No space left on device")
            return super().read(count)

    before = files(store.root)
    with store.filling(), pytest.raises(OSError, match="No space"):
        store.take(Layer(Full(RAW), len(RAW), None), set(), level=1, threads=1)
    assert files(store.root) == before


def test_other_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(UsageError, match="something else"):
        Store(tmp_path / "mine")
    with pytest.raises(CannotStart, match="Nothing can be stored"):
        Store(tmp_path / "mine" / "letter.txt")
    assert files(tmp_path / "mine") == ["letter.txt"]
    (tmp_path / "empty").mkdir()
    Store(tmp_path / "empty")
    Store(tmp_path / "empty")


def _fill(root: Path, number: int) -> None:
    store = Store(root)
    with store.filling():
        for raw in (RAW, layer((f"own {number}", noise(50_000, number)))):
            known = {sha(raw)} if store.layer(sha(raw)) else set()
            if not known:
                (root / f"packed {number} {sha(raw)[7:]}").touch()
                store.take(coming(raw), known, level=1, threads=1)
        index = Index(
            manifests=(put(store.folder, image(f"number-{number}"), f"memory-bench/{number}:1"),)
        )
        store.record(f"number-{number}", index)


@pytest.mark.slow
def test_several_processes_fill_it_at_once(tmp_path: Path) -> None:
    root = tmp_path / "store"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_fill, args=(root, number)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    store = Store(root)
    assert store.names() == tuple(f"number-{number}" for number in range(4))
    assert len(store.folder.index.manifests) == 4
    store.folder.check()
    assert store.layer(sha(RAW)) is not None
    packed_by = [name for name in files(root) if name.startswith("packed") and sha(RAW)[7:] in name]
    assert len(packed_by) == 1
    assert list((root / ".new").iterdir()) == []


def test_who_waits_for_another_is_told(store: Store) -> None:
    told: list[str] = []
    pid = os.fork()
    if pid == 0:
        with store.filling():
            (store.root / "held").touch()
            time.sleep(0.4)
        os._exit(0)
    while not (store.root / "held").exists():
        time.sleep(0.01)
    with store.filling(lambda: told.append("waiting")):
        pass
    os.waitpid(pid, 0)
    assert told == ["waiting"]


def _be_killed(root: Path) -> None:
    def half() -> Iterator[bytes]:
        yield noise(100_000)
        os.kill(os.getpid(), signal.SIGKILL)

    store = Store(root)
    with store.filling():
        store.folder.put(half(), "text/plain")


@pytest.mark.slow
def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    root = tmp_path / "store"
    worker = multiprocessing.get_context("spawn").Process(target=_be_killed, args=(root,))
    worker.start()
    worker.join(60)
    assert worker.exitcode == -signal.SIGKILL
    store = Store(root)
    assert len(list((root / ".new").iterdir())) == 1
    with store.filling():
        assert list((root / ".new").iterdir()) == []


# ---------------------------------------------------------------- archives by name


def index_of(store: Store, name: str) -> Index:
    return Index(manifests=(put(store.folder, image(name), f"memory-bench/{name}:1"),))


def test_archives_are_kept_by_name_and_the_layout_leads_to_all(store: Store) -> None:
    one, two = index_of(store, "one"), index_of(store, "two")
    both = Index(manifests=(*one.manifests, *two.manifests), annotations={"a": "b"})
    with store.filling():
        store.record("one", one)
        store.record("both", both)
        store.record("both", both)
    again = Store(store.root)
    assert again.names() == ("both", "one")
    assert again.archive("one") == one
    assert again.archive("both") == both
    leads_to = again.folder.index.manifests
    assert sorted(leads_to, key=str) == sorted((*one.manifests, *two.manifests), key=str)
    with pytest.raises(UsageError, match="another archive named one"):
        again.record("one", two)
    again.record("one", two, force=True)
    assert again.archive("one") == two
    with pytest.raises(UsageError, match="It has: both, one"):
        again.archive("three")
    for name in ("", "a/b", "..", "a b", ".hidden", "x" * 200):
        with pytest.raises(UsageError, match="no name of an archive"):
            check_name(name)


def test_a_folder_is_read_as_an_archive_by_name(store: Store, tmp_path: Path) -> None:
    one = index_of(store, "one")
    with pytest.raises(UsageError, match="holds 0 archives"), opened(store.root):
        pass
    store.record("one", one)
    with opened(store.root) as layout:
        assert layout.index == one
    store.record("two", index_of(store, "two"))
    with pytest.raises(UsageError, match="holds 2 archives"), opened(store.root):
        pass
    with opened(store.root, "one") as layout:
        layout.check()
        assert layout.index == one
    (tmp_path / "other").mkdir()
    with (
        pytest.raises(UsageError, match="no folder that archives share"),
        opened(tmp_path / "other"),
    ):
        pass
    assert list((tmp_path / "other").iterdir()) == []
    with pytest.raises(UsageError, match="one archive"), opened(tmp_path / "file", "name"):
        pass
    with pytest.raises(UsageError, match="cannot be read"), opened(tmp_path / "file"):
        pass


def test_an_index_of_the_store_that_is_damaged(store: Store) -> None:
    store.record("one", index_of(store, "one"))
    (store.root / "archives" / "one.json").write_bytes(b"{")
    with pytest.raises(DamagedArchive, match="is none"), opened(store.root, "one"):
        pass


# ---------------------------------------------------------------- for one archive alone


def test_a_temporary_one_is_gone_in_the_end(tmp_path: Path) -> None:
    with temporary(tmp_path / "file.bench") as store:
        store.folder.put(b"words", "text/plain")
        (inside,) = tmp_path.iterdir()
        assert inside.name.startswith(".file.bench.")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyboardInterrupt), temporary(tmp_path / "file.bench"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_beside_a_file_is_removed_and_nothing_else(
    tmp_path: Path,
) -> None:
    dead = tmp_path / ".file[1].bench.abc.parts"
    alive = tmp_path / ".file[1].bench.def.parts"
    other = tmp_path / ".file1.bench.ghi.parts"
    for folder in (dead, alive, other):
        folder.mkdir()
        (folder / ".alive").touch()
    with (alive / ".alive").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with temporary(tmp_path / "file[1].bench"):
            pass
    assert sorted(tmp_path.iterdir()) == sorted((alive, other))
