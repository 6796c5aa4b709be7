"""Reports about images that a stand-in engine holds, and archives of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from runner.archive import pack, plan
from runner.archive.plan import Plan
from runner.archive.store import Store, temporary
from runner.archive.watch import Nobody
from runner.model import (
    Ending,
    ImageIdentity,
    Outcome,
    Package,
    RunRecord,
    SnapshotRecord,
)
from runner.model import (
    Store as Found,
)
from runner.oci.documents import Index
from runner.reports import files
from runner.reports.produce import blank
from runner.reports.schema import Report
from runner.runs.plan import specs
from runner.runs.protocol import Protocol
from tests.oci._engine import Engine
from tests.oci._kit import Image, noise, sha
from tests.oci._kit import image as made_image
from tests.reports._honesty import STARTED
from tests.runs._memory import MemorySandbox
from tests.runs._protocols import place, protocol

SHARED = noise(40_000, 3)
ENGINE = made_image("engine", shared=SHARED)
BENCH = made_image("bench", shared=SHARED)
PACKAGES = (Package(manager="deb", name="libc6", version="2.41"),)


def identity(made: Image, name: str, **fields: Any) -> ImageIdentity:
    """What a report says of an image."""
    usual: dict[str, Any] = {
        "name": name,
        "config_digest": made.digest,
        "layers": made.diff_ids,
        "platform": "linux/amd64",
        "base": "debian packages",
        "source": "0" * 64,
        "packages": PACKAGES,
    }
    return ImageIdentity(**{**usual, **fields})


IDENTITIES = (
    identity(ENGINE, "memory-bench/engine:0123456789ab"),
    identity(BENCH, "memory-bench/bench:ba9876543210"),
)


def hold_both(engine: Engine) -> None:
    """Have an engine hold what a report is about."""
    engine.hold(ENGINE, "memory-bench/engine:0123456789ab")
    engine.hold(BENCH, "memory-bench/bench:ba9876543210", "memory-bench/bench:local")


def blank_report(
    images: Sequence[ImageIdentity] = IDENTITIES, of: Protocol | None = None, **fields: Any
) -> Report:
    """A report before its first run."""
    begun = blank(of or protocol(), place(MemorySandbox(Path("/nonexistent"))))
    told = {"images": tuple(images), "started_at": STARTED, **fields}
    return begun.model_copy(update=told)


def with_snapshots(report: Report, kept: Path, of: Protocol | None = None) -> Report:
    """The same with runs that broke off after a snapshot or two, which are kept."""
    (kept / "snapshots").mkdir(parents=True)
    runs = []
    for number, spec in enumerate(specs(of or protocol())):
        taken = []
        for step in ("first", f"last {number % 2}"):
            data = f"{spec.case} {step}".encode() * 50
            (kept / "snapshots" / f"{sha(data)[7:]}.tar").write_bytes(data)
            taken.append(
                SnapshotRecord(step=step, sha256=sha(data)[7:], size=len(data), store=Found())
            )
        ending = Ending(outcome=Outcome.ERRORED, kind="driver")
        runs.append(
            RunRecord(
                spec=spec, ending=ending, started_at=STARTED, seconds=1, snapshots=tuple(taken)
            )
        )
    return report.model_copy(update={"runs": tuple(runs)})


def save(report: Report, path: Path) -> Path:
    """As reports are saved."""
    path.parent.mkdir(parents=True, exist_ok=True)
    files.save(report, path)
    return path


def remember_packages(state: Path, *images: Image) -> None:
    """What is kept of an image that was looked into once, so that nobody looks again."""
    (state / "packages").mkdir(parents=True, exist_ok=True)
    listed = orjson.dumps([one.model_dump(mode="json") for one in PACKAGES])
    for made in images:
        (state / "packages" / f"{made.digest[7:]}.json").write_bytes(listed)


def packed(engine: Engine, planned: Plan, out: Path, store: Store | None = None) -> Index:
    """A plan as a file."""
    if store is not None:
        index = pack.pack(engine.client(), planned, store, Nobody(), name=out.stem)
        pack.write(out, store, index, Nobody())
        return index
    with temporary(out) as made:
        index = pack.pack(engine.client(), planned, made, Nobody())
        pack.write(out, made, index, Nobody())
    return index


def archived(engine: Engine, report: Path, out: Path, **how: Any) -> Index:
    """A report as a file."""
    return packed(engine, plan.make(engine.client(), report=report, **how), out)
