"""What every process of basic-memory is started with, be it the server or a command.

What keeps it quiet stands in the image's own environment, where one can see it; here is what
depends on the embedder that is baked in and on what the bench set. A command of basic-memory that
is to see what the server sees is run as

    python -m basic_memory_driver.environment COMMAND [ARG...]
"""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from basic_memory_driver import settings
from basic_memory_driver.errors import Degraded
from basic_memory_driver.settings import Settings

EMBEDDER = "BASIC_MEMORY_EMBEDDER"
"""Names the folder of the embedder that is baked in."""
PREFIX = "BASIC_MEMORY_"


@dataclass(frozen=True)
class Embedder:
    """What turns text into vectors, as ``embedder.json`` in its folder has it."""

    model: str
    """The name it is baked in by."""
    identity: str
    """What it is made of, with a digest."""
    environment: Mapping[str, str]
    """How basic-memory is told of it."""
    server: bool
    """Whether it is reached over loopback, where it has to be started first."""

    @classmethod
    def baked(cls, env: Mapping[str, str]) -> "Embedder":
        """The one this image has.

        Raises:
            Degraded: there is none.
        """
        file = Path(env.get(EMBEDDER, "")) / "embedder.json"
        try:
            return cls(**json.loads(file.read_text()))
        except (OSError, ValueError, TypeError) as error:
            raise Degraded(f"no embedder is baked in: {error}") from error


def environment(
    env: Mapping[str, str], embedder: Embedder, chosen: Settings, home: Path
) -> dict[str, str]:
    """The environment of a process of basic-memory."""
    mine = {
        "HOME": str(home),
        f"{PREFIX}CONFIG_DIR": str(home / ".basic-memory"),
        f"{PREFIX}SEMANTIC_MIN_SIMILARITY": f"{chosen.min_similarity:g}",
        **embedder.environment,
    }
    if chosen.search == "text":
        # The command line has a switch for every search but this one.
        mine[f"{PREFIX}DEFAULT_SEARCH_TYPE"] = "text"
    return {**env, **mine}


def main(command: list[str]) -> None:
    """Become the command."""
    chosen = settings.parse(os.environ.get("BENCH_SETTINGS", "{}"))
    home = Path(os.environ["HOME"])
    told = environment(os.environ, Embedder.baked(os.environ), chosen, home)
    os.execvpe(command[0], command, told)  # noqa: S606 - the caller's own command


if __name__ == "__main__":
    main(sys.argv[1:])
