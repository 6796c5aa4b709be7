"""Ceilings as they were typed, and what they come to for one run and for all."""

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal

from runner.errors import UsageError
from runner.runs.protocol import Protocol

SHARE = Decimal("0.0001")
"""A share of a total is a whole number of these, in US dollars."""


def run_ceiling(
    each: Decimal | None, total: Decimal | None, mode: str, runs: int
) -> Decimal | None:
    """The ceiling of one run: as given, or an equal share of the total.

    Args:
        each: ``--max-usd``.
        total: ``--max-usd-total``.
        mode: ``reserved`` or ``measured``.
        runs: of all protocols together.

    Raises:
        UsageError: a total that holds nothing back, or that not even one run fits in.
    """
    if total is None:
        return each
    if not (total.is_finite() and total > 0):
        raise UsageError("--max-usd-total must be above 0, in US dollars.")
    if mode == "measured":
        raise UsageError(
            "--max-usd-total needs --ceiling reserved: a measured ceiling can be passed, so no sum"
            " of them holds."
        )
    if each is None:
        share = (total / max(1, runs)).quantize(SHARE, ROUND_FLOOR)
        return share if share > 0 else total
    if each > total:
        raise UsageError(
            f"--max-usd {each} is more than --max-usd-total {total}: no run could start."
        )
    return each


def most_usd(protocols: Sequence[Protocol], total: Decimal | None) -> Decimal | None:
    """US dollars that all runs are held to; none where nothing holds them."""
    sums: list[Decimal] = [] if total is None else [total]
    held = [protocol for protocol in protocols if protocol.ceiling == "reserved"]
    if len(held) == len(protocols) and all(one.max_usd is not None for one in held):
        sums.append(
            sum((sum(one.runs.values()) * (one.max_usd or Decimal(0)) for one in held), Decimal(0))
        )
    return min(sums, default=None)
