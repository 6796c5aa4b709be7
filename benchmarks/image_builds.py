"""What it adds to a build that an image is brought into its one form.

    python -m benchmarks.image_builds [NAME...]

Each image is built once with no step taken from before, as ``bench images build`` does it; what it
stands on is there. Then it is brought into its one form, in the two ways there are: by its config
alone, as every image of the project whose steps all end with ``bench-seal`` is, and by way of all
its layers. The two are the same image. Nothing is kept, and nothing asserted but that.
"""

import argparse
import contextlib
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing

import docker.errors
from rich.console import Console

from runner import engine_api, images
from runner.errors import CannotStart
from runner.images import _buildx
from runner.images._making import UNFINISHED
from runner.images.canonical import canonical

NAMES = ("base", "bench", "engine", "baselines", "router")
DEADLINE_S = 1800.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.image_builds",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", metavar="NAME", nargs="*", default=NAMES)
    names: Sequence[str] = parser.parse_args(arguments).names
    rows = [measured(name) for name in names]
    print("| image | build s | its one form s | by all layers s |")
    print("|---|---:|---:|---:|")
    for name, row in zip(names, rows, strict=True):
        print(f"| {name} | " + " | ".join(f"{one:.2f}" for one in row) + " |")
    print(
        "| all | " + " | ".join(f"{sum(column):.2f}" for column in zip(*rows, strict=True)) + " |"
    )
    return 0


def measured(name: str) -> tuple[float, float, float]:
    """Seconds of the build, of what comes after it, and of the longer way there."""
    console = Console(stderr=True)
    tag = f"memory-bench/{name}:{UNFINISHED}{uuid.uuid4().hex[:12]}"
    client, address = engine_api.find()
    with closing(client):
        order = images.Builder(client, console.print).order(name, anew=True)

        def build() -> None:
            _buildx.build(
                address,
                order.recipe.context,
                tags=[tag],
                labels=order.marks,
                args=order.args,
                progress=console.print,
                deadline_s=DEADLINE_S,
                sources=order.sources,
                cached=False,
            )

        found: list[str] = []

        def form(*, thorough: bool) -> None:
            layers = client.api.inspect_image(tag)["RootFS"]["Layers"]
            held = canonical(
                client,
                tag,
                below=layers[:-1] if order.below is None else order.below,
                marks={},
                latest=int(order.recipe.args["SOURCE_DATE_EPOCH"]),
                thorough=thorough,
            )
            # By a name of its own: where it is the image that is in use, that one stays.
            client.api.tag(held.id, *f"{tag}-{len(found)}".split(":"))
            found.append(held.id)

        try:
            row = (
                _seconds(build),
                _seconds(lambda: form(thorough=False)),
                _seconds(lambda: form(thorough=True)),
            )
            if len(set(found)) != 1:
                raise CannotStart(f"Two ways to the one form of {name} lead to two images.")
        finally:
            for one in (tag, *(f"{tag}-{at}" for at in range(len(found)))):
                with contextlib.suppress(docker.errors.APIError):
                    client.api.remove_image(one)
    return row


def _seconds(do: Callable[[], None]) -> float:
    start = time.monotonic()
    do()
    return time.monotonic() - start


if __name__ == "__main__":
    sys.exit(main())
