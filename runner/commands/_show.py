"""A report on standard output, as a table or as JSON."""

import sys
from collections.abc import Sequence
from decimal import Decimal

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from runner.commands._options import Output
from runner.estimate import Estimate
from runner.reports.files import written
from runner.reports.schema import Report
from runner.reports.sealing import SUFFIX, close
from runner.reports.terminal import dollars, show


def print_report(report: Report, format_: Output, console: Console) -> None:
    """Print one report; JSON is the report itself, with its digests."""
    if format_ is Output.TABLE:
        show(report, console)
        return
    public, _ = close(report, "answers" + SUFFIX)
    sys.stdout.buffer.write(written(public))
    sys.stdout.buffer.flush()


def print_estimate(estimate: Estimate, title: str, console: Console) -> None:
    """Print what a protocol will cost, and from what that was computed."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("run", no_wrap=True)
    for name in ("runs", "calls", "tokens", "US$ a run", "US$"):
        table.add_column(name, justify="right", no_wrap=True)
    for kind in estimate.kinds:
        table.add_row(
            kind.kind,
            str(kind.runs),
            str(kind.calls),
            str(sum(kind.usage.model_dump().values())),
            dollars(kind.expected_usd),
            dollars(kind.expected_usd * kind.runs),
        )
    what = (
        title if title.lower().replace(" ", "-") == estimate.case else f"{title}, {estimate.case}"
    )
    console.print(Text(f"{what}, on {estimate.model}: estimate"))
    console.print(table)
    low, expected = dollars(estimate.low_usd), dollars(estimate.expected_usd)
    console.print(Text(f"all runs: about US${expected}, US${low} when it goes cheaply"))
    if estimate.bound_usd is not None:
        bound = dollars(estimate.bound_usd)
        console.print(Text(f"upper bound: US${bound}. {estimate.bound_note}"))
    console.print(Text(estimate.source), *(Text(note) for note in estimate.notes), sep="\n")


def print_together(estimates: Sequence[Estimate], console: Console) -> None:
    """Print what several protocols will cost together; at most, where all of them are bounded."""
    expected = sum((one.expected_usd for one in estimates), Decimal(0))
    bounds = [one.bound_usd for one in estimates]
    most = sum((bound for bound in bounds if bound is not None), Decimal(0))
    told = f", at most US${dollars(most)}" if None not in bounds else ""
    console.print(Text(f"together: about US${dollars(expected)}{told}"))
