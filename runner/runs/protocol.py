"""What the user asks for: one subject, one system, one model, so many runs of each kind."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from pydantic import JsonValue

from runner.errors import UsageError
from runner.faults import Fault
from runner.gateway.config import ANTHROPIC
from runner.model import Step
from runner.prices import PriceList
from runner.runs.clock import Clock
from runner.runs.first_call import first_call_usd
from runner.runs.provider import CALLS_A_PROVIDER, Provider, Tape
from runner.suites.registry import AnySubject, suite_of
from runner.suites.suite import Suite
from runner.systems.catalog import System

Arm = Literal["scripted", "live", "record", "replay"]

LONGEST_STEP_S = 86_400.0


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
    image: str | None = None
    """The digest of the system's very image, where one was named; none for that of the files."""

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
    def unasked(self) -> tuple[str, ...]:
        """Verbs the suite would use and the system does not answer; no verdict needs them."""
        wanted = self.suite.verbs_where_answered
        return tuple(verb for verb in wanted if verb not in self.system.verbs)

    def steps(self, kind: str, index: int) -> tuple[Step, ...]:
        """What a run asks of the system: all that the suite asks and the system answers."""
        planned = self.suite.steps(self.case, kind, index)
        return tuple(step for step in planned if step.verb not in self.unasked)

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
