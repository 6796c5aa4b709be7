"""Take the files of the published runs out of the package that brings them.

    python take.py TARGET

Five notes and four sets of claim pairs lie inside linkedparticles. They are copied, byte for byte,
and each is held to the digest in ``upstream.sha256``: what a version changed is not what the
published results were measured on.
"""

import hashlib
import importlib.util
import sys
from pathlib import Path

PACKAGE = "particles"
FOLDER = Path("_artifacts") / "benchmarks"
DIGESTS = Path(__file__).with_name("upstream.sha256")


def main(target: Path) -> int:
    """Copy what the list names, and fail where anything differs."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        print(f"{PACKAGE} is not installed", file=sys.stderr)
        return 1
    files = {file.name: file for file in (Path(found.origin).parent / FOLDER).glob("*/*")}
    target.mkdir(parents=True)
    for line in DIGESTS.read_text().splitlines():
        wanted, name = line.split()
        body = files[name].read_bytes() if name in files else b""
        seen = hashlib.sha256(body).hexdigest()
        if seen != wanted:
            print(f"{name} has digest {seen}, not {wanted}", file=sys.stderr)
            return 1
        (target / name).write_bytes(body)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
