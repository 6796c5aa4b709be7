"""What runs took, by system, case, model and kind: shipped with the bench, or measured here."""

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runner.errors import UsageError
from runner.model import Outcome, RunRecord, Usage
from runner.paths import fixtures, state_dir


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Purpose(Usage):
    """What one purpose took in a run."""

    calls: int = Field(ge=0)

    def tokens(self) -> Usage:
        """Without the number of calls."""
        return Usage(**self.model_dump(exclude={"calls"}))


class Range(_Strict):
    """US dollars of the cheapest and the dearest run."""

    low: Decimal = Field(ge=0)
    high: Decimal = Field(ge=0)


class Profile(_Strict):
    """What one kind of run took: the tokens are those of the dearest one."""

    case: str
    model: str
    kind: str
    run_usd: Range
    note: str = ""
    """What makes it less than a measurement; empty where nothing does."""
    purposes: dict[str, Purpose]

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is looked up by, within its system."""
        return self.case, self.model, self.kind


class Measured(_Strict):
    """Profiles of one system, from one place."""

    schema_: Literal[1] = Field(alias="schema")
    system: str
    read: date
    source: str
    same_work: dict[str, str] = Field(default_factory=dict)
    """Purposes of other systems, by the purpose here that does the same work."""
    profile: tuple[Profile, ...]


class _Own(_Strict):
    schema_: Literal[1] = Field(default=1, alias="schema")
    systems: dict[str, Measured] = Field(default_factory=dict)


def usual_file() -> Path:
    """Where this machine's own measurements lie."""
    return state_dir() / "profiles.json"


def shipped(path: Path | None = None) -> Measured:
    """The usage of the published runs.

    Raises:
        UsageError: the file says something that is no usage.
    """
    path = path or fixtures() / "usage.toml"
    try:
        return Measured.model_validate(tomllib.loads(path.read_text("utf-8"), parse_float=Decimal))
    except (OSError, ValueError) as problem:
        raise UsageError(f"The usage file {path} cannot be used: {problem}") from problem


def own(path: Path, system: str) -> Measured | None:
    """What was measured of a system and saved in a file; none where nothing was.

    Raises:
        UsageError: the file is no file of profiles.
    """
    return _load(path).systems.get(system)


def measure(
    system: str, runs: Sequence[RunRecord], name_of: Callable[[str], str | None]
) -> tuple[Profile, ...]:
    """What runs took that came to a verdict, a profile a kind and model; runs on more than one
    model are no measure of either.

    Args:
        system: whose runs they are.
        runs: of any kinds.
        name_of: the name a model is priced, and so looked up, under.
    """
    rows: dict[tuple[str, str, str], list[RunRecord]] = {}
    for run in runs:
        spec = run.spec
        whole = run.ending.outcome in (Outcome.PASSED, Outcome.FAILED)
        if whole and spec.system == system and not spec.pins:
            name = name_of(spec.model) or spec.model
            rows.setdefault((spec.case, name, spec.kind), []).append(run)
    return tuple(
        Profile(
            case=case,
            model=model,
            kind=kind,
            run_usd=Range(
                low=min(run.cost_usd for run in alike), high=max(run.cost_usd for run in alike)
            ),
            purposes=_purposes(max(alike, key=lambda run: run.cost_usd)),
        )
        for (case, model, kind), alike in rows.items()
    )


def save(path: Path, system: str, profiles: Sequence[Profile]) -> None:
    """Put profiles in a file, in the place of those of the same case, model and kind.

    Raises:
        UsageError: the file there is no file of profiles, or it cannot be written.
    """
    known = _load(path)
    before = known.systems.get(system)
    rows: Mapping[tuple[str, str, str], Profile] = {
        row.key: row for row in (*(before.profile if before else ()), *profiles)
    }
    today = datetime.now(UTC).date()
    measured = Measured(
        schema=1,
        system=system,
        read=today,
        source="runs on this machine",
        profile=tuple(rows[key] for key in sorted(rows)),
    )
    document = _Own(schema=1, systems={**known.systems, system: measured})
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        dumped = document.model_dump(mode="json", by_alias=True)
        fresh.write_bytes(orjson.dumps(dumped, option=orjson.OPT_INDENT_2) + b"\n")
        fresh.replace(path)
    except OSError as error:
        raise UsageError(
            f"The profiles cannot be written at {path}: {error.strerror or error}."
        ) from error


def _purposes(run: RunRecord) -> dict[str, Purpose]:
    found: dict[str, Purpose] = {}
    for row in run.usage:
        before = found.get(row.purpose)
        usage = row.usage + (before.tokens() if before else Usage())
        calls = row.answered + (before.calls if before else 0)
        found[row.purpose] = Purpose(calls=calls, **usage.model_dump())
    return found


def _load(path: Path) -> _Own:
    try:
        return _Own.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return _Own(schema=1)
    except (OSError, ValidationError) as problem:
        raise UsageError(
            f"The profiles at {path} cannot be used: {problem}",
            hint="Remove the file, or choose another with --profiles.",
        ) from problem
