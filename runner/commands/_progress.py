"""What is seen while runs go on: a live table on a terminal, a line a step elsewhere."""

import math
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.table import Table
from rich.text import Text

from runner.commands._terminal import animated
from runner.model import Call, Outcome, RunRecord, RunSpec
from runner.plain import plain
from runner.reports.cells import TONES
from runner.reports.formats import STYLES, line

STEP_LINES_S = 1.0
"""Least time between two lines of one run's steps: where a step takes milliseconds, not each is
told of."""


@dataclass(slots=True)
class _Row:
    spec: RunSpec
    began: float
    step: str = "opening"
    calls: int = 0
    tokens: int = 0
    usd: Decimal = Decimal(0)
    outcome: str = ""
    seconds: float = 0.0
    told: float = -math.inf
    """When a line was last written of one of its steps."""


@dataclass(slots=True)
class Progress:
    """Follows runs from their threads and draws them on ``console`` (standard error).

    Use as a context manager around the runs.

    Attributes:
        console: where it is drawn: over and over on a terminal, line by line elsewhere and where
            ``CI`` is set.
        quiet: nothing is, but what ``note`` is told.
        total: runs there will be, those of an earlier sitting left out; none where nobody knows.
    """

    console: Console
    quiet: bool = False
    total: int | None = None
    _rows: dict[str, _Row] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _live: Live | None = None

    def __enter__(self) -> "Progress":
        if animated(self.console, quiet=self.quiet):
            self._live = Live(
                console=self.console, get_renderable=lambda: self, refresh_per_second=8
            )
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
        elif self._rows and not self.quiet:
            self.console.print(Text(self.summary()), highlight=False, soft_wrap=True)

    def note(self, text: str) -> None:
        """Say something that is not about one run, also when quiet: a build under way, what a
        killed bench had spent.
        """
        self.console.print(Text(plain(text)), highlight=False, soft_wrap=True)

    # ------------------------------------------------------------ runner.runs.watch.Watch

    def started(self, spec: RunSpec) -> None:
        """A run is being opened."""
        with self._lock:
            self._rows[spec.id] = _Row(spec, time.monotonic())

    def step(self, run_id: str, name: str) -> None:
        """A step begins."""
        with self._lock:
            row = self._rows[run_id]
            row.step = name
            now = time.monotonic()
            tell = now - row.told >= STEP_LINES_S
            if tell:
                row.told = now
        if tell:
            self._line(row, name)

    def call(self, run_id: str, call: Call) -> None:
        """The gateway wrote a line in its ledger."""
        with self._lock:
            row = self._rows[run_id]
            row.calls += 1
            row.tokens += sum(call.usage.model_dump().values())
            row.usd += call.cost_usd

    def ended(self, record: RunRecord) -> None:
        """A run is over and everything of it is removed."""
        with self._lock:
            row = self._rows[record.spec.id]
            row.outcome = record.ending.outcome.value
            row.seconds = record.seconds
            row.step = record.ending.kind
        self._line(row, f"{row.outcome} ({row.step})")

    # ------------------------------------------------------------ drawing

    def summary(self) -> str:
        """How many runs are over, and how those ended that did not pass: ``3 of 5 runs, 1
        failed``."""
        with self._lock:
            ended = Counter(row.outcome for row in self._rows.values() if row.outcome)
        count = ended.total()
        if self.total is None:
            told = f"{count} run{'' if count == 1 else 's'}"
        else:
            told = f"{count} of {self.total} run{'' if self.total == 1 else 's'}"
        others = (f"{ended[one.value]} {one.value}" for one in Outcome if one is not Outcome.PASSED)
        return ", ".join([told, *(one for one in others if not one.startswith("0 "))])

    def _line(self, row: _Row, what: str) -> None:
        if self._live is None and not self.quiet:
            seconds = row.seconds or time.monotonic() - row.began
            self.console.print(
                Text(
                    line(
                        f"{row.spec.id}: {what} · {row.calls} calls · {row.tokens} tokens"
                        f" · {_money(row)} · {seconds:.1f} s"
                    )
                ),
                highlight=False,
                soft_wrap=True,
            )

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        """A line a run and one for all; narrow terminals are told less of each."""
        wide, room = options.max_width >= _WIDE, options.max_width >= _NARROW
        names = (*(("calls",) if room else ()), *(("tokens",) if wide else ()))
        heads = ("run", "step", *names, "US$ of ceiling" if room else "US$", "s")
        with self._lock:
            rows = list(self._rows.values())
        # What is over scrolls away first where not all have room.
        seen = [*_over(rows), *_going(rows)][-max(1, (options.height or _HEIGHT) - 4) :]
        lines = [_cells(row, wide=wide, room=room) for row in seen]
        gap = 2 if wide else 1
        widths = [max(map(cell_len, column)) for column in zip(heads, *lines, strict=True)]
        # Figures are whole; names and steps share what they leave.
        left = options.max_width - sum(widths[2:]) - gap * (len(heads) - 1)
        run = max(4, min(widths[0], left - min(widths[1], left // 2)))
        table = Table(box=None, pad_edge=False, expand=False, padding=(0, gap, 0, 0))
        for name, most in zip(heads[:2], (run, max(4, left - run)), strict=True):
            table.add_column(name, overflow="ellipsis", no_wrap=True, max_width=most)
        for name in heads[2:]:
            table.add_column(name, justify="right", no_wrap=True)
        for row, (name, step, *figures) in zip(seen, lines, strict=True):
            table.add_row(Text(name), Text(step, style=_style(row.outcome)), *figures)
        yield Group(table, Text(self.summary()))


def _cells(row: _Row, *, wide: bool, room: bool) -> tuple[str, ...]:
    seconds = row.seconds or time.monotonic() - row.began
    return (
        line(row.spec.id),
        line(row.outcome or row.step),
        *((str(row.calls),) if room else ()),
        *((str(row.tokens),) if wide else ()),
        _money(row) if room else f"{row.usd:.4f}",
        f"{seconds:.1f}",
    )


_WIDE = 76
"""Columns below which tokens are not told."""
_NARROW = 56
"""Columns below which calls and the ceiling are not told either."""
_HEIGHT = 24


def _over(rows: list[_Row]) -> list[_Row]:
    return [row for row in rows if row.outcome]


def _going(rows: list[_Row]) -> list[_Row]:
    return [row for row in rows if not row.outcome]


def _style(outcome: str) -> str:
    return STYLES[TONES[Outcome(outcome)]] if outcome else ""


def _money(row: _Row) -> str:
    ceiling = row.spec.max_usd
    return f"US${row.usd:.4f}" + (f" of {ceiling:.2f}" if ceiling is not None else "")
