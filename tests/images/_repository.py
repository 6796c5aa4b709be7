"""A small archive of Debian packages, and a small index of Python's, as folders and over HTTP."""

import base64
import hashlib
import http.server
import io
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path


def package(name: str, version: str, architecture: str = "amd64", **fields: str) -> str:
    """A paragraph of an archive's index."""
    given = {
        "Package": name,
        "Version": version,
        "Architecture": architecture,
        "Filename": f"pool/{name}_{version.replace(':', '%3a')}_{architecture}.deb",
        "Size": "1000",
        "SHA256": hashlib.sha256(f"{name} {version} {architecture}".encode()).hexdigest(),
        "Description": name,
        **{key.replace("_", "-"): value for key, value in fields.items()},
    }
    return "".join(f"{key}: {value}\n" for key, value in given.items()) + "\n"


def archive(folder: Path, *packages: str, date: str = "Sun, 29 Nov 2026 00:53:14 UTC") -> str:
    """Writes an archive of amd64 and arm64; the line of a ``sources.list`` that has it."""
    release = folder / "dists" / "trixie"
    sums = []
    for architecture in ("amd64", "arm64"):
        kinds = (f"Architecture: {architecture}\n", "Architecture: all\n")
        index = "".join(one for one in packages if any(kind in one for kind in kinds)).encode()
        file = release / "main" / f"binary-{architecture}" / "Packages"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(index)
        name = file.relative_to(release).as_posix()
        sums.append(f" {hashlib.sha256(index).hexdigest()} {len(index)} {name}\n")
    (release / "Release").write_text(
        f"Suite: trixie\nDate: {date}\nArchitectures: amd64 arm64 all\nComponents: main\n"
        f"SHA256:\n{''.join(sums)}"
    )
    return f"deb [trusted=yes] file:{folder} trixie main"


def wheel(folder: Path, name: str, version: str, tag: str, *needs: str) -> Path:
    """Writes a wheel that holds nothing but what it says of itself."""
    stem = f"{name}-{version}"
    files = {
        f"{stem}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        + "".join(f"Requires-Dist: {need}\n" for need in needs),
        f"{stem}.dist-info/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    record = "".join(
        f"{path},sha256={_digest(text.encode())},{len(text)}\n" for path, text in files.items()
    )
    files[f"{stem}.dist-info/RECORD"] = record + f"{stem}.dist-info/RECORD,,\n"
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as out:
        for path, text in files.items():
            out.writestr(path, text)
    place = folder / "simple" / name
    place.mkdir(parents=True, exist_ok=True)
    file = place / f"{stem}-{tag}.whl"
    file.write_bytes(body.getvalue())
    links = (
        f'<a href="{one.name}#sha256={hashlib.sha256(one.read_bytes()).hexdigest()}">{one.name}</a>'
        for one in sorted(place.glob("*.whl"))
    )
    (place / "index.html").write_text("<!DOCTYPE html>" + "".join(links))
    return file


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder over HTTP."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Handler, directory=str(folder))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
