"""Where runs happen: an engine with the images they need, and a sandbox on it."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from runner.errors import CannotStart
from runner.model import ImageIdentity, Machine
from runner.runs import sandbox
from runner.runs.ledgers import Salvage
from runner.runs.plan import Images
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
    started: Images | None = None
    """What this engine calls the two; none where it calls them by the digests of their configs."""

    @property
    def images(self) -> Images:
        """What containers are started from."""
        if self.started is not None:
            return self.started
        return Images(system=self.system.config_digest, gateway=self.gateway.config_digest)


@contextmanager
def place(
    system: str,
    version: str | None = None,
    model: str | None = None,
    *,
    image: str | None = None,
    say: Say,
) -> Iterator[Place]:
    """Make ready for runs of one system, and leave nothing behind.

    What dead benches left is removed first, but for their ledgers, and images that are missing are
    built.

    Args:
        system: the name of its image.
        version: of the system in it; its default when none.
        model: what is baked into it; its default when none.
        image: the digest of the very image, where one was named; nothing else is taken then.
        say: told, a line at a time, what takes long.

    Raises:
        CannotStart: no engine, no image, or no lease; or a name came to mean another image while
            all was made ready.
        UsageError: the image that was named is not one of that system, version and model.
    """
    # The SDK that builds take is slow to load, and much of the command line needs no build.
    from runner import images

    engine = _engine(say)
    base = images.ensure("base", progress=say)
    if image is None:
        measured = images.ensure(system, version=version, model=model, progress=say)
    else:
        chosen = images.choose(image, system, version=version, model=model)
        measured = chosen.identity
    gateway = images.ensure("bench", progress=say)
    # Containers are started from ids, and a report tells names too: both have to be of one image.
    started = Images(
        system=images.see_named(measured) if image is None else images.take(measured).id,
        # In a container of its own the bench takes the image it runs from, whatever is called so.
        gateway=images.take(gateway).id
        if os.environ.get("BENCH_IMAGE")
        else images.see_named(gateway),
    )
    with sandbox.start(engine=engine) as opened:
        yield Place(opened, machine(engine), measured, gateway, (base,), started)


@contextmanager
def place_of(
    system: ImageIdentity,
    gateway: ImageIdentity,
    others: Sequence[ImageIdentity] = (),
    *,
    say: Say,
) -> Iterator[Place]:
    """As ``place``, on the very images that a report names; nothing is built.

    Args:
        system: what is measured.
        gateway: the bench that gateways run from.
        others: what the two are built on; what the engine does not hold of it is left out.
        say: told, a line at a time, what takes long.

    Raises:
        CannotStart: no engine, no lease, or it does not hold one of the images.
    """
    from runner import images

    engine = _engine(say)
    measured, door = images.take(system), images.take(gateway)
    below = []
    for other in others:
        with suppress(CannotStart):
            below.append(images.take(other).identity)
    started = Images(system=measured.id, gateway=door.id)
    with sandbox.start(engine=engine) as opened:
        yield Place(
            opened, machine(engine), measured.identity, door.identity, tuple(below), started
        )


def _engine(say: Say) -> sandbox.Engine:
    """The engine, without what dead benches left on it."""
    engine = sandbox.connect()
    domain = sandbox.Domain.at(sandbox.folder(os.environ, Path.home()))
    for name in sandbox.reap(engine, domain, on_ledger=Salvage.usual(say)):
        say(f"removed {name}, left by a bench that was killed")
    return engine
