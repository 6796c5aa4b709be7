"""The line protocol over a real pair of sockets, framed as an engine does."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import BenchError, ContainerDied, DeadlineMissed, DriverError, SandboxError
from runner.runs.sandbox._channel import NOISE_LINES, TAIL_BYTES, StreamChannel
from runner.runs.sandbox._frames import LINE_BYTES, STDERR, STDOUT, Demux


def frame(stream: int, data: bytes) -> bytes:
    return bytes([stream, 0, 0, 0]) + len(data).to_bytes(4, "big") + data


class Peer:
    """The other end: a container's process, as far as a channel can tell."""

    def __init__(self, first: bytes = b"", log: Path | None = None) -> None:
        ours, self.sock = socket.socketpair()
        self.killed = 0
        self.events: list[Mapping[str, Any]] = []
        self.lines = self.sock.makefile("rb")
        self.channel = StreamChannel(
            "system",
            ours,
            first,
            kill=self._kill,
            why_ended=lambda: ContainerDied("it ended"),
            on_event=self._event,
            log_file=log,
        )

    def _kill(self) -> None:
        self.killed += 1
        self.sock.shutdown(socket.SHUT_RDWR)

    def _event(self, line: Mapping[str, Any]) -> None:
        if line["event"] == "trouble":
            raise KeyError("of a callback")
        self.events.append(line)

    def say(self, line: object, stream: int = STDOUT) -> None:
        data = line if isinstance(line, bytes) else json.dumps(line).encode()
        self.sock.sendall(frame(stream, data + b"\n"))

    def heard(self) -> dict[str, Any]:
        heard: dict[str, Any] = json.loads(self.lines.readline())
        return heard


@pytest.fixture
def peer() -> Iterator[Peer]:
    peer = Peer()
    yield peer
    peer.channel.close()
    peer.sock.close()


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool


def test_a_request_gets_its_own_reply(peer: Peer, pool: ThreadPoolExecutor) -> None:
    first = pool.submit(peer.channel.request, "ask", {"q": 1}, deadline_s=5)
    one = peer.heard()
    second = pool.submit(peer.channel.request, "ask", {"q": 2}, deadline_s=5)
    two = peer.heard()
    assert (one["verb"], one["q"], two["q"]) == ("ask", 1, 2)
    now = "2026-09-01T12:00:00.123456+00:00"
    peer.say({"id": two["id"], "ok": True, "result": {"a": 2}, "now": now, "ms": 1.5})
    peer.say({"id": one["id"], "ok": True, "result": {"a": 1}, "now": "soon", "ms": "fast"})
    assert second.result().result == {"a": 2}
    assert second.result().now == datetime(2026, 9, 1, 12, 0, 0, 123456, tzinfo=UTC)
    assert second.result().ms == 1.5
    assert (first.result().result, first.result().now, first.result().ms) == ({"a": 1}, None, 0)


def test_an_error_is_typed(peer: Peer, pool: ThreadPoolExecutor) -> None:
    for error, kind in (({"type": "provider", "message": "529"}, "provider"), (None, "internal")):
        asked = pool.submit(peer.channel.request, "ask", deadline_s=5)
        peer.say({"id": peer.heard()["id"], "ok": False, "error": error})
        with pytest.raises(DriverError) as caught:
            asked.result()
        assert caught.value.kind == kind


def test_noise_is_kept_and_harmless_in_measure(peer: Peer, pool: ThreadPoolExecutor) -> None:
    for noise in (b"hello", b"[1]", b"3", b'{"neither": 1}', b"\xff", b'{"id": 99, "ok": true}'):
        peer.say(noise)
    peer.say(b'{"id": "x"}')
    peer.say(b"a log line", STDERR)
    asked = pool.submit(peer.channel.request, "ask", deadline_s=5)
    peer.say({"id": peer.heard()["id"], "ok": True, "result": {}})
    asked.result()
    assert peer.channel.noise == 7
    assert "[stdout] hello" in peer.channel.tail()
    assert "a log line" in peer.channel.tail()
    asked = pool.submit(peer.channel.request, "ask", deadline_s=5)
    with contextlib.suppress(BrokenPipeError):  # it hangs up at the line that is too much
        for _ in range(NOISE_LINES):
            peer.say(b"spam")
    with pytest.raises(DriverError, match="no reply"):
        asked.result()
    assert peer.killed == 1


def test_a_deadline_kills_and_frees_the_others(peer: Peer, pool: ThreadPoolExecutor) -> None:
    other = pool.submit(peer.channel.request, "other", deadline_s=30)
    began = time.monotonic()
    with pytest.raises(DeadlineMissed, match=r"answer ask within 0\.2 s"):
        peer.channel.request("ask", deadline_s=0.2)
    with pytest.raises(ContainerDied):
        other.result()
    assert time.monotonic() - began < 2
    assert peer.killed == 1
    with pytest.raises(ContainerDied):
        peer.channel.request("late", deadline_s=1)


def test_events_are_told_and_waited_for(peer: Peer, pool: ThreadPoolExecutor) -> None:
    ready = pool.submit(peer.channel.wait_for, "ready", deadline_s=5)
    peer.say({"event": "call", "n": 1})
    peer.say({"event": "ready"})
    assert ready.result() == {"event": "ready"}
    assert peer.channel.wait_for("call", deadline_s=0) == {"event": "call", "n": 1}
    assert [line["event"] for line in peer.events] == ["call", "ready"]
    with pytest.raises(DeadlineMissed, match="'never'"):
        peer.channel.wait_for("never", deadline_s=0.1)


def test_a_callback_that_fails_is_not_silent(peer: Peer) -> None:
    peer.say({"event": "trouble"})
    assert peer.channel.ended(5)
    with pytest.raises(SandboxError, match="of a callback"):
        peer.channel.request("ask", deadline_s=1)


def test_what_came_with_the_header_counts(pool: ThreadPoolExecutor) -> None:
    peer = Peer(first=frame(STDOUT, b'{"event": "ready"}\n'))
    assert peer.channel.wait_for("ready", deadline_s=5) == {"event": "ready"}
    peer.channel.close()
    peer.channel.close()


def test_the_end_of_the_stream_ends_everything(peer: Peer, pool: ThreadPoolExecutor) -> None:
    asked = pool.submit(peer.channel.request, "ask", deadline_s=30)
    waiting = pool.submit(peer.channel.wait_for, "ready", deadline_s=30)
    peer.heard()
    peer.sock.shutdown(socket.SHUT_RDWR)
    for future in (asked, waiting):
        with pytest.raises(ContainerDied):
            future.result(5)


def test_a_tail_is_bounded_and_a_log_is_whole(tmp_path: Path) -> None:
    peer = Peer(log=tmp_path / "log")
    for number in range(2000):
        peer.say(b"%06d" % number + b"." * 100, STDERR)
    peer.say({"event": "done"})
    peer.channel.wait_for("done", deadline_s=10)
    assert TAIL_BYTES <= len(peer.channel.tail()) < TAIL_BYTES + 200
    assert "001999" in peer.channel.tail()
    peer.channel.close()
    assert (tmp_path / "log").read_bytes().count(b"\n") == 2000


def test_a_reply_longer_than_anything_is_refused() -> None:
    demux = Demux(b"")
    piece = frame(STDOUT, b"x" * (LINE_BYTES // 4))
    for _ in range(4):
        assert list(demux.feed(piece)) == []
    with pytest.raises(DriverError, match="longer"):
        list(demux.feed(piece))


@given(
    st.lists(st.tuples(st.sampled_from([STDOUT, STDERR]), st.binary(max_size=40)), max_size=8),
    st.lists(st.integers(1, 30), min_size=1, max_size=20),
)
def test_frames_may_be_cut_anywhere(pieces: list[tuple[int, bytes]], cuts: list[int]) -> None:
    stream = b"".join(frame(kind, data) for kind, data in pieces)
    demux, out, logs, at, turn = Demux(b""), [], b"", 0, 0
    while at < len(stream):
        size = cuts[turn % len(cuts)]
        for kind, piece in demux.feed(stream[at : at + size]):
            if kind == STDOUT:
                out.append(piece)
            else:
                logs += piece
        at, turn = at + size, turn + 1
    said = b"".join(data for kind, data in pieces if kind == STDOUT)
    assert out == [line for line in said.split(b"\n")[:-1] if line.strip()]
    assert logs == b"".join(data for kind, data in pieces if kind == STDERR)


def test_nobody_is_left_waiting_by_a_close_in_between(pool: ThreadPoolExecutor) -> None:
    for _ in range(20):
        peer = Peer()
        asked = [pool.submit(peer.channel.request, "ask", deadline_s=30) for _ in range(4)]
        threading.Timer(0.002, peer.channel.close).start()
        for future in asked:
            with pytest.raises(BenchError):
                future.result(5)
