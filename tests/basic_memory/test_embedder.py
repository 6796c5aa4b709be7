import hashlib
import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from basic_memory_driver.embedding import PORT
from basic_memory_driver.environment import Embedder, environment
from basic_memory_driver.settings import Settings

from runner.paths import images
from runner.systems import catalog
from tests.basic_memory._loaded import loaded

EMBEDDER = loaded("embedder.py")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *about: object) -> None:
        pass


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A hub on loopback: its address, and the folder it serves."""
    folder = tmp_path / "hub"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()
    server.server_close()


def revision(folder: Path, files: dict[str, bytes]) -> dict[str, str]:
    """Put files where a hub has them; their digests."""
    place = folder / EMBEDDER.BGE_REPOSITORY / "resolve" / EMBEDDER.BGE_REVISION
    place.mkdir(parents=True)
    for name, data in files.items():
        (place / name).write_bytes(data)
    return {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


def test_the_default_model_comes_from_a_hub_by_digest(
    hub: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, folder = hub
    files = {name: f"content of {name}".encode() for name in EMBEDDER.BGE_SHA256}
    monkeypatch.setattr(EMBEDDER, "BGE_SHA256", revision(folder, files))
    monkeypatch.setenv("HF_ENDPOINT", address)
    assert EMBEDDER.main("bge-small", tmp_path, tmp_path / "baked") == 0
    cache = tmp_path / "baked" / "models--Qdrant--bge-small-en-v1.5-onnx-Q"
    snapshot = cache / "snapshots" / (cache / "refs" / "main").read_text()
    assert {file.name: file.read_bytes() for file in snapshot.iterdir()} == files
    baked = Embedder.baked({"BASIC_MEMORY_EMBEDDER": str(tmp_path / "baked")})
    # The tool's own default: it is told nothing.
    assert (baked.model, baked.environment, baked.server) == ("bge-small", {}, False)


def test_a_file_with_another_digest_is_not_taken(
    hub: tuple[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    address, folder = hub
    revision(folder, dict.fromkeys(EMBEDDER.BGE_SHA256, b"another"))
    monkeypatch.setenv("HF_ENDPOINT", address)
    assert EMBEDDER.main("bge-small", tmp_path, tmp_path / "baked") == 1
    assert "the digest is" in capsys.readouterr().err
    assert not (tmp_path / "baked" / "embedder.json").exists()


def test_a_hub_that_is_not_there_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert EMBEDDER.main("bge-small", tmp_path, tmp_path / "baked") == 1
    assert "bge-small cannot be baked in" in capsys.readouterr().err


def test_the_projects_own_files_are_taken_as_they_are(tmp_path: Path) -> None:
    given = tmp_path / "minilm"
    (given / "fastembed" / "models--x").mkdir(parents=True)
    origin = {"model": "sentence-transformers/all-MiniLM-L6-v2", "onnx_sha256": "ab"}
    (given / "origin.json").write_text(json.dumps(origin))
    assert EMBEDDER.main("minilm", given, tmp_path / "baked") == 0
    baked = Embedder.baked({"BASIC_MEMORY_EMBEDDER": str(tmp_path / "baked")})
    assert "MiniLM" in baked.identity
    assert baked.environment == {"BASIC_MEMORY_SEMANTIC_EMBEDDING_MODEL": origin["model"]}
    assert (tmp_path / "baked" / "models--x").is_dir()


@pytest.mark.parametrize("model", ["e5", "tiny"])
def test_what_is_not_there_is_told_of(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert EMBEDDER.main(model, tmp_path, tmp_path / "baked") == 1
    assert f"{model} cannot be baked in" in capsys.readouterr().err


def test_every_model_of_the_description_can_be_asked_for() -> None:
    assert tuple(EMBEDDER.EMBEDDERS) == catalog.load("basic-memory").image_table.models


def test_the_port_is_the_one_that_is_served() -> None:
    assert f":{PORT}/" in (images() / "basic-memory" / "embedder.py").read_text()


def test_a_process_is_told_what_depends_on_the_run(tmp_path: Path) -> None:
    embedder = Embedder("e5", "e5", {"BASIC_MEMORY_SEMANTIC_EMBEDDING_DIMENSIONS": "384"}, True)
    told = environment({"PATH": "/bin"}, embedder, Settings("hybrid", 0.55), tmp_path)
    assert told == {
        "PATH": "/bin",
        "HOME": str(tmp_path),
        "BASIC_MEMORY_CONFIG_DIR": str(tmp_path / ".basic-memory"),
        "BASIC_MEMORY_SEMANTIC_MIN_SIMILARITY": "0.55",
        "BASIC_MEMORY_SEMANTIC_EMBEDDING_DIMENSIONS": "384",
    }
    text = environment({}, embedder, Settings("text"), tmp_path)
    assert text["BASIC_MEMORY_DEFAULT_SEARCH_TYPE"] == "text"
