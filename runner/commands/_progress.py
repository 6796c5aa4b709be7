"""What is seen while runs go on: a live table on a terminal, a line a step elsewhere."""

import math
import threading
import time
from dataclasses import dataclass, field
from decimal import Decimal

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from runner.model import Call, RunRecord, RunSpec
from runner.plain import plain

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
    """

    console: Console
    quiet: bool = False
    _rows: dict[str, _Row] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _live: Live | None = None

    def __enter__(self) -> "Progress":
        if self.console.is_terminal and not self.quiet:
            self._live = Live(
                console=self.console, get_renderable=self._table, refresh_per_second=8
            )
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

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

    def _line(self, row: _Row, what: str) -> None:
        if self._live is None and not self.quiet:
            seconds = row.seconds or time.monotonic() - row.began
            self.console.print(
                Text(
                    f"{row.spec.id}: {what} · {row.calls} calls · {row.tokens} tokens"
                    f" · {_money(row)} · {seconds:.1f} s"
                ),
                highlight=False,
                soft_wrap=True,
            )

    def _table(self) -> RenderableType:
        table = Table(box=None, pad_edge=False, expand=False)
        for name in ("run", "step"):
            table.add_column(name, overflow="ellipsis", no_wrap=True)
        for name in ("calls", "tokens", "US$ of ceiling", "s"):
            table.add_column(name, justify="right", no_wrap=True)
        with self._lock:
            rows = list(self._rows.values())
        for row in rows:
            seconds = row.seconds or time.monotonic() - row.began
            table.add_row(
                Text(row.spec.id),
                Text(row.outcome or row.step, style=_STYLE.get(row.outcome, "")),
                str(row.calls),
                str(row.tokens),
                _money(row),
                f"{seconds:.1f}",
            )
        return Group(table)


_STYLE = {"passed": "green", "failed": "red", "incomplete": "yellow", "invalid": "magenta"}


def _money(row: _Row) -> str:
    ceiling = row.spec.max_usd
    return f"US${row.usd:.4f}" + (f" of {ceiling:.2f}" if ceiling is not None else "")
