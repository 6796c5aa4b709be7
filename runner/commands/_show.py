"""Reports and estimates on standard output, in the form that was asked for."""

from collections.abc import Sequence
from decimal import Decimal

from rich.console import Console
from rich.text import Text

from runner.commands._formats import write, write_sheets
from runner.commands._options import Output
from runner.estimate import Estimate
from runner.reports.cells import dollars, figure, money, sheet, text, whole, words
from runner.reports.files import written
from runner.reports.formats import Shown, json_safe
from runner.reports.schema import Report
from runner.reports.sealing import SUFFIX, close
from runner.reports.sheet import Sheet
from runner.reports.sheets import sheets_of
from runner.reports.terminal import show, shown


def print_report(report: Report, format_: Output, console: Console) -> None:
    """Print one report; JSON is the report itself, with its digests, as it may be published."""
    if format_ is Output.TABLE:
        show(report, console)
    elif format_ is Output.JSON:
        public, _ = close(report, "answers" + SUFFIX)
        write(json_safe(written(public)))
    else:
        write_sheets(sheets_of(report), format_)


def print_reports(reports: Sequence[Report], format_: Output, console: Console) -> None:
    """Print reports one after another; as comma-separated values all of them are one table, whose
    sheets are named after what was measured."""
    if format_ is Output.CSV and len(reports) > 1:
        write_sheets([one for report in reports for one in _named(report)], format_)
        return
    for report in reports:
        print_report(report, format_, console)


def _named(report: Report) -> tuple[Sheet, ...]:
    name = f"{report.case.name}/{report.system.name}/{report.model}"
    return tuple(
        Sheet(f"{name}/{one.name}", one.title, one.columns, one.rows, one.notes)
        for one in sheets_of(report)
    )


def estimate_sheet(estimate: Estimate) -> Sheet:
    """What each kind of run will cost."""
    columns = [text("run"), *map(figure, ("runs", "calls", "tokens"))]
    columns += [figure("US$ a run", "usd_a_run"), figure("US$", "usd")]
    lines = [
        (
            words(kind.kind),
            whole(kind.runs),
            whole(kind.calls),
            whole(sum(kind.usage.model_dump().values())),
            money(kind.expected_usd),
            money(kind.expected_usd * kind.runs),
        )
        for kind in estimate.kinds
    ]
    name = f"estimate-{estimate.case}"
    return sheet(name, f"Estimate: {estimate.case}, on {estimate.model}", columns, lines)


def print_estimate(estimate: Estimate, title: str, console: Console) -> None:
    """Print what a protocol will cost, and from what that was computed."""
    what = (
        title if title.lower().replace(" ", "-") == estimate.case else f"{title}, {estimate.case}"
    )
    console.print(shown(f"{what}, on {estimate.model}: estimate"))
    console.print(Shown(estimate_sheet(estimate)))
    low, expected = dollars(estimate.low_usd), dollars(estimate.expected_usd)
    console.print(Text(f"all runs: about US${expected}, US${low} when it goes cheaply"))
    if estimate.bound_usd is not None:
        bound = dollars(estimate.bound_usd)
        console.print(shown(f"upper bound: US${bound}. {estimate.bound_note}"))
    console.print(shown(estimate.source), *map(shown, estimate.notes), sep="\n")


def print_together(estimates: Sequence[Estimate], console: Console) -> None:
    """Print what several protocols will cost together; at most, where all of them are bounded."""
    expected = sum((one.expected_usd for one in estimates), Decimal(0))
    bounds = [one.bound_usd for one in estimates]
    most = sum((bound for bound in bounds if bound is not None), Decimal(0))
    told = f", at most US${dollars(most)}" if None not in bounds else ""
    console.print(Text(f"together: about US${dollars(expected)}{told}"))
