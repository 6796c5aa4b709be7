"""From what the user asks for to the jobs that do it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

import orjson
from pydantic import JsonValue

from runner.errors import UsageError
from runner.faults import Fault
from runner.gateway.config import ANTHROPIC, GatewayConfig, TableSource
from runner.model import GatewayRecord, RunSpec
from runner.paths import fixtures
from runner.prices import PriceList
from runner.runs.clock import Clock
from runner.runs.first_call import first_call_usd
from runner.runs.job import Job, Judgement
from runner.runs.provider import CALLS_A_PROVIDER, Provider, Tape
from runner.runs.sandbox.protocol import GatewayBox, SystemBox
from runner.suites.registry import AnySubject, suite_of
from runner.suites.suite import Material, Suite
from runner.systems.catalog import System

Arm = Literal["scripted", "live", "record", "replay"]

LONGEST_STEP_S = 86_400.0

DOOR = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:8080", "ANTHROPIC_API_KEY": "none"}
"""How a system finds the gateway. The key is no key: the real one never enters its container."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """What the user asks for: one subject, one system, one model, so many runs of each kind."""

    case: AnySubject
    """What the runs are about."""
    system: System
    arm: Arm
    model: str
    runs: Mapping[str, int]
    """How many runs of each kind, such as ``{"move": 3, "trip-alone": 2}``."""
    clock: Clock
    pins: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, JsonValue] = field(default_factory=dict)
    checks_version: int = 0
    """0 for the newest the case knows."""
    max_usd: Decimal | None = None
    ceiling: Literal["reserved", "measured"] = "reserved"
    step_deadline_s: float = 600.0
    fault: Fault | None = None
    """An overlay that makes the scripted model wrong in one way."""
    provider: Provider = field(default_factory=Provider)
    """Who answers live calls."""
    tape: Tape | None = None
    """What a replay answers with."""

    @property
    def suite(self) -> Suite[Any, Any]:
        """The suite its subject is one of."""
        return suite_of(self.case)

    @property
    def paid(self) -> bool:
        """Whether its runs spend money."""
        return self.arm in CALLS_A_PROVIDER

    @property
    def version(self) -> int:
        """The version of the checks that the verdict goes by."""
        return self.checks_version or self.case.checks_versions[-1]

    @property
    def purposes(self) -> dict[str, str]:
        """The model of every purpose the system names."""
        return {name: self.pins.get(name, self.model) for name in self.system.purposes}

    @property
    def mixed(self) -> bool:
        """Whether purposes run on more than one model."""
        return len(set(self.purposes.values())) > 1


def check(protocol: Protocol, prices: PriceList) -> None:
    """Refuse what cannot be run, before anything is started.

    Raises:
        UsageError: no run, a purpose the system does not have, a model without a price, no key,
            a bound that bounds nothing or leaves nothing.
    """
    if any(count < 0 for count in protocol.runs.values()):
        raise UsageError("A number of runs cannot be negative.")
    if not sum(protocol.runs.values()):
        raise UsageError(
            "Zero runs measure nothing.", hint="Give a number of runs above 0; see --help."
        )
    lacking = [verb for verb in protocol.suite.verbs if verb not in protocol.system.verbs]
    if lacking:
        raise UsageError(
            f"{protocol.system.name} does not {' or '.join(lacking)}, which"
            f" {protocol.suite.name} asks of it.",
            hint="`bench systems` says what each system can do.",
        )
    protocol.system.settle(protocol.options)
    unknown = sorted(protocol.pins.keys() - set(protocol.system.purposes))
    if unknown:
        raise UsageError(
            f"{protocol.system.name} has no purpose {', '.join(unknown)}.",
            hint=f"Its purposes: {', '.join(protocol.system.purposes)}.",
        )
    ceiling = protocol.max_usd
    if ceiling is not None and not (ceiling.is_finite() and ceiling > 0):
        raise UsageError("--max-usd must be above 0, in US dollars.")
    if not 0 < protocol.step_deadline_s <= LONGEST_STEP_S:
        raise UsageError(f"--step-deadline must be above 0 and at most {LONGEST_STEP_S:g} s.")
    if protocol.fault is not None and protocol.case.name not in protocol.fault.cases:
        raise UsageError(
            f"The fault {protocol.fault.name} cannot occur in the case {protocol.case.name}.",
            hint=f"It occurs in: {', '.join(protocol.fault.cases)}.",
        )
    models = {protocol.model, *protocol.pins.values()}
    for model in models:
        prices.resolve(model)
    words = protocol.suite.first_words(protocol.case)
    least = min(
        first_call_usd(protocol.system.name, protocol.suite.name, words, model, prices)
        for model in models
    )
    if ceiling is not None and protocol.ceiling == "reserved" and ceiling < least:
        raise UsageError(
            f"The ceiling of US${ceiling} is below what the first call of a run sets aside:"
            f" US${least}.",
            hint=f"Give --max-usd at least {least}; a whole run needs more (see --estimate).",
        )


def check_key(protocol: Protocol) -> None:
    """Refuse runs that call a provider without a key.

    Raises:
        UsageError: there is none. An endpoint of the user's own may do without.
    """
    provider = protocol.provider
    elsewhere = provider.way_out.anthropic != ANTHROPIC or provider.way_out.openai is not None
    if protocol.paid and provider.key is None and not elsewhere:
        raise UsageError(
            f"--arm {protocol.arm} calls a provider, and there is no key.",
            hint="Set ANTHROPIC_API_KEY, or give --key-file. --arm scripted needs none.",
        )


def label(subject: AnySubject) -> tuple[str, ...]:
    """What tells a subject from all others, in words that fit a name."""
    upstream = "upstream" if subject.fixtures == "upstream" else None
    return tuple(part for part in (subject.name, subject.variant, upstream) if part)


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
    if protocol.arm != "scripted":
        return ()
    path = fixtures() / "scripted" / protocol.system.name / f"{protocol.case.script}.toml"
    if not path.is_file():
        raise UsageError(
            f"There are no scripted answers of {protocol.system.name} for {protocol.case.name}.",
            hint=f"They would be at {path}.",
        )
    base = path.read_text(encoding="utf-8")
    found = [_table(f"{protocol.system.name}/{path.name}", base)]
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
            steps=suite.steps(protocol.case, spec.kind, spec.index),
            clock=protocol.clock,
            system=system,
            gateway=GatewayBox(
                image=images.gateway,
                network=record.network,
                first_line=config.first_line(),
            ),
            gateway_record=record,
            read=protocol.system.read,
            judge=judge,
        )

    return tuple(job(spec) for spec in specs(protocol))
