"""What a system itself says that its store holds: asked in a container of its own, and not trusted.

The driver of a system that came with a folder of its own reads its store, as no part of the bench
knows it. It does so beside a snapshot alone: without a network, without a door to a model, and
without the store that the run goes on with. What it answers is hostile input.
"""

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import ValidationError

from runner.errors import BenchError, ContainerDied, DriverError, UnreadableStore
from runner.model import Claim, Event, Noun, RestatementExamined, Store, Superseded
from runner.runs.sandbox.protocol import MIB, Reading, Sandbox, SystemBox
from runner.runs.sandbox.snapshot import Snapshot

VERB = "export"
OPEN_DEADLINE_S = 60.0
EXPORT_BYTES = 16 * MIB
"""Most that may be told, as JSON."""
CLAIMS = 20_000
EVENTS = 50_000
UNMAPPED = 1_000
TEXT = 20_000
"""Longest text of a claim, in characters."""
ID = 200
_TOLD = 3
"""Faults that an error names."""


@dataclass(frozen=True, slots=True)
class Exporting:
    """How a system is asked what its store holds."""

    system: SystemBox
    deadline_s: float


class _Exported(Noun):
    """What a driver answers to ``export``."""

    claims: tuple[Claim, ...]
    events: tuple[Event, ...] = ()
    unmapped: tuple[str, ...] = ()


class Exporter:
    """Asks for one store after another; ``close`` may be called from another thread."""

    def __init__(self, sandbox: Sandbox, run_id: str, how: Exporting) -> None:
        self._sandbox = sandbox
        self._run_id = run_id
        self._how = how
        self._closed = threading.Event()
        self._reading: Reading | None = None

    def read(self, snapshot: Snapshot) -> Store:
        """What a snapshot holds, in the system's own words.

        Raises:
            UnreadableStore: it says something else than claims and events, or too much.
            DriverError: it answers with an error.
            DeadlineMissed, ContainerDied, CannotStart, EngineLost: as any container of a run.
        """
        with self._sandbox.read(
            self._run_id,
            self._how.system,
            snapshot,
            deadline_s=OPEN_DEADLINE_S,
            on_opening=self._opening,
        ) as reading:
            try:
                reply = reading.system.request(
                    VERB, {"path": reading.store}, deadline_s=self._how.deadline_s
                )
            except DriverError as error:
                raise DriverError(error.kind, f"asked to export: {error.message}") from error
        return exported(reply.result)

    def close(self) -> None:
        """Stop reading, and read no more."""
        self._closed.set()
        if self._reading is not None:
            with suppress(BenchError):
                self._reading.close()

    def _opening(self, reading: Reading) -> None:
        self._reading = reading
        if self._closed.is_set():
            raise ContainerDied("The run was stopped before its store was read.")


def exported(result: Mapping[str, Any]) -> Store:
    """The answer to ``export``, held to what a store is.

    Raises:
        UnreadableStore: it is not; the message names the first faults.
    """
    for name, most in (("claims", CLAIMS), ("events", EVENTS), ("unmapped", UNMAPPED)):
        told = result.get(name)
        if isinstance(told, list) and len(told) > most:
            raise UnreadableStore(f"The system exported {len(told)} {name}; {most} are read.")
    size = len(orjson.dumps(dict(result)))
    if size > EXPORT_BYTES:
        raise UnreadableStore(f"The system exported {size} bytes; {EXPORT_BYTES} are read.")
    try:
        found = _Exported.model_validate_json(orjson.dumps(dict(result)))
    except (ValidationError, RecursionError) as error:
        raise UnreadableStore(
            f"The system exported no claims and events: {_said(error)}"
        ) from error
    faults = [*_faults(found.claims), *_loose(found)]
    if faults:
        more = len(faults) - _TOLD
        told = "; ".join([*faults[:_TOLD], *([f"and {more} more"] if more > 0 else [])])
        raise UnreadableStore(f"The system exported claims that do not go together: {told}.")
    return Store(claims=found.claims, events=found.events, unmapped=found.unmapped)


def _said(error: ValidationError | RecursionError) -> str:
    if not isinstance(error, ValidationError):
        return "it is nested too deep."
    faults = error.errors(include_url=False, include_input=False)
    told = [f"{'.'.join(map(str, one['loc'])) or 'it'}: {one['msg']}" for one in faults[:_TOLD]]
    more = error.error_count() - len(told)
    return "; ".join([*told, *([f"and {more} more"] if more > 0 else [])]) + "."


def _faults(claims: tuple[Claim, ...]) -> list[str]:
    seen: set[str] = set()
    faults = []
    for claim in claims:
        if not claim.id or len(claim.id) > ID:
            faults.append(f"the id {claim.id[:40]!r} has not 1 to {ID} characters")
        elif claim.id in seen:
            faults.append(f"the id {claim.id!r} is there twice")
        seen.add(claim.id)
        if len(claim.text) > TEXT:
            faults.append(f"{claim.id!r} has {len(claim.text)} characters; {TEXT} are read")
        if not claim.status:
            faults.append(f"{claim.id!r} has no status")
    return faults


def _loose(found: _Exported) -> list[str]:
    """What is named and is not there."""
    known = {claim.id for claim in found.claims}
    pointers: list[tuple[str, str | None]] = []
    for claim in found.claims:
        pointers += [(f"{claim.id} is retired by", claim.retired_by)]
        pointers += [(f"{claim.id} leaned on", claim.anchor)]
    for number, event in enumerate(found.events):
        pointers += [(f"event {number} names", id_) for id_ in _named(event)]
    return [
        f"{what} {id_[:40]!r}, which is not there"
        for what, id_ in pointers
        if id_ is not None and id_ not in known
    ]


_NAMED: Mapping[type[Noun], Callable[[Any], tuple[str | None, ...]]] = {
    Superseded: lambda event: (event.loser, event.winner),
    RestatementExamined: lambda event: (
        event.claim,
        event.anchor,
        event.retired_by,
        event.contradicts,
        event.restatement,
    ),
}


def _named(event: Event) -> tuple[str | None, ...]:
    named = _NAMED.get(type(event))
    return named(event) if named is not None else ()
