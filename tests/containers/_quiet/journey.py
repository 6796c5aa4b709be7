"""What a system is taken through while it is watched: a little of all that it can do."""

import hashlib
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from runner.gateway.config import GatewayConfig, TableSource
from runner.model import Step
from runner.prices import load_prices
from runner.runs.clock import Clock
from runner.runs.job import Job
from runner.runs.plan import Images, jobs
from runner.runs.protocol import Protocol
from runner.runs.sandbox import Box
from runner.suites.memory_honesty import load_exam
from runner.suites.trip_vs_move import load_case
from runner.suites.update_gate import load_gate
from runner.systems.catalog import System

MODEL = "claude-sonnet-5-5"
SET = "dev"
GATE = "development"
CASE, KIND = "reader", "move"
PAGES = 4
QUESTIONS = 2
NOTES = 2
PAIRS = 1
QUESTION = "Where does the user live?"
ANSWERS = {
    "title": '{"title": "A session"}',
    "learning": '{"page": null, "quote": ""}',
    "query_response": "The user lives where the notes say.",
}
"""By purpose: what is said to calls that no table of a suite knows, as a model would write it."""
DATED_BY_FILES = frozenset({("basic-memory", "0.23.2")})
"""What takes a note's time from its file, which the kernel dates: it fails on any day but today."""
OPEN_S = 120.0
STEP_S = 600.0
LINGER_S = 10.0
"""How long it is left alone before it is told to stop: what is told of later than that is not seen,
but for what a program tells as it ends. Clients of statistics collect for 0.5 to 10 seconds."""


def job(system: System, images: Images) -> Job:
    """One job whose gateway answers for all that :func:`take` asks: of a suite's first run, with
    the steps of the others, and their tables behind one another."""
    made = [
        jobs(protocol, images, load_prices())[0]
        for protocol in _protocols(system)
        if set(protocol.suite.verbs) <= set(system.verbs)
    ]
    configs = [GatewayConfig.model_validate_json(one.gateway.first_line) for one in made]
    config = configs[-1].model_copy(
        update={
            "tables": (*(table for one in configs for table in one.tables), _rest(system)),
            "names": {key: value for one in configs for key, value in one.names.items()},
        }
    )
    return replace(
        made[-1],
        clock=Clock("now" if (system.image, system.version) in DATED_BY_FILES else "note"),
        steps=tuple(_steps(system, made)),
        gateway=replace(made[-1].gateway, first_line=config.first_line()),
    )


def _protocols(system: System) -> Iterator[Protocol]:
    usual: dict[str, Any] = {"system": system, "arm": "scripted", "model": MODEL}
    usual["options"] = {name: option.default for name, option in system.options.items()}
    told = "told" in system.capabilities
    exam = load_exam(SET, told=told)
    yield Protocol(case=exam, runs={SET: 1}, clock=Clock("note"), **usual)
    yield Protocol(case=load_gate([GATE]), runs={GATE: 1}, clock=Clock("note"), **usual)
    yield Protocol(case=load_case(CASE), runs={KIND: 1}, clock=Clock("note"), **usual)


def _rest(system: System) -> TableSource:
    lines = ["schema = 1"]
    for purpose in sorted(ANSWERS.keys() & system.purposes.keys()):
        text = ANSWERS[purpose].replace("{", "{{").replace("}", "}}")
        lines += ["[[answer]]", f'id = "{purpose}"', f'purpose = "{purpose}"', f"text = '{text}'"]
    content = "\n".join(lines)
    digest = hashlib.sha256(content.encode()).hexdigest()
    return TableSource(name="quiet/rest.toml", sha256=digest, content=content)


def _steps(system: System, made: list[Job]) -> Iterator[Step]:
    """Few pages and questions of the exam, few notes of the case; each verb that there is."""
    steps = {verb: [one for job in made for one in job.steps if one.verb == verb] for verb in VERBS}
    notes = steps["deposit"][:NOTES]
    if index := steps["index"][:1]:
        # Pages that nothing answers for, where a model is called for each, are notes instead.
        paid = system.purposes and not system.ingestion and notes
        pages = index[0].payload["pages"][:PAGES]
        if paid:
            pages = [{key: note.payload[key] for key in ("name", "text")} for note in notes[:1]]
        yield replace(index[0], payload={"pages": pages})
    yield from steps["ask"][:QUESTIONS]
    asked = {"question": QUESTION, "top_k": 3}
    yield from (Step(name=verb, verb=verb, payload=asked) for verb in _has(system, "recall"))
    yield from (Step(name=verb, verb=verb) for verb in _has(system, "learn"))
    yield from notes
    yield from steps["consolidate"][:1] if notes else ()
    yield from steps["probe"][:PAIRS]


VERBS = ("index", "ask", "deposit", "consolidate", "probe")


def _has(system: System, verb: str) -> tuple[Any, ...]:
    return (verb,) if verb in system.verbs else ()


def take(box: Box, job: Job) -> list[str]:
    """Take a system through a job's steps as a run does, leave it alone for a while, and have it
    stop.

    Returns:
        The verbs it answered.

    Raises:
        BenchError: it failed at one.
    """
    box.gateway.wait_for("ready", deadline_s=OPEN_S)
    said = [_asked(box, "describe", {})]
    shows: datetime | None = None
    day = next((step.day for step in job.steps if step.day), date(2026, 9, 1))
    for step in job.steps:
        day = step.day or day
        now = datetime.now(UTC)
        offset = job.clock.offset(day, now=now, not_before=shows)
        box.gateway.request("clock", {"offset_s": offset}, deadline_s=OPEN_S)
        box.gateway.request("step", {"name": step.name}, deadline_s=OPEN_S)
        said.append(_asked(box, step.verb, step.payload))
        shows = datetime.now(UTC) + timedelta(seconds=offset) if offset is not None else None
    said.append(_asked(box, "snapshot", {}))
    time.sleep(LINGER_S)
    return [*said, _asked(box, "stop", {})]


def _asked(box: Box, verb: str, payload: Any) -> str:
    box.system.request(verb, payload, deadline_s=STEP_S)
    return verb
