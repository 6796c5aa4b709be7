"""``python -m runner.images NAME... | --all``: builds what is missing and prints what is there.

``NAME@VERSION`` is an image of another version than its default, ``NAME+MODEL`` one with another
model in it, ``NAME@VERSION+MODEL`` both.
"""

import sys
import time

from runner.errors import BenchError
from runner.images import ensure, names


def main(arguments: list[str]) -> int:
    """Ensures every image named, or all; the exit code of whatever went wrong."""
    wanted = names() if arguments == ["--all"] else tuple(arguments)
    for name in wanted:
        start = time.monotonic()
        try:
            rest, _, model = name.partition("+")
            image, _, version = rest.partition("@")
            found = ensure(
                image,
                version=version or None,
                model=model or None,
                progress=lambda line: print(f"    {line}", flush=True),
            )
        except BenchError as error:
            print(error, file=sys.stderr)
            return error.exit_code
        seconds = time.monotonic() - start
        print(f"{found.name}  {found.config_digest[7:19]}  {seconds:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
