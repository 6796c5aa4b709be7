"""Options that several commands share, and how their values are read."""

import enum
import os
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer

from runner.errors import UsageError
from runner.paths import SYSTEM_DIR
from runner.prices import ModelPrice, PriceList, load_prices, parse_price
from runner.systems import catalog


class Output(enum.StrEnum):
    """How a result is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


class Arm(enum.StrEnum):
    """Who answers the system's model calls."""

    SCRIPTED = "scripted"
    LIVE = "live"
    RECORD = "record"
    REPLAY = "replay"


class Ceiling(enum.StrEnum):
    """How a ceiling is held."""

    RESERVED = "reserved"
    MEASURED = "measured"


class FixturesChoice(enum.StrEnum):
    """Whose words a system is given."""

    OWN = "own"
    UPSTREAM = "upstream"


def _brought(context: typer.Context, folder: Path | None) -> Path | None:
    """Let the command find the system in a folder, and nobody after it."""
    if folder is not None:
        before = os.environ.get(SYSTEM_DIR)
        os.environ[SYSTEM_DIR] = str(folder.resolve())
        context.call_on_close(lambda: _as_before(before))
    return folder


def _as_before(folder: str | None) -> None:
    if folder is None:
        os.environ.pop(SYSTEM_DIR, None)
    else:
        os.environ[SYSTEM_DIR] = folder


def measured_by_default(default: str) -> str:
    """The name of what is measured where nobody says: what --system-dir holds, or the usual.

    Raises:
        UsageError: that is several systems, or what the folder says is wrong.
    """
    found = catalog.brought()
    if found is None:
        return default
    names = tuple(found.presets) or (found.name,)
    if len(names) > 1:
        raise UsageError(
            f"{found.home} holds several systems.", hint=f"Name one of them: {', '.join(names)}."
        )
    return names[0]


MODEL = "claude-sonnet-5-5"

LONG = (
    "csv: all tables in one, a line a cell (sheet, row, column, value), which a spreadsheet can"
    " pivot."
)
"""How several tables become one of comma-separated values."""
FormatOption = Annotated[
    Output,
    typer.Option(
        "--format",
        help=f"Tables for people, or for a page (markdown); json: the whole report. {LONG}",
    ),
]
TableFormat = Annotated[
    Output,
    typer.Option(
        "--format",
        help="A table for people, or for a page (markdown); csv: the same for a spreadsheet;"
        " json: a list of its rows.",
    ),
]
SystemOption = Annotated[
    str | None,
    typer.Option(
        help="What is measured; see `bench systems`.  [default: engine, or what --system-dir holds]"
    ),
]
SystemDir = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        callback=_brought,
        is_eager=True,
        help="The folder of a system that is none of the bench's own; see"
        " docs/add-your-own-system.md.",
    ),
]
SystemVersion = Annotated[
    str | None, typer.Option(help="Another version of it that can be built; see `bench systems`.")
]
ImageOption = Annotated[
    str | None,
    typer.Option(
        "--image",
        metavar="DIGEST",
        help="Measure exactly the image of this digest (sha256:..., or 12 or more of its digits),"
        " or nothing.",
    ),
]
ArmOption = Annotated[
    Arm,
    typer.Option(
        help="Who answers model calls: a table, the provider, the provider with a cassette that"
        " is written, or such a cassette (no network, free)."
    ),
]
ModelOption = Annotated[str, typer.Option(help="The one model every purpose runs on.")]
Pin = Annotated[
    list[str] | None,
    typer.Option(metavar="PURPOSE=MODEL", help="Run one purpose on another model (no bar then)."),
]
FixturesOption = Annotated[
    FixturesChoice,
    typer.Option(
        help="own: worded for this bench. upstream: the very bytes of the published runs."
    ),
]
MaxUsd = Annotated[float | None, typer.Option(help="Ceiling of one run in US$; never passed.")]
MaxUsdTotal = Annotated[
    float | None,
    typer.Option(
        help="Ceiling of all runs together; each leases --max-usd, or an equal share, of it."
    ),
]
CeilingOption = Annotated[
    Ceiling, typer.Option(help="measured: looked at only between steps, as published.")
]
StepDeadline = Annotated[float, typer.Option(min=1, help="Seconds a step may take.")]
Jobs = Annotated[int, typer.Option(min=1, help="Runs at a time.")]
CassetteOption = Annotated[
    Path | None,
    typer.Option(help="The recording: written by --arm record, read by --arm replay."),
]
Profiles = Annotated[Path | None, typer.Option(help="Where measured usage is kept and looked for.")]
SaveProfile = Annotated[
    bool,
    typer.Option("--save-profile", help="Keep what these runs took, for the next estimate."),
]
EstimateOnly = Annotated[
    bool, typer.Option("--estimate", help="Print what it would cost, and stop.")
]
Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Spend without asking (scripted runs never ask).")
]
OutputFile = Annotated[
    Path | None, typer.Option("--output", "-o", help="Where the report goes (JSON).")
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Finish the half-written report at --output.")
]
KeepOption = Annotated[
    Path | None, typer.Option("--keep", help="Keep snapshots, calls and logs in this folder.")
]
FaultOption = Annotated[
    str | None,
    typer.Option(help="Make the scripted model wrong in one way (see the kill matrix)."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


def pairs(values: Sequence[str], option: str) -> dict[str, str]:
    """Read repeated ``NAME=VALUE`` options.

    Raises:
        UsageError: one is not of that form, or a name comes twice.
    """
    found: dict[str, str] = {}
    for value in values:
        name, equals, rest = value.partition("=")
        if not equals or not name or not rest:
            raise UsageError(f"{option} {value!r} is not of the form NAME=VALUE.")
        if name in found:
            raise UsageError(f"{option} names {name} twice.")
        found[name] = rest
    return found


def check_arm(arm: Arm, *, fault: str | None, save_profile: bool) -> None:
    """Refuse options that the arm has no use for.

    Raises:
        UsageError: one is given all the same.
    """
    if fault is not None and arm is not Arm.SCRIPTED:
        raise UsageError("--fault needs --arm scripted: only a table can be made wrong.")
    if save_profile and arm not in (Arm.LIVE, Arm.RECORD):
        raise UsageError("--save-profile needs a live run: a table's usage measures no model.")


PriceOption = Annotated[
    list[str] | None,
    typer.Option(metavar="MODEL=IN,OUT", help="A model's price, in US$ a million tokens."),
]


def price_list(given: Sequence[str]) -> PriceList:
    """The bench's own prices, with those that were given before them.

    Raises:
        UsageError: one is no price, or a model comes twice.
    """
    found: dict[str, ModelPrice] = {}
    for text in given:
        model, price = parse_price(text)
        if model in found:
            raise UsageError(f"--price names {model} twice.")
        found[model] = price
    listed = load_prices().priced_at(found)
    if not found:
        return listed
    source = f"{listed.source}; {', '.join(sorted(found))} as given with --price"
    return listed.model_copy(update={"source": source})


def usd(amount: float | None) -> Decimal | None:
    """An option in US dollars, as it was typed."""
    return None if amount is None else Decimal(str(amount))
