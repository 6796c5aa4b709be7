"""Where runs happen: an engine with the images they need, and a sandbox on it."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runner.model import ImageIdentity, Machine
from runner.runs import sandbox
from runner.runs.ledgers import Salvage
from runner.runs.sandbox._machine import machine
from runner.runs.sandbox.protocol import Sandbox

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Place:
    """The sandbox, the engine's account of itself, and the images by identity."""

    sandbox: Sandbox
    machine: Machine
    system: ImageIdentity
    gateway: ImageIdentity
    others: tuple[ImageIdentity, ...] = ()
    """Images the two are built on."""


@contextmanager
def place(
    system: str, version: str | None = None, model: str | None = None, *, say: Say
) -> Iterator[Place]:
    """Make ready for runs of one system, and leave nothing behind.

    What dead benches left is removed first, but for their ledgers, and images that are missing are
    built.

    Args:
        system: the name of its image.
        version: of the system in it; its default when none.
        model: what is baked into it; its default when none.
        say: told, a line at a time, what takes long.

    Raises:
        CannotStart: no engine, no image, or no lease.
    """
    # The SDK that builds take is slow to load, and much of the command line needs no build.
    from runner import images

    engine = sandbox.connect()
    domain = sandbox.Domain.at(sandbox.folder(os.environ, Path.home()))
    for name in sandbox.reap(engine, domain, on_ledger=Salvage.usual(say)):
        say(f"removed {name}, left by a bench that was killed")
    base = images.ensure("base", progress=say)
    measured = images.ensure(system, version=version, model=model, progress=say)
    gateway = images.ensure("bench", progress=say)
    with sandbox.start(engine=engine) as opened:
        yield Place(opened, machine(engine), measured, gateway, (base,))
