"""The MiniLM image, alone: the files, by their digests, where their users look for them."""

import json
import re
import subprocess

import pytest

from runner.images import ensure
from runner.paths import images
from tests.containers.test_engine_image import SANDBOX

pytestmark = [pytest.mark.containers, pytest.mark.all_images]

MOST_BYTES = 95_000_000
"""What the image may hold beyond the base: the large file once, though it lies in two places."""
LOOK = """
cd /opt/minilm && cat origin.json && sha256sum */*/*/*/model.onnx */*/*/model.onnx 2>/dev/null
stat -c '%i %U %a' fastembed/*/snapshots/*/model.onnx chroma/*/onnx/model.onnx
test "$(cat fastembed/*/refs/main)" = "$(ls fastembed/*/snapshots)" && ls chroma/*/onnx
test ! -e /dev/ca.crt && ! python3 -c 'import onnx' 2>/dev/null && echo nothing else
"""


@pytest.fixture(scope="module")
def image() -> str:
    return ensure("minilm").config_digest


def test_it_holds_the_files_and_nothing_else(image: str) -> None:
    done = subprocess.run(
        ["docker", "run", "--rm", *SANDBOX, "--entrypoint=sh", image, "-c", LOOK],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    origin, rest = json.JSONDecoder().raw_decode(done.stdout)
    written = (images() / "minilm" / "lay_out.py").read_text()
    pinned = dict(re.findall(r'^(\w+_SHA256) = "([0-9a-f]{64})"$', written, re.MULTILINE))
    assert origin["weights_sha256"] == pinned["WEIGHTS_SHA256"]
    assert origin["onnx_sha256"] == pinned["ONNX_SHA256"]
    lines = done.stdout[rest:].split("\n")[1:]
    digests = [line.split()[0] for line in lines[:2]]
    assert digests == [pinned["ONNX_SHA256"]] * 2
    # One file with two names, which nobody but root may change.
    assert lines[2] == lines[3]
    assert lines[2].split()[1:] == ["root", "644"]
    # All that chroma looks for before it would fetch anything.
    assert lines[4:10] == [
        "config.json",
        "model.onnx",
        "special_tokens_map.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "vocab.txt",
    ]
    assert lines[10] == "nothing else"


def test_it_is_no_larger_than_its_files(image: str) -> None:
    def size(of: str) -> int:
        said = subprocess.run(
            ["docker", "image", "inspect", "--format", "{{.Size}}", of],
            capture_output=True,
            check=True,
        )
        return int(said.stdout)

    assert size(image) - size(ensure("base").config_digest) < MOST_BYTES
