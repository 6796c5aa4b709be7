"""Calls to an engine end, whatever is at the other end of the socket."""

import http.server
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runner.engine_address import Address
from runner.errors import CannotStart, EngineLost
from runner.runs.sandbox._engine import Engine, EngineRefused, connect

pytestmark = pytest.mark.slow

Serve = Callable[[Callable[[socket.socket], None]], Engine]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """An engine at a socket where a function deals with each connection."""
    servers: list[socket.socket] = []

    def start(deal: Callable[[socket.socket], None]) -> Engine:
        path = tmp_path / f"{len(servers)}.sock"
        server = socket.socket(socket.AF_UNIX)
        server.bind(str(path))
        server.listen()
        servers.append(server)

        def accept() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=deal, args=(client,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return Engine(Address(f"unix://{path}", "a test"), "1.41")

    yield start
    for server in servers:
        server.close()


def _drip(sock: socket.socket) -> None:
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        try:
            sock.sendall(b" ")
        except OSError:
            return
        time.sleep(0.02)


def _silent(sock: socket.socket) -> None:
    time.sleep(5)


def _gone(sock: socket.socket) -> None:
    sock.close()


def _odd(sock: socket.socket) -> None:
    sock.recv(1000)
    sock.sendall(b"SSH-2.0-OpenSSH\r\n")
    sock.close()


def _no_json(sock: socket.socket) -> None:
    sock.recv(1000)
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")


@pytest.mark.parametrize("deal", [_drip, _silent, _gone, _odd, _no_json])
def test_a_call_ends_in_time(deal: Callable[[socket.socket], None], serve: Serve) -> None:
    engine = serve(deal)
    began = time.monotonic()
    with pytest.raises(EngineLost, match="GET /info"):
        engine.call("GET", "/info", deadline_s=0.3)
    if deal in (_silent, _gone, _odd):
        with pytest.raises((EngineLost, EngineRefused)):
            engine.hijack("/containers/x/attach", deadline_s=0.3)
    assert time.monotonic() - began < 2


def test_a_refusal_has_the_engines_words(serve: Serve) -> None:
    def refuse(sock: socket.socket) -> None:
        sock.recv(1000)
        body = b'{"message":"No such image: x"}'
        sock.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    engine = serve(refuse)
    with pytest.raises(EngineRefused, match="No such image: x") as caught:
        engine.call("POST", "/containers/create", body={})
    assert caught.value.status == 404
    assert engine.call("GET", "/x", missing_ok=True) is None
    with pytest.raises(EngineRefused, match="No such image: x"):
        engine.hijack("/x")


def test_an_answer_without_end_is_cut(serve: Serve) -> None:
    def flood(sock: socket.socket) -> None:
        sock.recv(1000)
        sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            try:
                sock.sendall(b"x" * 65536)
            except OSError:
                return

    _, data = serve(flood).download("GET", "/archive", deadline_s=5, max_bytes=100_000)
    assert data == b"x" * 100_001


def test_bytes_behind_a_hijacks_header_are_kept(serve: Serve) -> None:
    def upgrade(sock: socket.socket) -> None:
        sock.recv(1000)
        sock.sendall(b"HTTP/1.1 101 UPGRADED\r\nUpgrade: tcp\r\n\r\nearly")
        time.sleep(1)

    sock, rest = serve(upgrade).hijack("/containers/x/attach")
    sock.close()
    assert rest == b"early"


def test_no_engine_says_what_was_tried(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match=r"nowhere\.sock") as caught:
        connect({"DOCKER_HOST": f"unix://{tmp_path}/nowhere.sock"})
    assert "DOCKER_HOST" in caught.value.hint
    with pytest.raises(CannotStart, match="only ones at unix:// and tcp://"):
        connect({"DOCKER_HOST": "ssh://somebody@somewhere"})


@pytest.mark.parametrize(
    ("offered", "spoken"), [("1.41", "1.41"), ("1.99", "1.51"), (None, "1.41")]
)
def test_the_api_version_is_agreed(offered: str | None, spoken: str, tmp_path: Path) -> None:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            if offered:
                self.send_header("Api-Version", offered)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

        def address_string(self) -> str:
            return "a test"

    class Server(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True

    with Server(str(tmp_path / "s"), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        engine = connect({"DOCKER_HOST": f"unix://{tmp_path}/s"})
        assert engine.api == spoken
        server.shutdown()
