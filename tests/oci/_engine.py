"""An engine as far as images go, without containers: of either kind of storage, and of any mood.

It speaks the part of the Docker Engine API that saves, loads, inspects and names images, holds what
it is given in memory, and writes its tars as the real ones do: the classic kind as Docker 20 does,
the other as containerd's.
"""

import gzip
import io
import json
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, BinaryIO
from urllib.parse import parse_qs, unquote, urlsplit

import docker

from tests.oci._kit import Image, sha

_CONTAINERD = [["driver-type", "io.containerd.snapshotter.v1"]]


@dataclass
class Engine:
    """What it holds, and how it behaves.

    Attributes:
        by_manifest: whether it keeps images as containerd does.
        compressed: whether it keeps layers compressed, as such engines do with what they built.
        images: what it holds, by its own ids.
        tags: its names, with the ids they mean.
        asked: every request it got, as method and path.
        spoil: changes what it saves.
        refuse: what it says instead of loading.
        broken: whether it answers nothing but that something is wrong.
        forget: whether it loads nothing and says that it did.
        break_off: after how many bytes of a save it hangs up.
        swallow: after how many bytes of a load it hangs up.
    """

    by_manifest: bool = False
    compressed: bool = False
    images: dict[str, Image] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    spoil: Callable[[bytes], bytes] = lambda data: data
    refuse: str = ""
    broken: bool = False
    forget: bool = False
    break_off: int | None = None
    swallow: int | None = None
    url: str = ""

    def id_of(self, image: Image) -> str:
        """What it calls an image."""
        return sha(self.manifest(image)) if self.by_manifest else image.digest

    def manifest(self, image: Image) -> bytes:
        """As containerd has one."""
        blobs = [self._blob(raw) for raw in image.layers]
        return json.dumps(
            {"config": image.digest, "layers": [sha(blob) for blob in blobs]}
        ).encode()

    def hold(self, image: Image, *tags: str) -> str:
        """Have it hold an image under these names."""
        found = self.id_of(image)
        self.images[found] = image
        for tag in tags:
            self.tags[tag] = found
        return found

    def find(self, reference: str) -> str | None:
        """The id that a reference means."""
        found = self.tags.get(reference, reference)
        return found if found in self.images else None

    def client(self) -> docker.DockerClient:
        """A client of it."""
        return docker.DockerClient(base_url=self.url, version="1.41", timeout=20)

    # ------------------------------------------------------------ what it says

    def inspected(self, image_id: str) -> dict[str, Any]:
        image = self.images[image_id]
        return {
            "Id": image_id,
            "Os": "linux",
            "Architecture": image.architecture,
            "Config": {"Labels": dict(image.labels)},
            "RootFS": {"Type": "layers", "Layers": list(image.diff_ids)},
            "RepoTags": [tag for tag, held in self.tags.items() if held == image_id],
        }

    def listed(self) -> list[dict[str, Any]]:
        return [
            {
                **self.inspected(one),
                "Created": 0,
                "Size": 1,
                "Labels": dict(self.images[one].labels),
            }
            for one in self.images
        ]

    def saved(self, ids: list[str]) -> bytes:
        images = [self.images[one] for one in ids]
        return self._as_containerd(images) if self.by_manifest else self._as_docker_20(images)

    def _as_docker_20(self, images: list[Image]) -> bytes:
        """Layers in folders of made-up names; one that was written already is a link to it."""
        files: dict[str, bytes | str] = {}
        told = []
        places: dict[str, str] = {}
        for image in images:
            paths = []
            for number, raw in enumerate(image.layers):
                path = f"{sha(image.config + bytes([number]))[7:]}/layer.tar"
                files[path] = f"../{places[sha(raw)]}" if sha(raw) in places else raw
                places.setdefault(sha(raw), path)
                files[path.replace("layer.tar", "VERSION")] = b"1.0"
                paths.append(path)
            config = f"{image.digest[7:]}.json"
            files[config] = image.config
            told.append({"Config": config, "RepoTags": None, "Layers": paths})
        files["manifest.json"] = json.dumps(told).encode()
        return _tar(files)

    def _as_containerd(self, images: list[Image]) -> bytes:
        files: dict[str, bytes | str] = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}'}
        told = []
        for image in images:
            paths = []
            for raw in image.layers:
                blob = self._blob(raw)
                paths.append(f"blobs/sha256/{sha(blob)[7:]}")
                files[paths[-1]] = blob
            config = f"blobs/sha256/{image.digest[7:]}"
            files[config] = image.config
            files[f"blobs/sha256/{sha(self.manifest(image))[7:]}"] = self.manifest(image)
            told.append({"Config": config, "RepoTags": [], "Layers": paths})
        files["manifest.json"] = json.dumps(told).encode()
        return _tar(files)

    def _blob(self, raw: bytes) -> bytes:
        return gzip.compress(raw, mtime=0) if self.compressed else raw

    def load(self, file: BinaryIO) -> str:
        """Take what is in a tar, as strictly as the real ones; what it says is an error."""
        with tarfile.open(fileobj=file, mode="r|") as tar:
            files = {}
            for member in tar:
                content = tar.extractfile(member)
                assert content is not None
                files[member.name] = content.read()
        if self.refuse:
            return self.refuse
        for one in json.loads(files["manifest.json"]):
            config = json.loads(files[one["Config"]])
            layers = tuple(files[path] for path in one["Layers"])
            if [sha(raw) for raw in layers] != config["rootfs"]["diff_ids"]:
                return "invalid diffID"
            image = _Loaded(layers, config["config"]["Labels"], config["architecture"])
            object.__setattr__(image, "raw", files[one["Config"]])
            if not self.forget:
                self.hold(image, *(one["RepoTags"] or ()))
        return ""


class _Loaded(Image):
    raw: bytes = b""

    @property
    def config(self) -> bytes:
        return self.raw


def _tar(files: dict[str, bytes | str]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, data in sorted(files.items()):
            told = tarfile.TarInfo(name)
            if isinstance(data, str):
                told.type, told.linkname = tarfile.SYMTYPE, data
                tar.addfile(told)
            else:
                told.size = len(data)
                tar.addfile(told, io.BytesIO(data))
    return out.getvalue()


@contextmanager
def running(engine: Engine) -> Iterator[Engine]:
    """An engine that answers at its ``url``."""

    class Handler(_Handler):
        of = engine

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    engine.url = f"tcp://127.0.0.1:{server.server_address[1]}"
    try:
        yield engine
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    of: Engine
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else every answer in two parts waits 40 ms

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        path, query = self._where()
        if path in ("/_ping", "/version"):
            spoken = {"ApiVersion": "1.41", "Version": "0", "MinAPIVersion": "1.12"}
            self._say(200, {**spoken, "Os": "linux", "Arch": "amd64"})
        elif self.of.broken:
            self._say(500, {"message": "driver is down"})
        elif path == "/info":
            status = _CONTAINERD if self.of.by_manifest else [["Backing Filesystem", "extfs"]]
            self._say(200, {"DriverStatus": status, "OSType": "linux", "Architecture": "x86_64"})
        elif path == "/images/json":
            wanted = json.loads(query.get("filters", ["{}"])[0]).get("label", [])
            listed = self.of.listed()
            self._say(200, [one for one in listed if one["Labels"].keys() >= set(wanted)])
        elif path == "/images/get":
            found = [self.of.find(name) for name in query["names"]]
            if None in found:
                self._say(404, {"message": "No such image"})
            else:
                self._stream(self.of.spoil(self.of.saved([one for one in found if one])))
        elif path.startswith("/images/") and path.endswith("/json"):
            image = self.of.find(path.removeprefix("/images/").removesuffix("/json"))
            if image is None:
                self._say(404, {"message": "No such image"})
            else:
                self._say(200, self.of.inspected(image))
        else:
            self._say(404, {"message": path})

    def do_POST(self) -> None:
        path, query = self._where()
        if path == "/images/load":
            body = _Chunks(self.rfile, self.of.swallow)
            try:
                said = self.of.load(io.BufferedReader(body))
            except (tarfile.TarError, EOFError, OSError):
                self.close_connection = True
                return
            while body.read(1 << 16):
                pass
            self._say(200, {"error": said} if said else {"stream": "Loaded"})
        elif path.endswith("/tag"):
            image = self.of.find(path.removeprefix("/images/").removesuffix("/tag"))
            if image is None:
                self._say(404, {"message": "No such image"})
                return
            self.of.tags[f"{query['repo'][0]}:{query['tag'][0]}"] = image
            self._say(201, None)
        else:
            self._say(404, {"message": path})

    def _where(self) -> tuple[str, dict[str, list[str]]]:
        parts = urlsplit(self.path)
        path = unquote(parts.path)
        if path.startswith("/v1."):
            path = "/" + path.split("/", 2)[2]
        self.of.asked.append(f"{self.command} {path}")
        return path, parse_qs(parts.query)

    def _say(self, code: int, body: object) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, data: bytes) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        part = data[: self.of.break_off]
        for at in range(0, len(part), 32 << 10):
            piece = part[at : at + (32 << 10)]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if self.of.break_off is None:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True


class _Chunks(io.RawIOBase):
    """A request's body in chunks, as far as it is let through."""

    def __init__(self, source: io.BufferedIOBase, most: int | None) -> None:
        self._source = source
        self._left = b""
        self._over = False
        self._most = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._left and not self._over:
            line = self._source.readline()
            if not line:
                raise EOFError
            size = int(line, 16)
            self._left = self._source.read(size)
            if len(self._left) != size:
                raise EOFError
            self._source.readline()
            self._over = size == 0
            if self._most is not None:
                self._most -= size
                if self._most < 0:
                    raise EOFError
        piece = self._left[: len(buffer)]
        self._left = self._left[len(piece) :]
        buffer[: len(piece)] = piece
        return len(piece)
