"""The arithmetic of ways that are compared round by round, and the table they are printed in."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from rich.table import Table

LATENCY_TARGET_MS = 1.0
LITELLM_TARGET = 25.0
MITMPROXY_TARGET = 3.0
MEMORY_TARGET_MB = 80.0


@dataclass(frozen=True, slots=True)
class Measured:
    """One way in one round.

    Attributes:
        whole: seconds of each call that was made by itself.
        token: seconds until the first token of each streamed call that was made by itself.
        calls: how many were answered, many at once.
        seconds: in how many seconds.
        cpu: CPU seconds of the proxy meanwhile; 0 without one.
        peak_mb: the most memory the proxy had held by then.
    """

    whole: tuple[float, ...]
    token: tuple[float, ...]
    calls: int
    seconds: float
    cpu: float
    peak_mb: float

    @property
    def rate(self) -> float:
        """Calls a second."""
        return self.calls / self.seconds

    @property
    def core_rate(self) -> float:
        """Calls a CPU second of the proxy: what one core that it has for itself can do."""
        return self.calls / self.cpu if self.cpu else math.nan


Round = Mapping[str, Measured]
"""By the name of the way."""


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that ``share`` of all values do not exceed."""
    if not values:
        raise ValueError("no value has no quantile")
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


@dataclass(frozen=True, slots=True)
class Figures:
    """One way, medians over the rounds of what is paired within each round.

    Attributes:
        p50, p99: milliseconds that the way adds to a call, at these quantiles of both.
        token_p50, token_p99: the same until the first token of a stream.
        rate: calls a second.
        core_rate: calls a CPU second of the proxy; not a number without one.
        peak_mb: the most memory it held in any round.
    """

    p50: float
    p99: float
    token_p50: float
    token_p99: float
    rate: float
    core_rate: float
    peak_mb: float


def figures(rounds: Sequence[Round], way: str, direct: str = "direct") -> Figures:
    """What ``way`` adds to ``direct``, and how much it carries."""

    def added(share: float, of: str) -> float:
        return 1000 * median(
            quantile(getattr(one[way], of), share) - quantile(getattr(one[direct], of), share)
            for one in rounds
        )

    return Figures(
        p50=added(0.5, "whole"),
        p99=added(0.99, "whole"),
        token_p50=added(0.5, "token"),
        token_p99=added(0.99, "token"),
        rate=median(one[way].rate for one in rounds),
        core_rate=median(one[way].core_rate for one in rounds),
        peak_mb=max(one[way].peak_mb for one in rounds),
    )


def times(rounds: Sequence[Round], way: str, other: str, of: str = "rate") -> tuple[float, ...]:
    """How many times as much ``way`` carries as ``other``, a round each."""
    return tuple(getattr(one[way], of) / getattr(one[other], of) for one in rounds)


def comparison(rounds: Sequence[Round], base: str) -> Table:
    """All ways side by side; ratios are over ``base`` and over going direct."""
    table = Table(box=None, pad_edge=False)
    table.add_column("medians of rounds")
    titles = ("added p50", "p99", "1st token", "p99", "req/s", "/base", "/direct", "/cpu s", "MB")
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    for way in rounds[0]:
        one = figures(rounds, way)
        cells = [f"{value:.2f}" for value in (one.p50, one.p99, one.token_p50, one.token_p99)]
        proxied = way != "direct"
        table.add_row(
            way,
            *(cells if proxied else ["-"] * 4),
            f"{one.rate:.0f}",
            f"{median(times(rounds, way, base)):.3f}" if base in rounds[0] else "-",
            f"{median(times(rounds, way, 'direct')):.3f}",
            f"{one.core_rate:.0f}" if proxied else "-",
            f"{one.peak_mb:.0f}" if proxied else "-",
        )
    return table


def targets(rounds: Sequence[Round], base: str) -> Table:
    """What ``base`` should do, and what it does."""
    table = Table(box=None, pad_edge=False)
    for title in ("target", "", "seen", "range", ""):
        table.add_column(title, justify="left" if title == "target" else "right", no_wrap=True)

    def row(name: str, bound: str, seen: float, met: bool, spread: Sequence[float]) -> None:
        low, high = min(spread), max(spread)
        shown = f"{low:.2f}-{high:.2f}" if spread else ""
        table.add_row(name, bound, f"{seen:.2f}", shown, "met" if met else "NOT")

    one = figures(rounds, base)
    each = [figures([single], base).p50 for single in rounds]
    row("p50 added, ms", f"< {LATENCY_TARGET_MS:g}", one.p50, one.p50 < LATENCY_TARGET_MS, each)
    for other, bound in (("LiteLLM", LITELLM_TARGET), ("mitmproxy", MITMPROXY_TARGET)):
        if other in rounds[0]:
            for name, of in (("throughput", "rate"), ("  by CPU seconds", "core_rate")):
                ratios = times(rounds, base, other, of)
                seen = median(ratios)
                row(f"{name} over {other}'s", f">= {bound:g}", seen, seen >= bound, ratios)
    peaks = [single[base].peak_mb for single in rounds]
    row("memory, MB", f"< {MEMORY_TARGET_MB:g}", one.peak_mb, one.peak_mb < MEMORY_TARGET_MB, peaks)
    return table
