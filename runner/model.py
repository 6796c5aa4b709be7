"""The nouns everyone shares. Everything here is frozen, and what goes into a file is validated.

Money is US dollars as ``Decimal`` (a string in JSON, so that no cent is rounded away); tokens are
counts; times are ISO 8601 in UTC; digests are ``sha256`` in hexadecimal.
"""

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

ACTIVE = "ACTIVE"


class Noun(BaseModel):
    """A frozen record that can be written to a file and read back; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


# ---------------------------------------------------------------- what a store holds


class Claim(Noun):
    """One stored statement."""

    id: str
    text: str
    status: str
    """``ACTIVE``, or the store's own word for a retired kind."""
    reason: str | None = None
    """Why it is no longer active, in the store's own word."""
    sources: tuple[str, ...] = ()
    """Names of the notes it came from."""
    restatement: bool = False
    """Whether the store wrote it itself, as dated history of an older claim."""
    anchor: str | None = None
    """For a restatement: the retired claim that what it restates leaned on."""
    retired_by: str | None = None
    """The claim that retired it."""
    valid_from: date | None = None
    valid_until: date | None = None
    asserted_at: datetime | None = None
    retired_at: datetime | None = None

    @property
    def active(self) -> bool:
        """Whether the store holds it as current."""
        return self.status == ACTIVE


class Superseded(Noun):
    """A newer claim retired an older one."""

    kind: Literal["superseded"] = "superseded"
    loser: str
    winner: str
    decided_by: str
    """What decided, such as ``update+second-reading``."""
    payload: dict[str, JsonValue] = Field(default_factory=dict)
    """The system's own record of it, unchanged."""


class RestatementExamined(Noun):
    """The store looked at a claim that may have leaned on a retired one."""

    kind: Literal["restatement_examined"] = "restatement_examined"
    claim: str
    """The claim looked at."""
    anchor: str
    """The retired claim it may lean on."""
    retired_by: str
    """The claim that retired the anchor."""
    contradicts: str | None = None
    """The standing claim its restatement was judged to contradict."""
    outcome: Literal["restated", "kept_back", "independent"]
    reason: str = ""
    restatement: str | None = None
    """The claim written in its place, when it was."""
    payload: dict[str, JsonValue] = Field(default_factory=dict)


class OtherEvent(Noun):
    """An event of the system that no check reads; kept so that nothing is hidden."""

    kind: Literal["other"] = "other"
    type: str
    payload: dict[str, JsonValue] = Field(default_factory=dict)


Event = Annotated[Superseded | RestatementExamined | OtherEvent, Field(discriminator="kind")]


class Store(Noun):
    """What a reader found in one snapshot."""

    claims: tuple[Claim, ...] = ()
    events: tuple[Event, ...] = ()
    unmapped: tuple[str, ...] = ()
    """What the reader could not map, a sentence each."""


# ---------------------------------------------------------------- what a model call costs


class Usage(Noun):
    """Tokens of one call or of many."""

    input: int = Field(default=0, ge=0)
    output: int = Field(default=0, ge=0)
    cache_write_5m: int = Field(default=0, ge=0)
    cache_write_1h: int = Field(default=0, ge=0)
    cache_read: int = Field(default=0, ge=0)

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in USAGE_FIELDS})


USAGE_FIELDS = tuple(Usage.model_fields)


class Call(Noun):
    """One line of the gateway's ledger: a model call that was asked for."""

    seq: int
    """1 for the first call of a run."""
    step: str
    """The step of the run it was made in."""
    purpose: str
    """What the system made it for; ``unattributed`` when it does not say."""
    requested_model: str
    served_model: str | None = None
    request_id: str | None = None
    outcome: Literal["answered", "refused", "failed"]
    """``refused`` by the gateway, ``failed`` at the provider."""
    error: str | None = None
    """For what was not answered: the kind: ``ceiling``, ``script_missing``, ``http_529`` ...."""
    detail: str = ""
    usage: Usage = Usage()
    cost_usd: Decimal = Decimal(0)
    reserved_usd: Decimal = Decimal(0)
    """The worst case that was set aside for it."""
    max_tokens_asked: int | None = None
    max_tokens_sent: int | None = None
    """Lower than asked when the money left could not buy more."""
    stop_reason: str | None = None
    streamed: bool = False
    prompt_sha256: str
    """Digest of the canonical form of the request."""
    latency_ms: float = 0.0
    source: str | None = None
    """Where the answer came from when no live model gave it: the id of a table's entry, or its
    number in a cassette."""
    first_byte_ms: float | None = None
    """From the call's arrival to the first byte of its answer; none where there was none."""
    retries: int = 0
    """How many tries of the same request had failed just before this one."""
    batch: str | None = None
    """The batch it was part of; its tokens are then at the batch price."""
    flags: tuple[str, ...] = ()
    """What makes its figures less than a measurement: ``no_usage`` and ``broken``: charged at the
    worst case, wholly or for its output; ``server_tools``: searches and the like, not in the
    cost; ``lowered``: fewer tokens were allowed than asked for."""


class PurposeUsage(Noun):
    """What one purpose of a run took on one model."""

    purpose: str
    model: str
    """The one that was asked."""
    calls: int
    answered: int
    failed: dict[str, int] = Field(default_factory=dict)
    """Calls that were not answered, by kind."""
    usage: Usage = Usage()
    cost_usd: Decimal = Decimal(0)


# ---------------------------------------------------------------- how a run ends


class Outcome(enum.StrEnum):
    """How a run ended. Only ``passed`` and ``failed`` count in a rate."""

    PASSED = "passed"
    FAILED = "failed"
    INCOMPLETE = "incomplete"
    INVALID = "invalid"
    ERRORED = "errored"


class Ending(Noun):
    """An outcome and what brought it about."""

    outcome: Outcome
    kind: str
    """One word: ``checks``, ``vacuous``, ``ceiling``, ``deadline``, ``interrupted``,
    ``wrong_model``, ``no_usage``, ``unpriced_model``, ``escape``, ``script_missing``,
    ``cassette_missing``, ``provider``, ``unparseable_reply``, ``degraded``, ``engine_lost``,
    ``container_died``,
    ``snapshot``, ``driver``, ``egress``, ``gateway``, ``ledger``, ``cut_reply``."""
    detail: str = ""


class Escape(Noun):
    """One attempt to reach something from inside the sandbox."""

    probe: str
    target: str
    result: Literal["blocked", "escaped", "inapplicable"]
    detail: str = ""


class Limit(Noun):
    """One limit as seen from inside the sandbox."""

    name: str
    wanted: str
    seen: str
    enforced: bool


class Package(Noun):
    """One installed package of an image."""

    manager: Literal["deb", "pypi", "npm"]
    name: str
    version: str


class ImageIdentity(Noun):
    """What an image is, the same on every engine that holds it."""

    name: str
    config_digest: str
    layers: tuple[str, ...]
    """Digests of the uncompressed layers, lowest first."""
    platform: str
    base: str
    """Where its base image came from: a registry's digest, or Debian packages."""
    source: str
    """Digest of the files it was built from."""
    packages: tuple[Package, ...] = ()
    redistributable: bool = True
    """Whether it may be handed on to others."""
    restriction: str = ""
    """Why not."""
    drift: tuple[str, ...] = ()
    """How its packages differed from its lock files when it was built, a package each."""


class ImageTable(Noun):
    """What a ``system.toml`` says of its image, in the table ``[image]``."""

    models: tuple[str, ...] = ()
    """What can be baked in, by the build argument ``MODEL``; the default first."""
    redistributable: bool = True
    """Whether the image may be handed on to others."""
    why: str = ""
    """Why not."""

    @model_validator(mode="after")
    def _whole(self) -> "ImageTable":
        if self.redistributable == bool(self.why.strip()):
            raise ValueError("why says why an image is not redistributable, and only that")
        if len(set(self.models)) != len(self.models):
            raise ValueError("a model is listed twice")
        for model in self.models:
            if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", model) is None:
                raise ValueError(f"{model!r} is no name of a model: letters, digits and . _ -")
        return self


class Machine(Noun):
    """Where the runs happened."""

    engine: str
    """Name and version of the container engine."""
    storage: str
    """Its storage driver."""
    cgroup: str
    """Version of the control groups."""
    platform: str
    """Operating system and architecture of the containers."""
    kernel: str
    cpus: int
    memory_bytes: int


# ---------------------------------------------------------------- what a run does


@dataclass(frozen=True, slots=True)
class Step:
    """One thing a suite asks of a system, on one day of the system's world."""

    name: str
    verb: Literal["deposit", "consolidate", "recall", "index", "ask", "probe", "learn"]
    payload: Mapping[str, Any] = field(default_factory=dict)
    day: date | None = None
    snapshot: bool = False
    """Whether the store is read after it."""
    judged: bool = False
    """Whether a verdict rests on that store. In older reports no other was read."""
    aside: bool = False
    """Whether no verdict rests on it: a run goes on where the system answers it with an error."""


class StepRecord(Noun):
    """What happened in one step."""

    name: str
    verb: str
    day: date | None = None
    """The day the clock was set to; none when the wall clock was left alone."""
    saw: datetime | None = None
    """What the system's own process read off its clock when it answered."""
    seconds: float
    result: dict[str, JsonValue] = Field(default_factory=dict)
    error: str | None = None
    snapshot: str | None = None
    """Digest of the snapshot taken after it."""


class SnapshotRecord(Noun):
    """A store read at one moment."""

    step: str
    sha256: str
    size: int
    """Bytes of the archive."""
    store: Store


class Check(Noun):
    """One check: whether it holds, and the claims or events that say so."""

    id: str
    title: str
    passed: bool
    evidence: tuple[str, ...] = ()
    """For a check that forbids: what broke it. For one that demands: what satisfied it."""


class CheckResult(Noun):
    """All checks of one version over one run."""

    version: int
    passed: bool
    reason: str | None = None
    """``vacuous`` when nothing was there to be changed."""
    checks: tuple[Check, ...]


class Observation(Noun):
    """Something worth knowing that no verdict depends on."""

    id: str
    title: str
    value: JsonValue


Fixtures = Literal["own", "upstream"]
"""Whose words a system is given: this project's, or the published bytes."""


class RunSpec(Noun):
    """Everything that makes one run what it is."""

    id: str
    suite: str
    case: str
    fixture_variant: str | None = None
    """Which variant of the case's people, places and dates; none for the published one."""
    fixtures: Fixtures = "own"
    kind: str
    """The suite's protocol, such as ``move`` or ``trip-alone``."""
    index: int
    system: str
    arm: Literal["scripted", "live", "record", "replay"]
    model: str
    pins: dict[str, str] = Field(default_factory=dict)
    """Purposes that run on another model."""
    fault: str | None = None
    """Which way the scripted model is wrong on purpose; none when it is not."""
    options: dict[str, JsonValue] = Field(default_factory=dict)
    """Settings handed to the system, such as ``same_slot_admits``."""
    clock: str
    """``note``, ``now``, or the ISO day every step happens on."""
    max_usd: Decimal | None = None
    ceiling: Literal["reserved", "measured"] = "reserved"
    step_deadline_s: float = 600.0


class WayOutRecord(Noun):
    """How a live gateway reached its provider."""

    anthropic: str
    """The one endpoint that ``/v1/messages`` goes to."""
    openai: str | None = None
    """The one that ``/v1/chat/completions`` goes to; none refuses such calls."""
    proxy: bool = False
    """Whether a proxy was on the way; its address is not told, as it may hold a password."""
    authority_sha256: str | None = None
    """Digest of the certificates trusted beside the system's own."""
    allow_private: tuple[str, ...] = ()
    """Hosts that were allowed to have an address that is not global."""
    key_as: str = "x-api-key"
    """The header the key went in."""


class GatewayRecord(Noun):
    """The one door of a run, as it was set."""

    arm: str
    network: Literal["none", "bridge"]
    tables: dict[str, str] = Field(default_factory=dict)
    """Scripted tables by name, with their digests."""
    prices: dict[str, dict[str, Decimal]] = Field(default_factory=dict)
    """US dollars a million tokens, by model, as used."""
    prices_source: str = ""
    way_out: WayOutRecord | None = None
    """None where nothing leaves the gateway."""
    allow_tools: tuple[str, ...] = ()
    """Tools on the provider's side that were allowed, by type."""
    allow_media: tuple[str, ...] = ()
    """Hosts the provider was allowed to fetch media from."""
    cassette_sha256: str | None = None
    """Digest of the cassette that was replayed."""


class RunRecord(Noun):
    """One run, written the moment it ends."""

    spec: RunSpec
    ending: Ending
    started_at: datetime
    seconds: float
    steps: tuple[StepRecord, ...] = ()
    snapshots: tuple[SnapshotRecord, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    """Every checks version the case knows, oldest first."""
    observations: tuple[Observation, ...] = ()
    calls: tuple[Call, ...] = ()
    usage: tuple[PurposeUsage, ...] = ()
    """The calls summed up, by purpose and model."""
    cost_usd: Decimal = Decimal(0)
    escapes: tuple[Escape, ...] = ()
    limits: tuple[Limit, ...] = ()
    encoder: str | None = None
    """Identity of the system's text encoder; none when it has none."""
    system: dict[str, JsonValue] = Field(default_factory=dict)
    """What the system says of itself."""
    peak_memory_bytes: int | None = None
    """The most memory its container used at one time; none where that could not be told."""
    peak_memory_how: str = ""
    """How that was measured."""
    gateway: GatewayRecord | None = None
    warnings: tuple[str, ...] = ()
    log_tail: str = ""
    """The end of the system's log, for a run that did not pass or fail."""

    @property
    def final(self) -> Store | None:
        """The store after the last step, where the run got that far."""
        return self.snapshots[-1].store if self.snapshots else None
