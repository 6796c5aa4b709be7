"""The published figures, read from ``fixtures/published``."""

import tomllib
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runner import profiles
from runner.errors import UsageError
from runner.paths import fixtures
from runner.prices import load_prices
from runner.published.data import (
    Count,
    GateTally,
    Published,
    PublishedBar,
    PublishedEstimate,
    PublishedKind,
    PublishedResult,
    PublishedRow,
    PublishedSet,
    Spent,
)

SUITES = ("trip-vs-move", "update-gate")
DIGESTS = "upstream.sha256"


def load_published(suite: str, *, folder: Path | None = None) -> Published | None:
    """Everything that was published of a suite; none where nothing was.

    Args:
        suite: its name.
        folder: where the files lie; the project's own when left out.

    Raises:
        UsageError: the file is not there, or says something that is no published result.
    """
    if suite not in SUITES:
        return None
    path = _folder(folder) / f"{suite}.toml"
    try:
        document = tomllib.loads(path.read_text("utf-8"), parse_float=Decimal)
        return _assemble(_File.model_validate(document), suite)
    except (OSError, ValueError) as problem:
        raise UsageError(
            f"The published results {path} cannot be used: {said(problem)}"
        ) from problem


def published(suite: str, case: str, model: str) -> tuple[PublishedResult, ...]:
    """Every published result of one case on one model, the oldest first.

    Args:
        suite: such as ``trip-vs-move``.
        case: such as ``reader``; ``update-gate`` for the suite of that name.
        model: its name, which may be an alias, carry a date or stand behind its provider's.
    """
    file = load_published(suite)
    return () if file is None else file.of(case, model)


def digests(*, folder: Path | None = None) -> dict[str, str]:
    """The sha256 of every file that the published runs were fed, by its name.

    Raises:
        UsageError: the list of them is not there, or is none.
    """
    path = _folder(folder) / DIGESTS
    try:
        rows = [line.split() for line in path.read_text("utf-8").splitlines() if line.strip()]
        return {name: digest for digest, name in rows}
    except (OSError, ValueError) as problem:
        raise UsageError(f"The published digests {path} cannot be used: {problem}") from problem


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Result(_Strict):
    case: str
    model: str
    date: date
    build: str | None = None
    sdk: str | None = None
    checks_version: int | None = None
    rescored: bool = False
    kinds: dict[str, PublishedKind] = Field(default_factory=dict)
    sets: dict[str, GateTally] = Field(default_factory=dict)
    bar_met: bool | None = None
    regression: bool | None = None
    control_rows: int | None = None
    cost_usd: Decimal | None = Field(default=None, ge=0)
    usage: bool = False
    """Whether the tokens of its runs are those in ``usage.toml``."""
    observed: dict[str, Count] = Field(default_factory=dict)
    note: str = ""
    reports: tuple[str, ...] = Field(min_length=1)


class _File(_Strict):
    schema_: Literal[1] = Field(alias="schema")
    suite: str
    system: str
    source: str
    read: date
    bar: PublishedBar
    set: tuple[PublishedSet, ...] = ()
    estimate: tuple[PublishedEstimate, ...] = ()
    spent: tuple[Spent, ...] = ()
    reported: tuple[PublishedRow, ...] = ()
    result: tuple[_Result, ...] = Field(min_length=1)


def _folder(folder: Path | None) -> Path:
    return folder if folder is not None else fixtures() / "published"


def _assemble(file: _File, suite: str) -> Published:
    if file.suite != suite:
        raise ValueError(f"suite: {file.suite!r} in the file of {suite!r}")
    used = any(one.usage for one in file.result)
    measured = {row.key: row.purposes for row in profiles.shipped().profile} if used else {}
    results = [_result(one, file, measured) for one in file.result]
    return Published(
        suite=file.suite,
        system=file.system,
        source=file.source,
        read=file.read,
        bar=file.bar,
        sets=file.set,
        estimates=file.estimate,
        spent=file.spent,
        reported=file.reported,
        results=tuple(sorted(results, key=lambda one: (one.date, one.checks_version or 0))),
        aliases=load_prices().aliases,
    )


def _result(
    one: _Result, file: _File, measured: dict[tuple[str, str, str], dict[str, profiles.Purpose]]
) -> PublishedResult:
    name = f"result {one.case} {one.model} {one.date}"
    if bool(one.kinds) == bool(one.sets):
        raise ValueError(f"{name}: either kinds or sets")
    kinds = {}
    for kind, runs in one.kinds.items():
        key = (one.case, one.model, kind)
        if one.usage and key not in measured:
            raise ValueError(f"{name}: no usage of {kind}")
        kinds[kind] = runs.model_copy(update={"usage": measured[key] if one.usage else {}})
    fields = {name: getattr(one, name) for name in _Result.model_fields if name != "usage"}
    return PublishedResult(**{**fields, "kinds": kinds}, suite=file.suite, source=file.source)


def said(problem: Exception) -> str:
    """What is wrong with a file, with the field where there is one."""
    if isinstance(problem, ValidationError):
        first = problem.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(problem)
