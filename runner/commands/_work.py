"""What is seen while images are built, and while archives are written, read and verified."""

import re
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column
from rich.text import Text

from runner.commands._terminal import animated
from runner.reports.formats import line as one_line

_NARROW = 60
"""Columns below which there is no bar."""
_STEP = re.compile(r"\[(?:[^\]]* )?(\d+)/(\d+)\]")
"""How a builder numbers its steps: ``[3/7]``, and ``[stage 3/7]`` where there are several."""


class _Moving:
    """A line that moves on a terminal, and lines elsewhere. A context manager."""

    def __init__(self, console: Console, *columns: ProgressColumn, quiet: bool) -> None:
        self._quiet = quiet
        what = TextColumn(
            "{task.description}",
            markup=False,
            table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"),
        )
        bar = (BarColumn(bar_width=20),) if console.width >= _NARROW else ()
        self._bar = Progress(
            what,
            *bar,
            *columns,
            TimeElapsedColumn(),
            console=console,
            transient=True,
            expand=True,
            disable=not animated(console, quiet=quiet),
        )

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def line(self, text: str) -> None:
        """Something worth knowing, once."""
        if not self._quiet:
            self._bar.console.print(Text(one_line(text)), highlight=False, soft_wrap=True)


class Bytes(_Moving):
    """Work that is counted in bytes: so many of so many. Follows archives, see
    ``runner.archive.watch``."""

    def __init__(self, console: Console, *, quiet: bool) -> None:
        super().__init__(console, DownloadColumn(), quiet=quiet)
        self._task = self._bar.add_task("", visible=False)

    def begins(self, what: str, total: int | None = None) -> None:
        """Another piece of work begins."""
        if self._bar.disable:
            self.line(what)
        self._bar.remove_task(self._task)
        self._task = self._bar.add_task(one_line(what), total=total)

    def moved(self, count: int) -> None:
        """So many bytes more were handled."""
        self._bar.advance(self._task, count)


class Steps(_Moving):
    """Images that are built: on a terminal a line that says which step of how many and how long it
    has been going, with what came before above it; lines elsewhere.

    Attributes:
        any: whether anything had to be done of the image that was begun last.
    """

    def __init__(self, console: Console, *, quiet: bool) -> None:
        super().__init__(console, _Counted(), quiet=quiet)
        self.any = False
        self._name = ""
        self._task: TaskID | None = None

    def of(self, name: str) -> Self:
        """From here on of another image, which is looked for, and built where it is not there."""
        self.any = False
        self._name = name
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task(one_line(name), total=None)
        return self

    def told(self, text: str) -> None:
        """One more step."""
        self.any = True
        self.line(text)
        if self._task is None:
            return
        found = _STEP.search(text)
        if found:
            done, of = map(int, found.groups())
            self._bar.update(self._task, completed=done, total=of)
        else:
            # Another image, which this one stands on: its steps are counted anew.
            self._bar.update(self._task, completed=0, total=None)
        self._bar.update(self._task, description=one_line(f"{self._name}: {text}"))


class _Counted(ProgressColumn):
    """Step 3 of 7; nothing where that is not known."""

    def render(self, task: Task) -> Text:
        if task.total is None:
            return Text("")
        return Text(f"{task.completed:.0f} of {task.total:.0f}")
