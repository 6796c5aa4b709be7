"""The base image from a registry, with one of our own that speaks just enough of the protocol."""

import gzip
import hashlib
import json
import shutil
import socket
import tarfile
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import docker
import pytest

from runner import engine_api
from runner.errors import CannotStart
from runner.images import _debian, built, doctor, ensure

pytestmark = pytest.mark.containers
ROOT = Path(__file__).parents[2]
MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
CONFIG = "application/vnd.docker.container.image.v1+json"
LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"


def digest(body: bytes) -> str:
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


class Registry(ThreadingHTTPServer):
    """Serves one image under every name and tag, or by digest.

    Attributes:
        blobs: what it holds, by digest.
        manifest: the image's manifest.
    """

    daemon_threads = True

    def __init__(self, client: docker.DockerClient, image: str) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.blobs: dict[str, bytes] = {}
        with tempfile.TemporaryFile() as file:
            for chunk in client.api.get_image(image):
                file.write(chunk)
            file.seek(0)
            with tarfile.open(fileobj=file) as archive:
                (listed,) = json.loads(_member(archive, "manifest.json"))
                config = self._part(CONFIG, _member(archive, listed["Config"]))
                layers = [
                    self._part(LAYER, gzip.compress(_member(archive, layer), 1, mtime=0))
                    for layer in listed["Layers"]
                ]
        described = {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers}
        self.manifest = json.dumps(described).encode()

    def _part(self, kind: str, body: bytes) -> dict[str, object]:
        self.blobs[digest(body)] = body
        return {"mediaType": kind, "size": len(body), "digest": digest(body)}

    @property
    def name(self) -> str:
        """An image's name at this registry."""
        return f"127.0.0.1:{self.server_address[1]}/debian:test"


def _member(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    assert file is not None
    return file.read()


class Answer(BaseHTTPRequestHandler):
    """Answers what a pull asks for."""

    protocol_version = "HTTP/1.1"
    server: Registry

    def do_GET(self) -> None:
        kind, body = "application/json", b"{}"
        if "/manifests/" in self.path:
            kind, body = MANIFEST, self.server.manifest
        elif "/blobs/" in self.path:
            kind, body = LAYER, self.server.blobs[self.path.rsplit("/", 1)[1]]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Docker-Content-Digest", digest(body))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Says nothing."""


@pytest.fixture(scope="module")
def client() -> Iterator[docker.DockerClient]:
    found = engine_api.connect()
    yield found
    found.close()


@pytest.fixture(scope="module")
def registry(client: docker.DockerClient) -> Iterator[Registry]:
    # The base itself: its own install step then has nothing to do, and the build takes no time.
    with Registry(client, ensure("base", client=client).name) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose base nobody has built, with a .env to keep up to date."""
    shutil.copytree(ROOT / "images/base", tmp_path / "images/base")
    (tmp_path / "images/base/unlike").write_text(uuid.uuid4().hex)
    (tmp_path / "compose.yaml").write_text("")
    (tmp_path / ".env").write_text("BENCH_BASE=memory-bench/base:old\nMINE=1\n")
    monkeypatch.setenv("BENCH_ROOT", str(tmp_path))
    monkeypatch.delenv("BENCH_DEBIAN", raising=False)
    return tmp_path


def pin(checkout: Path, image: str) -> None:
    """Makes that the public image the base stands on."""
    file = checkout / "images/base/debian.env"
    lines = file.read_text().splitlines()
    kept = [line for line in lines if not line.startswith("DEBIAN_IMAGE=")]
    file.write_text("\n".join([*kept, f"DEBIAN_IMAGE={image}", ""]))


def test_a_registry_that_answers_gives_the_base_by_digest(
    checkout: Path, registry: Registry, client: docker.DockerClient
) -> None:
    pin(checkout, registry.name)
    wanted = f"{registry.name}@{digest(registry.manifest)}"
    assert _debian.ask_registry(registry.name) == digest(registry.manifest)
    said = {one.what: one for one in doctor.examine()}["base image"]
    assert (said.level, registry.name in said.detail) == ("ok", True)
    lines: list[str] = []
    found = ensure("base", client=client, progress=lines.append)
    try:
        assert found.base == wanted
        assert any(wanted in line for line in lines)
        assert (checkout / ".env").read_text() == "MINE=1\n"
    finally:
        for one in built(client):
            if found.name in one.tags:
                client.api.remove_image(found.name, force=True)


@pytest.fixture
def silent() -> Iterator[str]:
    """An image at a registry that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}/debian:test"


def test_a_silent_registry_is_given_up_soon(silent: str) -> None:
    start = time.monotonic()
    assert _debian.ask_registry(silent) is None
    assert time.monotonic() - start < _debian.PROBE_S + 2


def test_a_registry_that_was_demanded_and_is_silent_is_an_error(
    checkout: Path, silent: str, client: docker.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin(checkout, silent)
    monkeypatch.setenv("BENCH_DEBIAN", "registry")
    with pytest.raises(CannotStart, match=r"No registry gave") as caught:
        ensure("base", client=client)
    assert "BENCH_DEBIAN=packages" in caught.value.hint


def test_without_registry_and_mmdebstrap_it_says_what_to_do(
    checkout: Path, silent: str, client: docker.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin(checkout, silent)
    monkeypatch.setenv("PATH", str(checkout))
    with pytest.raises(CannotStart, match=r"mmdebstrap is not installed") as caught:
        ensure("base", client=client)
    assert "scripts/bench" in caught.value.hint
    problems = [one for one in doctor.examine() if one.level == "problem"]
    assert "base image" in {one.what for one in problems}


def test_a_debian_made_here_before_serves_again_without_mmdebstrap(
    checkout: Path, silent: str, client: docker.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_DEBIAN", "packages")
    if _debian.held() is None:
        # The base here came from a registry: one is made for this test, and stays for the next.
        lines: list[str] = []
        _debian.obtain(engine_api.find()[1], lines.append)
        assert any("collecting" in line for line in lines)
    here = _debian.held()
    assert here is not None
    tools = checkout / "tools"
    tools.mkdir()
    docker_command = shutil.which("docker")
    assert docker_command is not None
    (tools / "docker").symlink_to(docker_command)
    monkeypatch.setenv("PATH", str(tools))
    found = ensure("base", client=client)
    try:
        assert found.base == here.origin
        assert found.layers[0] == "sha256:" + here.origin.split("sha256:")[1]
    finally:
        client.api.remove_image(found.name, force=True)
    pin(checkout, silent)
    assert _debian.held() is None
