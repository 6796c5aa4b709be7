"""Asking before money is spent."""

import sys
from collections.abc import Sequence
from decimal import Decimal

import typer
from rich.console import Console

from runner.commands._show import print_estimate
from runner.errors import NotConfirmed
from runner.estimate import Estimate
from runner.reports.terminal import dollars


def confirm(
    estimates: Sequence[tuple[Estimate, str]],
    *,
    yes: bool,
    most_usd: Decimal | None,
    console: Console,
) -> None:
    """Show what a live protocol will cost, and go on only when somebody says so.

    Args:
        estimates: one a protocol, with the title of its suite.
        yes: the user has said so already.
        most_usd: what ceilings hold all runs to; none where they hold them to nothing.
        console: where it is shown and asked.

    Raises:
        NotConfirmed: the user says no, or there is no terminal to ask at.
    """
    for estimate, title in estimates:
        print_estimate(estimate, title, console)
    usd = sum((estimate.expected_usd for estimate, _ in estimates), Decimal(0))
    limit = f"at most US${dollars(most_usd)}" if most_usd is not None else "no ceiling"
    if yes:
        return
    if not sys.stdin.isatty():
        raise NotConfirmed(
            f"This would spend about US${dollars(usd)} ({limit}), and there is no terminal to"
            " ask at.",
            hint="Nothing was started. Add --yes to spend it, or --estimate to see it only.",
        )
    if not typer.confirm(f"Spend about US${dollars(usd)} ({limit})?", default=False, err=True):
        raise NotConfirmed("Not confirmed.", hint="Nothing was started and nothing was spent.")
