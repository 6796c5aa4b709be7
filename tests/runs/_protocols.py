"""Protocols and jobs as a user would ask for them."""

from typing import Any

from runner.model import Call, ImageIdentity, Machine, RunRecord
from runner.prices import load_prices
from runner.runs.clock import Clock
from runner.runs.job import Job
from runner.runs.place import Place
from runner.runs.plan import Images, jobs
from runner.runs.protocol import Protocol
from runner.runs.sandbox.protocol import Sandbox
from runner.suites.trip_vs_move import load_case
from runner.systems.catalog import load

MODEL = "claude-sonnet-5-5"
PRICES = load_prices()


def protocol(case: str = "reader", **fields: Any) -> Protocol:
    """The published protocol of a case on the engine, scripted; fields in its place."""
    variant = fields.pop("variant", None)
    usual: dict[str, Any] = {
        "case": load_case(case, variant),
        "system": load("engine"),
        "arm": "scripted",
        "model": MODEL,
        "runs": {"move": 3, "trip-alone": 2},
        "clock": Clock("note"),
        "options": {"same_slot_admits": True},
    }
    return Protocol(**{**usual, **fields})


def jobs_of(case: str = "reader", **fields: Any) -> tuple[Job, ...]:
    """Its jobs, on images that no engine has to hold."""
    return jobs(protocol(case, **fields), Images("sha256:1", "sha256:2"), PRICES)


def one(kind: str = "move", case: str = "reader", **fields: Any) -> Job:
    """One job of that kind."""
    return jobs_of(case, runs={kind: 1}, **fields)[0]


def place(sandbox: Sandbox) -> Place:
    """A place around a sandbox."""
    image = ImageIdentity(
        name="memory-bench/engine:0123456789ab",
        config_digest="sha256:1",
        layers=("sha256:a",),
        platform="linux/amd64",
        base="debian packages",
        source="0123456789ab",
    )
    machine = Machine(
        engine="none",
        storage="none",
        cgroup="2",
        platform="linux/amd64",
        kernel="6",
        cpus=2,
        memory_bytes=1 << 30,
    )
    return Place(sandbox, machine, image, image.model_copy(update={"config_digest": "sha256:2"}))


class Seen:
    """A watch that remembers."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, str]] = []
        self.calls: list[Call] = []
        self.records: list[RunRecord] = []
        self.begun: list[str] = []

    def started(self, spec: Any) -> None:
        self.begun.append(spec.id)

    def step(self, run_id: str, name: str) -> None:
        self.steps.append((run_id, name))

    def call(self, run_id: str, call: Call) -> None:
        self.calls.append(call)

    def ended(self, record: RunRecord) -> None:
        self.records.append(record)
