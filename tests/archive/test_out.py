"""Large files: whole under their names, or not there at all."""

import errno
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from runner.archive import _out
from runner.errors import CannotStart, UsageError


def write(
    path: Path,
    data: bytes = b"words",
    *,
    force: bool = False,
    then: Callable[[], object] = lambda: None,
) -> None:
    with _out.new_file(path, force=force) as file:
        file.write(data)
        then()


def test_a_file_is_there_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with _out.new_file(path, force=False) as file:
        file.write(b"wo")
        assert not path.exists()
        file.write(b"rds")
    assert path.read_bytes() == b"words"
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_there_is_replaced_by_force_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(UsageError, match="exists already"):
        _out.prepare(path, force=False)
    with pytest.raises(UsageError, match="exists already"):
        write(path)
    assert path.read_bytes() == b"old"
    _out.prepare(path, force=True)
    write(path, b"new", force=True)
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_one_that_came_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with pytest.raises(UsageError, match="exists already"):
        write(path, b"mine", then=lambda: path.write_bytes(b"theirs"))
    assert path.read_bytes() == b"theirs"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_what_is_broken_off_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    def broken() -> None:
        raise error

    for old in (None, b"old"):
        path = tmp_path / "file"
        if old is not None:
            path.write_bytes(old)
        with pytest.raises(error):
            write(path, b"half", force=True, then=broken)
        assert (path.read_bytes() if path.exists() else None) == old
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


@contextmanager
def at_most(size: int) -> Iterator[None]:
    """A limit that this process's files cannot pass, as a full disk is one."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_no_room_is_an_error_that_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with at_most(10_000), pytest.raises(CannotStart, match="cannot be written: File too large"):
        write(path, bytes(20_000))
    assert list(tmp_path.iterdir()) == []

    def full() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(CannotStart, match="No space left") as caught:
        write(path, then=full)
    assert "Make room" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("file")
    with pytest.raises(CannotStart, match="cannot be written"):
        _out.prepare(tmp_path / "a" / "b", force=False)
    with pytest.raises(UsageError, match="is a folder"):
        _out.prepare(tmp_path, force=True)
    _out.prepare(tmp_path / "new" / "folder" / "file", force=False)
    assert (tmp_path / "new" / "folder").is_dir()
