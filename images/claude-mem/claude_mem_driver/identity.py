"""What is installed, by what the packages say of themselves and by the bytes of the encoder."""

import hashlib
import json
from functools import cache

from claude_mem_driver.errors import Degraded
from claude_mem_driver.place import Place

MODEL = "onnx_models/all-MiniLM-L6-v2/onnx/model.onnx"
_PACKAGES = {"claude_code": "@anthropic-ai/claude-code", "bun": "bun"}


@cache
def encoder(place: Place) -> str:
    """The encoder of the vector search: its name, and the digest of its file.

    Raises:
        Degraded: it is not there; claude-mem would look for it on the network, and search by
            words alone without it.
    """
    try:
        digest = hashlib.sha256((place.installed / MODEL).read_bytes()).hexdigest()
    except OSError as error:
        raise Degraded(f"the vector search has no encoder: {error}") from error
    return f"all-MiniLM-L6-v2 (onnx, sha256 {digest[:12]})"


def versions(place: Place) -> dict[str, str]:
    """What claude-mem works with."""
    modules = place.installed / "node_modules"
    return {
        name: json.loads((modules / package / "package.json").read_text())["version"]
        for name, package in _PACKAGES.items()
    }
