"""From what was typed at ``bench honesty`` to the protocols that it asks for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from runner.commands._image import on_one_image
from runner.commands._money import run_ceiling
from runner.commands._options import measured_by_default
from runner.errors import UsageError
from runner.reports.recording import open_tape
from runner.runs.clock import Clock
from runner.runs.protocol import Arm, Protocol
from runner.runs.provider import Provider
from runner.suites.memory_honesty import (
    SETS,
    Exam,
    Marker,
    deep_enough,
    load_exam,
)
from runner.systems.catalog import System, load, load_all

VERBS = frozenset({"index", "ask"})
DEFAULT = "router"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be run, as it was typed.

    Attributes:
        systems: what is measured; the usual one, or every plain one, when none.
        version: of the systems.
        image: the digest of the very image that all of them run from; none for those of the files.
        sets: what is asked; the usual ones when none.
        matrix: whether several systems are meant, on several sets.
        others: systems that only serve a comparison.
        rules: whether answers are also shown under rules, which takes deeper ones and development
            sets.
        marker: how a replaced page says so.
        top_k: pages that may be cited.
        seed: of the order, and of the intervals.
        runs: of each set.
        cassette: recorded to, or replayed from.
    """

    systems: Sequence[str]
    version: str | None
    image: str | None = None
    sets: Sequence[str]
    matrix: bool
    others: Sequence[str]
    rules: bool
    marker: Marker
    top_k: int
    seed: int
    runs: int
    arm: Arm
    model: str
    pins: Mapping[str, str]
    max_usd: Decimal | None
    max_usd_total: Decimal | None
    ceiling: Literal["reserved", "measured"]
    step_deadline_s: float
    provider: Provider
    cassette: Path | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run, and which of it is to be shown for its own sake."""

    protocols: tuple[Protocol, ...]
    """Those of one system stand together."""
    cassettes: tuple[Path | None, ...]
    """Of each protocol; none where nothing of it is recorded or replayed."""
    systems: tuple[str, ...]
    sets: tuple[str, ...]


def names_in(typed: Sequence[str]) -> list[str]:
    """Names, of which several may have been typed at once, between commas."""
    return [name.strip() for one in typed for name in one.split(",") if name.strip()]


def plan(asked: Asked) -> Plan:
    """Work out every protocol.

    Raises:
        UsageError: a system or set that is not there, or cannot be asked so; cassettes that are
            of no use, or missing.
    """
    named = _systems(asked)
    others = [load(name) for name in dict.fromkeys(asked.others)]
    measured = list({one.name: one for one in (*named, *others)}.values())
    _can(measured)
    measured, digest = on_one_image(measured, asked.version, asked.image)
    usual = [name for name in SETS if name != "dev2"] if asked.matrix else ["dev"]
    sets = tuple(dict.fromkeys(asked.sets or usual))
    exams = {name: _exam(asked, name) for name in sets}
    if asked.rules:
        floors = [exam.floors_from for exam in exams.values()]
        exams |= {name: _exam(asked, name) for name in floors if name not in exams}
    _pinned(asked, measured)
    asking = sum(_asks(one) for one in measured) or len(measured)
    each = run_ceiling(
        asked.max_usd, asked.max_usd_total, asked.ceiling, asking * len(exams) * asked.runs
    )
    protocols = [
        replace(_protocol(asked, one, exam, each), image=digest)
        for one in measured
        for exam in exams.values()
    ]
    cassettes = _cassettes(asked, protocols)
    return Plan(
        protocols=tuple(
            replace(one, tape=open_tape(tape)) if tape and one.arm == "replay" else one
            for one, tape in zip(protocols, cassettes, strict=True)
        ),
        cassettes=tuple(cassettes),
        systems=tuple(one.name for one in named),
        sets=sets,
    )


def files_in(folder: Path, protocols: Sequence[Protocol]) -> list[Path]:
    """A file a system and set in the folder that was named."""
    return [
        (folder / f"honesty-{one.system.name}-{kind}.json").resolve()
        for one in protocols
        for kind in one.runs
    ]


def _protocol(asked: Asked, system: System, exam: Exam, max_usd: Decimal | None) -> Protocol:
    # Who asks no model is run as it is, whatever answers the others: without a network, a key or
    # a cassette.
    asks = _asks(system)
    return Protocol(
        case=exam.model_copy(update={"told": "told" in system.capabilities}),
        system=system,
        arm=asked.arm if asks else "scripted",
        model=asked.model,
        runs={exam.set: asked.runs},
        clock=Clock("now"),
        pins={name: model for name, model in asked.pins.items() if name in system.purposes},
        options=_options(system, exam),
        max_usd=max_usd,
        ceiling=asked.ceiling,
        step_deadline_s=asked.step_deadline_s,
        provider=asked.provider if asks else Provider(),
    )


def _systems(asked: Asked) -> list[System]:
    if asked.matrix and not asked.systems:
        return [system for system in _able() if _plain(system)]
    return [
        load(name, asked.version)
        for name in dict.fromkeys(asked.systems or [measured_by_default(DEFAULT)])
    ]


def _plain(system: System) -> bool:
    """Whether a system only looks pages up: it keeps no statements, and asks no model for it."""
    return not (_asks(system) or {"claims", "statements"} & set(system.capabilities))


def _asks(system: System) -> bool:
    """Whether a system asks a model anything here."""
    return system.ingestion is not None


def _pinned(asked: Asked, systems: Sequence[System]) -> None:
    for name in asked.pins:
        if not any(name in system.purposes for system in systems):
            known = dict.fromkeys(purpose for system in systems for purpose in system.purposes)
            raise UsageError(
                f"No system that is measured has the purpose {name}.",
                hint=f"There are: {', '.join(known) or 'none'}.",
            )


def _able() -> list[System]:
    """Systems that take pages and questions."""
    return [system for system in load_all() if set(system.verbs) >= VERBS]


def _can(systems: Sequence[System]) -> None:
    for system in systems:
        if lacking := sorted(VERBS - set(system.verbs)):
            raise UsageError(
                f"{system.name} does not {' or '.join(lacking)}, which memory-honesty asks of it.",
                hint=f"These do: {', '.join(known.name for known in _able()) or 'none'}.",
            )


def _options(system: System, exam: Exam) -> dict[str, JsonValue]:
    """All settings in force. Floors that come with a system are of the vault's own development
    set; the third vault has none, and takes those of the second."""
    floors = {"floors_from": "dev" if exam.vault == "vault1" else "dev3"}
    return system.settle({name: value for name, value in floors.items() if name in system.options})


def _exam(asked: Asked, name: str) -> Exam:
    exam = load_exam(name, marker=asked.marker, top_k=asked.top_k, seed=asked.seed)
    if not asked.rules:
        return exam
    # So deep that leaving out replaced pages leaves as many as may be cited.
    return exam.model_copy(update={"depth": deep_enough(exam.statuses, exam.top_k)})


def _cassettes(asked: Asked, protocols: Sequence[Protocol]) -> list[Path | None]:
    """The cassette of each protocol that asks a model: the named file, with system and set before
    its ending where there are several."""
    path, arm = asked.cassette, asked.arm
    if arm not in ("record", "replay"):
        if path is not None:
            raise UsageError(f"--cassette is of no use with --arm {arm}: use record or replay.")
        return [None] * len(protocols)
    asking = [one for one in protocols if one.arm == arm]
    if path is None:
        what = "the file to record to" if arm == "record" else "the recording to answer with"
        raise UsageError(f"--arm {arm} needs --cassette: {what}.")
    if not asking:
        raise UsageError(
            f"--arm {arm}: nothing is asked of a model.",
            hint="Without --arm these systems run as they are.",
        )

    def of(one: Protocol) -> Path:
        if len(asking) == 1:
            return path.resolve()
        mark = "-".join((one.system.name, *one.runs))
        return path.with_name(f"{path.stem}-{mark}{path.suffix or '.cassette'}").resolve()

    return [of(one) if one.arm == arm else None for one in protocols]
