"""The reports that linkedparticles writes itself, as they are; what a newer version adds is passed
over.
"""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    NaiveDatetime,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    StringConstraints,
    field_validator,
)

TRIP = "trip-vs-move"
GATE = "update-gate"
SUITES = (TRIP, GATE)
REPORT_VERSIONS = {TRIP: (1, 2), GATE: (1,)}
"""The versions of their reports that are read here."""

MAX_RUNS = 1_000
MAX_ROWS = 10_000
"""Claims of one run's store, events of it, pairs of one set: far more than any has."""
MAX_TEXT = 20_000
"""Characters of one claim."""
MAX_SAMPLES = 1_000

SetName = Literal["gate", "gate-heldout", "past", "past-marker"]
_READ = ("retired_id", "winner_id", "particle_id", "other_id", "outcome", "why")
Count = Annotated[StrictInt, Field(ge=0)]
Amount = Annotated[StrictFloat, Field(allow_inf_nan=False)] | StrictInt
Text = Annotated[StrictStr, StringConstraints(max_length=MAX_TEXT)]
Name = Annotated[StrictStr, StringConstraints(max_length=1_000)]


class _Theirs(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="ignore", populate_by_name=True, use_attribute_docstrings=True
    )


class SavedFile(_Theirs):
    """A file that was fed to the runs."""

    name: Name
    sha256: Name


class SavedRow(_Theirs):
    """One claim of a finished run's store."""

    id: Name
    content: Text
    status: Name
    reason: Name | None = None
    sources: tuple[Name, ...] = Field(default=(), max_length=1_000)
    restatement: StrictBool = False
    valid_from: AwareDatetime | NaiveDatetime | None = None
    valid_until: AwareDatetime | NaiveDatetime | None = None
    """Only reports of version 2 say it at all: see ``saves_end``."""

    @property
    def saves_end(self) -> bool:
        """Whether the report says if the claim has an end date, and not merely none."""
        return "valid_until" in self.model_fields_set

    @property
    def ends(self) -> date | None:
        """The day it ends, as written."""
        return None if self.valid_until is None else self.valid_until.date()


class SavedEvent(_Theirs):
    """One event of a finished run's store."""

    event_type: Name
    payload: dict[Name, JsonValue] = Field(default_factory=dict, max_length=1_000)

    @field_validator("payload")
    @classmethod
    def _words(cls, payload: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """What the checks read of it is text, where it is there."""
        for name in _READ:
            if not isinstance(payload.get(name), str | None):
                raise ValueError(f"{name} is no text")
        return payload


class SavedUsage(_Theirs):
    """What one purpose of a run took on one model."""

    purpose: Name
    provider: Name
    model: Name
    replayed: StrictBool = False
    calls: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0
    cache_creation_tokens: Count = 0
    cache_read_tokens: Count = 0
    cost_usd: Amount | None = None


class SavedTotals(_Theirs):
    """What one run took."""

    rows: tuple[SavedUsage, ...] = Field(default=(), max_length=1_000)
    cost_usd: Amount | None = None


class SavedRun(_Theirs):
    """One run, its checks as they were saved, and everything that they read."""

    variant: Literal["move", "trip-alone"]
    index: Annotated[StrictInt, Field(ge=1)]
    passed: StrictBool | None
    """None for a run that is neither passed nor failed."""
    checks: dict[Name, JsonValue] = Field(default_factory=dict)
    incomplete: Text | None = None
    invalid: Text | None = None
    usage: SavedTotals | None = None
    rows: tuple[SavedRow, ...] = Field(default=(), max_length=MAX_ROWS)
    events: tuple[SavedEvent, ...] = Field(default=(), max_length=MAX_ROWS)
    refused_calls: dict[Name, Count] = Field(default_factory=dict)

    @property
    def uncounted(self) -> bool:
        """Whether it is neither passed nor failed, by what it says of its end."""
        return self.incomplete is not None or self.invalid is not None


class SavedVerdict(_Theirs):
    """Runs that passed, and the bar; none where the protocol has no bar."""

    move_passed: Count
    move_runs: Count
    trip_alone_passed: Count
    trip_alone_runs: Count
    bar_met: StrictBool | None


class SavedSpend(_Theirs):
    """What the runs cost."""

    cost_usd: Amount | None = None
    estimate_usd: Amount | None = None


class TripUpstream(_Theirs):
    """Their report of trip versus move."""

    suite: Literal["trip-vs-move"]
    report_version: Literal[1, 2]
    checks_version: StrictInt
    sdk_version: Name
    run_at: datetime
    case: Literal["reader", "mid-trip"] = "mid-trip"
    """Reports of version 1 do not say it: they are all of the mid-trip case."""
    model: Name
    purposes: dict[Name, Name]
    mixed: StrictBool = False
    same_slot_admits: StrictBool = True
    arm: Literal["live", "scripted"] = "live"
    fixture: tuple[SavedFile, ...] = Field(max_length=1_000)
    runs: tuple[SavedRun, ...] = Field(min_length=1, max_length=MAX_RUNS)
    verdict: SavedVerdict
    spend: SavedSpend
    notes: tuple[Text, ...] = Field(default=(), max_length=1_000)


class SavedSample(_Theirs):
    """What was said of a pair, once; none where a probe gave no usable verdict."""

    contradiction: StrictBool | None = None
    slot: Name | None = None

    @property
    def told(self) -> bool:
        """Whether both probes came to a verdict."""
        return self.contradiction is not None and self.slot is not None


class SavedPair(_Theirs):
    """One pair of a set, and every sample of it."""

    id: Name
    class_: Name = Field(alias="class")
    expected: Literal["changes", "not_changes", "report"]
    older: Text
    newer: Text
    samples: tuple[SavedSample, ...] = Field(max_length=MAX_SAMPLES)


class SavedTally(_Theirs):
    """What one rule made of a set."""

    positives_retired: Count
    positives: Count
    positive_misses: tuple[Name, ...]
    control_retirements: Count
    control_samples: Count
    control_rows_retired: tuple[Name, ...]
    ok: StrictBool


class SavedBars(_Theirs):
    """What every rule made of a set, and its two readings."""

    gates: dict[Name, SavedTally]
    bar: StrictBool
    regression: StrictBool
    controls_added_by_production: tuple[Name, ...]
    reported: dict[Name, dict[str, JsonValue]]


class SavedSet(_Theirs):
    """One pair set."""

    rows: tuple[SavedPair, ...] = Field(min_length=1, max_length=MAX_ROWS)
    bars: SavedBars


class GateUpstream(_Theirs):
    """Their report of the update gate."""

    suite: Literal["update-gate"]
    report_version: Literal[1]
    sdk_version: Name
    run_at: datetime
    model: Name
    samples_per_pair: Annotated[StrictInt, Field(ge=1, le=MAX_SAMPLES)]
    fixture: tuple[SavedFile, ...] = Field(max_length=1_000)
    sets: dict[SetName, SavedSet] = Field(min_length=1)
    spend: SavedSpend
    notes: tuple[Text, ...] = Field(default=(), max_length=1_000)
