"""From what the user asks for to the jobs that do it."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from runner.errors import UsageError
from runner.gateway.config import GatewayConfig, TableSource
from runner.model import GatewayRecord, RunSpec
from runner.paths import fixtures
from runner.prices import PriceList
from runner.runs.export import Exporting
from runner.runs.job import Job, Judgement
from runner.runs.learn_tables import confirming
from runner.runs.page_tables import remembering, table_name
from runner.runs.pair_tables import perfect
from runner.runs.protocol import Protocol, label
from runner.runs.sandbox.protocol import GatewayBox, SystemBox
from runner.suites.honesty_learning import Lesson
from runner.suites.memory_honesty import Exam, load_vault
from runner.suites.suite import Material
from runner.suites.update_gate import Gate
from runner.systems import outside
from runner.systems.catalog import Export

DOOR = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:8080", "ANTHROPIC_API_KEY": "none"}
"""How a system finds the gateway. The key is no key: the real one never enters its container."""


def specs(protocol: Protocol) -> tuple[RunSpec, ...]:
    """Every run of a protocol, in the order the report lists them."""
    fault = protocol.fault.name if protocol.fault else None
    case = "-".join(part for part in (*label(protocol.case), fault) if part)
    return tuple(
        RunSpec(
            id=f"{case}-{kind}-{index}",
            suite=protocol.suite.name,
            case=protocol.case.name,
            fixture_variant=protocol.case.variant,
            fixtures=protocol.case.fixtures,
            kind=kind,
            index=index,
            system=protocol.system.name,
            arm=protocol.arm,
            fault=protocol.fault.name if protocol.fault else None,
            model=protocol.model,
            pins=dict(protocol.pins),
            options=dict(protocol.options),
            clock=protocol.clock.mode,
            max_usd=protocol.max_usd,
            ceiling=protocol.ceiling,
            step_deadline_s=protocol.step_deadline_s,
        )
        for kind, count in protocol.runs.items()
        for index in range(1, count + 1)
    )


def tables(protocol: Protocol) -> tuple[TableSource, ...]:
    """The scripted tables that answer for a protocol: a fault's overlay first.

    Raises:
        UsageError: the system has no scripted answers for the case.
    """
    if protocol.arm != "scripted" or not protocol.system.purposes:
        return ()
    if protocol.system.outside:
        found = _brought(protocol)
        return _with_fault(protocol, found)
    if isinstance(protocol.case, Gate) and protocol.case.fixtures == "upstream":
        # Made here: the project carries no copy of the published pairs.
        name = f"{protocol.system.name}/published-pairs.toml"
        found = [_table(name, perfect(protocol.system.name, protocol.case.sets))]
        return _with_fault(protocol, found)
    if isinstance(protocol.case, Lesson):
        name = f"{protocol.system.name}/{protocol.case.script}-{protocol.case.vault}.toml"
        return _with_fault(
            protocol, [_table(name, confirming(protocol.system.name, protocol.case))]
        )
    found = _by_hand(protocol)
    if isinstance(protocol.case, Exam) and protocol.system.ingestion is not None:
        # What is written by hand goes first: it may know of calls that no page tells of.
        pages = load_vault(protocol.case.vault, protocol.case.marker)
        name = table_name(protocol.system.name, protocol.case.vault)
        made = remembering(protocol.system.ingestion, pages, protocol.system.reading)
        found.append(_table(name, made))
    if not found and protocol.suite.asks_a_model:
        raise UsageError(
            f"There are no scripted answers of {protocol.system.name} for {protocol.case.name}.",
            hint=f"They would be at {_scripted(protocol.system.name, protocol.case.script)}.",
        )
    return _with_fault(protocol, found) if found else ()


def _brought(protocol: Protocol) -> list[TableSource]:
    """The table in the folder of a system that is not the bench's.

    Raises:
        UsageError: there is none, and every run asks a model; or it cannot be read.
    """
    system, script = protocol.system, protocol.case.script
    text = outside.table(system, script)
    if text is None:
        asks = protocol.suite.asks_a_model or (
            isinstance(protocol.case, Exam) and system.ingestion is not None
        )
        if asks:
            raise UsageError(
                f"There are no scripted answers of {system.name} for {protocol.case.name}.",
                hint=f"They would be at {outside.SCRIPTED}/{script}.toml in its folder.",
            )
        return []
    return [_table(f"{system.image}/{script}.toml", text)]


def _by_hand(protocol: Protocol) -> list[TableSource]:
    """The table that lies there for a case: the system's own, or that of the system it is a
    preset of."""
    for folder in dict.fromkeys((protocol.system.name, protocol.system.image)):
        path = _scripted(folder, protocol.case.script)
        if path.is_file():
            return [_table(f"{folder}/{path.name}", path.read_text(encoding="utf-8"))]
    return []


def _scripted(folder: str, script: str) -> Path:
    return fixtures() / "scripted" / folder / f"{script}.toml"


def _with_fault(protocol: Protocol, found: list[TableSource]) -> tuple[TableSource, ...]:
    if protocol.fault is not None:
        found.insert(
            0,
            _table(f"faults/{protocol.fault.name}.toml", protocol.fault.table(protocol.case.name)),
        )
    return tuple(found)


def _table(name: str, content: str) -> TableSource:
    digest = hashlib.sha256(content.encode()).hexdigest()
    return TableSource(name=name, sha256=digest, content=content)


@dataclass(frozen=True, slots=True)
class Images:
    """What the two containers of a run are started from: ids, never tags that drift."""

    system: str
    gateway: str


def jobs(protocol: Protocol, images: Images, prices: PriceList) -> tuple[Job, ...]:
    """A job for every run of a protocol."""
    sources, provider, suite = tables(protocol), protocol.provider, protocol.suite
    used = {name: prices.resolve(name) for name in {protocol.model, *protocol.pins.values()}}
    record = GatewayRecord(
        arm=protocol.arm,
        network="bridge" if protocol.paid else "none",
        tables={source.name: source.sha256 for source in sources},
        prices={name: price.rates() for name, price in used.items()},
        prices_source=f"{prices.source} ({prices.read})",
        way_out=provider.record() if protocol.paid else None,
        allow_tools=provider.allow_tools if protocol.paid else (),
        allow_media=provider.allow_media if protocol.paid else (),
        cassette_sha256=protocol.tape.sha256 if protocol.tape else None,
    )
    settings: dict[str, Any] = {
        "model": protocol.model,
        "pins": dict(protocol.pins),
        "options": dict(protocol.options),
    }
    system = SystemBox(
        image=images.system, env={**DOOR, "BENCH_SETTINGS": orjson.dumps(settings).decode()}
    )
    exporting = None
    if protocol.system.exports:
        # No door: nothing that is read needs a model.
        told = {key: value for key, value in system.env.items() if key not in DOOR}
        form = protocol.system.export or Export()
        exporting = Exporting(replace(system, env=told), form.deadline_s)

    def job(spec: RunSpec) -> Job:
        config = GatewayConfig(
            run=spec.id,
            arm=spec.arm,
            wire=protocol.system.wire,
            tables=sources,
            names=dict(protocol.case.names),
            model=spec.model,
            pins=dict(spec.pins),
            prices=used,
            aliases=dict(prices.aliases),
            max_usd=spec.max_usd,
            ceiling=spec.ceiling,
            # A gateway without a way out is told nothing that could leave it.
            **(provider.told() if protocol.paid else {}),
            cassette=protocol.tape.entries(spec) if protocol.tape else (),
        )

        def judge(material: Material) -> Judgement:
            results = suite.check(protocol.case, spec.kind, material)
            return Judgement(
                checks=results,
                observations=suite.observe(protocol.case, spec.kind, material),
                ending=suite.ending(results, protocol.version),
            )

        return Job(
            spec=spec,
            steps=protocol.steps(spec.kind, spec.index),
            clock=protocol.clock,
            system=system,
            gateway=GatewayBox(
                image=images.gateway,
                network=record.network,
                first_line=config.first_line(),
            ),
            gateway_record=record,
            read=protocol.system.read,
            export=exporting,
            judge=judge,
        )

    return tuple(job(spec) for spec in specs(protocol))
