"""Reports of every suite about small images that are true to life, and archives of them."""

import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from runner import images, paths
from runner.archive import pack, plan
from runner.archive.store import temporary
from runner.archive.verify.locks import pins
from runner.archive.watch import Nobody
from runner.gateway.cassette import Cassette, Entry, key_of, models_of
from runner.gateway.cassette import save as save_cassette
from runner.gateway.usage import message_usage
from runner.model import (
    Call,
    GatewayRecord,
    ImageIdentity,
    Package,
    RunRecord,
    Step,
    StepRecord,
)
from runner.reports import files, integrity
from runner.reports.produce import blank, produce
from runner.reports.recording import used
from runner.reports.rescore import verdict
from runner.reports.schema import Report
from runner.runs.clock import Clock
from runner.runs.keep import Keep
from runner.runs.plan import specs
from runner.runs.protocol import Protocol
from runner.runs.watch import Unwatched
from runner.suites.honesty_learning import LESSON_KINDS, Lesson, load_lesson
from runner.suites.memory_honesty import load_exam
from runner.suites.registry import suite_of
from runner.suites.suite import Material
from runner.suites.update_gate import load_gate
from runner.systems.catalog import load as load_system
from tests.fixtures._gate import Probed
from tests.oci._engine import Engine, running
from tests.oci._kit import Image
from tests.reports import _honesty, _learning
from tests.runs._memory import MemorySandbox
from tests.runs._protocols import PRICES, place, protocol
from tests.suites.memory_honesty._kit import result as answer_of

DEBIAN = (
    Package(manager="deb", name="libc6", version="2.41-12"),
    Package(manager="deb", name="libstdc++6", version="14.2.0-19"),
)
STATUS = """Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.41-12
Description: a library
 Version: of nothing

Package: gone
Status: deinstall ok config-files
Version: 1

Package: libstdc++6
Status: install ok installed
Version: 14.2.0-19
"""
SITE = "opt/{name}/lib/python3.13/site-packages"
Entry_ = tuple[str, bytes | str | None]
"""A path with what is there: bytes, what a link leads to, or a folder."""


def layer(*entries: Entry_) -> bytes:
    """A layer as engines write them."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, data in entries:
            told = tarfile.TarInfo(name)
            if data is None:
                told.type = tarfile.DIRTYPE
                tar.addfile(told)
            elif isinstance(data, str):
                told.type, told.linkname = tarfile.SYMTYPE, data
                tar.addfile(told)
            else:
                told.size = len(data)
                tar.addfile(told, io.BytesIO(data))
    return raw.getvalue()


def listed(packages: Sequence[Package]) -> bytes:
    """The image's own list."""
    rows = [one.model_dump(mode="json") for one in packages]
    return json.dumps(rows, indent=1).encode()


def metadata(package: Package) -> bytes:
    """As a distribution tells of itself."""
    return (
        f"Metadata-Version: 2.4\nName: {package.name}\nVersion: {package.version}\n"
        "Summary: of a test\n\nName: not-this\n"
    ).encode()


def pinned(name: str) -> tuple[Package, ...]:
    """Two packages that the image's own lock pins."""
    lock = paths.images() / name / "requirements.lock"
    found = sorted(set(pins(lock.name, lock.read_bytes())), key=str) if lock.exists() else []
    return tuple(found[:2])


BASE = layer(
    ("etc", None),
    ("etc/debian_version", b"13\n"),
    ("var/lib/dpkg/status", STATUS.encode()),
    ("usr/share/memory-bench/packages.json", listed(DEBIAN)),
    ("opt/old/lib/python3.13/site-packages/old-1.dist-info/METADATA", b"Name: old\nVersion: 1\n"),
)


@dataclass(frozen=True)
class Small:
    """An image and what a report says of it."""

    image: Image
    identity: ImageIdentity


def small(name: str, *, also: Sequence[Entry_] = ()) -> Small:
    """An image of that name: Debian's packages below, a virtual environment on top."""
    own = pinned(name)
    packages = (*DEBIAN, *own)
    site = SITE.format(name=name)
    entries: list[Entry_] = [
        ("opt/.wh.old", b""),
        (f"opt/{name}/lib64", "lib"),
        (f"{site}/pip/_vendor/x-1.dist-info/METADATA", b"no database of this image"),
        *(
            (
                f"{site}/{one.name.replace('-', '_')}-{one.version}.dist-info/METADATA",
                metadata(one),
            )
            for one in own
        ),
        ("usr/share/memory-bench/packages.json", listed(packages)),
        (f"opt/{name}/noise", hashlib.shake_128(name.encode()).digest(20_000)),
        *also,
    ]
    source = images.source(name)
    marks = {
        "memory-bench.name": name,
        "memory-bench.source": source,
        "memory-bench.base": "debian packages",
    }
    made = Image((BASE, layer(*entries)), marks)
    identity = ImageIdentity(
        name=f"memory-bench/{name}:{made.digest[7:19]}",
        config_digest=made.digest,
        layers=made.diff_ids,
        platform="linux/amd64",
        base="debian packages",
        source=source,
        packages=packages,
    )
    return Small(made, identity)


@dataclass(frozen=True)
class Result:
    """A report that was saved, and what its archive is made of.

    Attributes:
        path: its file.
        images: that its runs were made with.
        kept: snapshots, where there are any.
    """

    path: Path
    images: tuple[Small, ...]
    kept: Path | None = None


def archived(result: Result, out: Path, of: Engine | None = None) -> Path:
    """The result as one file, its images out of an engine that holds them."""
    with running(of or Engine()) as engine:
        for one in result.images:
            engine.hold(one.image, one.identity.name)
        planned = plan.make(engine.client(), report=result.path, kept=result.kept)
        with temporary(out) as store:
            index = pack.pack(engine.client(), planned, store, Nobody(), level=1)
            pack.write(out, store, index, Nobody())
    return out


# ---------------------------------------------------------------- of every suite


def trip(folder: Path, **fields: Any) -> Result:
    """Trip versus move on the engine's own code, with its snapshots."""
    both = (small("engine"), small("bench"))
    kept = folder / "kept"
    path = folder / "trip.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    there = place(MemorySandbox(folder / "boxes"))
    produce(
        protocol(**fields),
        PRICES,
        replace(there, system=both[0].identity, gateway=both[1].identity),
        output=path,
        workers=2,
        watch=Unwatched(),
        keep=Keep(kept),
    )
    return Result(path, both, kept)


def gate(folder: Path, **of_protocol: Any) -> Result:
    """The update gate, its pairs probed in this process."""
    asked = load_gate()
    of = Protocol(
        **{
            "case": asked,
            "system": load_system("engine"),
            "arm": "scripted",
            "model": "claude-sonnet-5-5",
            "runs": dict.fromkeys(asked.kinds, asked.samples),
            "clock": Clock("now"),
            **of_protocol,
        }
    )
    probed, suite = Probed(asked), suite_of(asked)
    runs = []
    for spec in specs(of):
        material = Material(steps=probed.asked[spec.kind])
        one = probed.run(spec.kind, spec.index)
        order = [step.name for step in suite.steps(asked, spec.kind, spec.index)]
        steps = tuple(sorted(one.steps, key=lambda step: order.index(step.name)))
        runs.append(
            one.model_copy(
                update={
                    "spec": spec,
                    "steps": steps,
                    "observations": suite.observe(asked, spec.kind, material),
                }
            )
        )
    return _saved(folder / "gate.json", _of(of, runs), "engine")


def honesty(folder: Path, name: str = "dev", system: str = "bm25", **how: Any) -> Result:
    """A set of the honesty suite, answered by hand."""
    made = _honesty.report(load_exam(name), system=system, **how)
    return _saved(folder / f"{name}.json", made, load_system(system).image)


def learning(folder: Path) -> Result:
    """The learning suite on the project's own pairs: every answer right, and nothing learned."""
    asked = load_lesson("vault1")
    of = Protocol(
        case=asked,
        system=load_system("router"),
        arm="scripted",
        model="claude-sonnet-5-5",
        runs=dict.fromkeys(LESSON_KINDS, 1),
        clock=Clock("now"),
    )
    suite, runs = suite_of(asked), []
    for spec in specs(of):
        steps = tuple(
            StepRecord(name=one.name, verb=one.verb, seconds=0.01, result=_taught(asked, one))
            for one in suite.steps(asked, spec.kind, spec.index)
        )
        material = Material(steps=steps)
        checks = suite.check(asked, spec.kind, material)
        runs.append(
            RunRecord(
                spec=spec,
                started_at=_learning.STARTED,
                seconds=1.0,
                steps=steps,
                checks=checks,
                observations=suite.observe(asked, spec.kind, material),
                ending=suite.ending(checks, 1),
            )
        )
    return _saved(folder / "learning.json", _of(of, runs), "router")


def _taught(asked: Lesson, step: Step) -> dict[str, Any]:
    if step.verb == "index":
        return {"pages": len(asked.pages)}
    if step.verb == "learn":
        size = asked.size
        told = {"looked_at": size, "asked": size, "declined": size}
        return {**told, "learned": [], "unproved": [], "proof": True}
    right = {pair.id: pair.gold or None for pair in asked.pairs}
    return answer_of(asked.exam(1), right[step.name.split()[-1]])


def _of(of: Protocol, runs: Sequence[RunRecord]) -> Report:
    begun = blank(of, place(MemorySandbox(Path("/nonexistent"))))
    whole = begun.model_copy(
        update={"runs": tuple(runs), "started_at": datetime(2026, 12, 1, tzinfo=UTC)}
    )
    return whole.model_copy(update={"verdict": verdict(whole, whole.runs, whole.checks_version)})


def _saved(path: Path, report: Report, image: str) -> Result:
    both = (small(image), small("bench"))
    told = {"version": report.system.version, "settings": {"of": "a test"}}
    fields = {
        "images": tuple(one.identity for one in both),
        "runs": tuple(one.model_copy(update={"system": told}) for one in report.runs),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    files.save(report.model_copy(update=fields), path)
    return Result(path, both)


# ---------------------------------------------------------------- recorded, and replayed


def recorded(result: Result, folder: Path) -> Result:
    """The same as if a model had been recorded: each call under a request of its own."""
    report = files.load(result.path)
    tapes: dict[str, tuple[Entry, ...]] = {}
    runs = []
    for run in report.runs:
        entries = [_entry(run, call) for call in run.calls]
        tapes[run.spec.id] = tuple(entries)
        runs.append(_on(run, "record", entries, None))
    folder.mkdir(parents=True, exist_ok=True)
    now = datetime(2026, 12, 1, tzinfo=UTC)
    cassette = Cassette(
        bench="0",
        system=report.system.name,
        suite=report.suite,
        case=report.case.name,
        recorded_from=now,
        recorded_to=now,
        models=models_of(tapes.values()),
        runs=tapes,
    )
    digest = save_cassette(cassette, folder / "a.cassette")
    told = {"cassette": used("a.cassette", cassette, digest)}
    return _again(result, folder / "recorded.json", report, runs, "record", **told)


def replayed(result: Result, folder: Path) -> Result:
    """A recorded one, answered once more from its cassette."""
    report = files.load(result.path)
    assert report.cassette is not None
    digest = report.cassette.sha256
    runs = []
    for run in report.runs:
        entries = [_entry(run, call) for call in run.calls]
        runs.append(_on(run, "replay", entries, digest))
    folder.mkdir(parents=True, exist_ok=True)
    tape = result.path.with_name(report.cassette.name)
    (folder / tape.name).write_bytes(tape.read_bytes())
    return _again(result, folder / "replayed.json", report, runs, "replay")


def _entry(run: RunRecord, call: Call) -> Entry:
    canonical = orjson.dumps({"run": run.spec.id, "number": call.seq}).decode()
    return Entry(
        path="/v1/messages",
        step=call.step,
        purpose=call.purpose,
        model=call.requested_model,
        key=key_of("/v1/messages", False, canonical.encode()),
        canonical=canonical,
        status=200,
        headers={"content-type": "application/json"},
        body=orjson.dumps(
            {
                "type": "message",
                "model": call.served_model,
                "stop_reason": call.stop_reason,
                "usage": message_usage(call.usage),
            }
        ).decode(),
    )


def _on(run: RunRecord, arm: str, entries: Sequence[Entry], digest: str | None) -> RunRecord:
    calls = tuple(
        call.model_copy(
            update={
                "prompt_sha256": hashlib.sha256(entry.canonical.encode()).hexdigest(),
                "source": f"cassette:{number}" if arm == "replay" else None,
            }
        )
        for number, (call, entry) in enumerate(zip(run.calls, entries, strict=True))
    )
    gateway = run.gateway or GatewayRecord(arm=arm, network="none")
    return run.model_copy(
        update={
            "spec": run.spec.model_copy(update={"arm": arm}),
            "calls": calls,
            "gateway": gateway.model_copy(
                update={"arm": arm, "tables": {}, "cassette_sha256": digest}
            ),
        }
    )


def _again(
    result: Result, path: Path, report: Report, runs: Sequence[RunRecord], arm: str, **told: Any
) -> Result:
    kept = [one for one in report.fixtures if not one.name.startswith("scripted/")]
    fields = {"arm": arm, "runs": tuple(runs), "fixtures": tuple(kept), "notes": (), **told}
    files.save(report.model_copy(update=fields), path)
    return replace(result, path=path)


# ---------------------------------------------------------------- altered


Document = dict[str, Any]


def forged(path: Path, how: Callable[[Document], object], *, digests: bool = True) -> Path:
    """A saved report with something changed, its digests made anew as a forger would."""
    document = orjson.loads(path.read_bytes())
    before = orjson.dumps(document)
    how(document)
    assert orjson.dumps(document) != before, "nothing was changed"
    if digests:
        document[integrity.OWN_FIELD] = integrity.digests(document)
    path.write_bytes(orjson.dumps(document))
    return path


def states(sheet: Any) -> Mapping[str, str]:
    """What came of each check."""
    return {line.id: line.state.value for line in sheet.lines}
