"""The very shell that stays in a container, over control groups of a test's own."""

import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from runner.runs.sandbox._frames import Demux
from runner.runs.sandbox._gauge import READING_S, SHELL, Gauge

Make = Callable[[], Gauge]
MARK, OLD_MARK = "memory.peak", "memory/memory.max_usage_in_bytes"
NOW, OLD_NOW = "memory.current", "memory/memory.usage_in_bytes"


def frame(data: bytes) -> bytes:
    """A piece of standard output as an engine sends it."""
    return bytes([1, 0, 0, 0]) + len(data).to_bytes(4, "big") + data


@contextmanager
def shell(folder: Path) -> Iterator[socket.socket]:
    """The stream to a shell that reads the control groups of a folder."""
    ours, theirs = socket.socketpair()
    with subprocess.Popen(
        ["/bin/sh", "-c", SHELL.replace("/sys/fs/cgroup", str(folder))],
        stdin=theirs.fileno(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
    ) as process:

        def carry() -> None:
            assert process.stdout is not None
            with suppress(OSError):
                while piece := process.stdout.read(5):  # an engine may cut a line anywhere
                    theirs.sendall(frame(piece))
                theirs.shutdown(socket.SHUT_RDWR)

        carrier = threading.Thread(target=carry)
        carrier.start()
        try:
            yield ours
        finally:
            ours.close()
            process.kill()
            carrier.join(5)
            theirs.close()


@pytest.fixture
def gauge(tmp_path: Path) -> Iterator[Make]:
    with ExitStack() as stack:

        def make() -> Gauge:
            made = Gauge(stack.enter_context(shell(tmp_path)), Demux(b""))
            stack.callback(made.close)
            return made

        yield make


def says(folder: Path, name: str, number: object) -> None:
    """What the kernel says in one of its files."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    new = path.with_name("new")
    new.write_text(f"{number}\n")
    new.replace(path)


@pytest.mark.parametrize("name", [MARK, OLD_MARK])
def test_the_mark_is_read_when_it_is_asked_for(tmp_path: Path, gauge: Make, name: str) -> None:
    for other in (NOW, OLD_NOW):
        says(tmp_path, other, 7)
    says(tmp_path, name, 4096)
    made = gauge()
    made.watch()
    says(tmp_path, name, 8192)
    peak = made.peak()
    assert peak is not None
    assert peak.bytes == 8192
    assert peak.how == f"the kernel's high-water mark ({name})"


@pytest.mark.parametrize("name", [NOW, OLD_NOW])
def test_without_a_mark_the_largest_of_many_samples_counts(
    tmp_path: Path, gauge: Make, name: str
) -> None:
    says(tmp_path, name, 10)
    made = gauge()
    made.watch()
    says(tmp_path, name, 5000)
    time.sleep(0.3)
    says(tmp_path, name, 20)
    peak = made.peak()
    assert peak is not None
    assert peak.bytes == 5000
    assert f"samples ({name}), 0.05 s apart" in peak.how
    assert 3 < int(peak.how.split()[2]) < 20


def test_where_nothing_can_be_read_nothing_is_told(tmp_path: Path, gauge: Make) -> None:
    made = gauge()
    made.watch()
    assert made.peak() is None


@pytest.mark.parametrize("number", ["max", "1.5", "", "9 9"])
def test_what_is_no_number_is_none(tmp_path: Path, gauge: Make, number: str) -> None:
    says(tmp_path, MARK, number)
    made = gauge()
    made.watch()
    assert made.peak() is None


def test_what_was_read_stays_when_the_shell_goes(tmp_path: Path, gauge: Make) -> None:
    says(tmp_path, MARK, 4096)
    made = gauge()
    made.watch()
    (tmp_path / MARK).unlink()
    for _ in range(2):
        peak = made.peak()
        assert peak is not None
        assert peak.bytes == 4096


def test_one_that_is_silent_holds_nobody_up() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        made = Gauge(ours, Demux(b""))
        began = time.monotonic()
        assert made.peak() is None
        assert made.peak() is None  # it is not waited for twice
        assert time.monotonic() - began < 2 * READING_S


def test_one_that_is_closed_is_asked_nothing(tmp_path: Path, gauge: Make) -> None:
    says(tmp_path, NOW, 10)
    made = gauge()
    made.watch()
    made.close()
    made.close()
    peak = made.peak()
    assert peak is not None
    assert peak.bytes == 10
