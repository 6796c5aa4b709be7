"""The numpy encoder by itself, in the environment that runs the engine."""

import json
import subprocess

import pytest

from tests.particles._run import Installed

pytestmark = pytest.mark.particles

SCRIPT = """
import json, sys
import numpy as np
from sentence_transformers import SentenceTransformer
model = SentenceTransformer("all-MiniLM-L6-v2", local_files_only=True)
texts = json.load(sys.stdin)
together, alone = model.encode(texts), np.array([model.encode(text) for text in texts])
again = model.encode(texts, convert_to_numpy=True, show_progress_bar=False)
print(json.dumps({
    "shape": together.shape,
    "type": str(together.dtype),
    "apart": float(np.abs(together - alone).max()),
    "same": bool((together == again).all()),
    "lengths": np.linalg.norm(together, axis=1).tolist(),
    "size": model.get_sentence_embedding_dimension(),
    "none": list(model.encode([]).shape),
}))
"""


def encoded(
    particles: Installed, texts: list[str], **env: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(particles.python), "-c", SCRIPT],
        input=json.dumps(texts),
        env={"HF_HOME": str(particles.hub), **env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_text_is_the_same_whoever_it_comes_with(particles: Installed) -> None:
    texts = ["", "A.", "The user lives in São Paulo.", "word " * 400, "The user moved."] * 3
    done = encoded(particles, texts)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["shape"] == [15, 384]
    assert seen["type"] == "float32"
    assert seen["apart"] < 1e-6
    assert seen["same"]
    assert seen["lengths"] == pytest.approx([1.0] * 15, abs=1e-6)
    assert (seen["size"], seen["none"]) == (384, [0, 384])


def test_it_fetches_nothing(particles: Installed) -> None:
    done = encoded(particles, ["A."], HF_HOME="/nonexistent")
    assert "FileNotFoundError" in done.stderr
