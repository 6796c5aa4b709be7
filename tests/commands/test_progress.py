"""What is seen while things go on: moving on a terminal, lines elsewhere and where CI is set."""

import contextlib
import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from decimal import Decimal

import pytest
from rich.cells import cell_len
from rich.console import Console

from runner.commands._progress import Progress
from runner.commands._terminal import animated
from runner.commands._work import Bytes, Steps
from runner.model import Outcome, RunSpec
from runner.runs.plan import specs
from tests.runs._protocols import protocol

HOSTILE = "step \x1b[31m[red]孟买\u202e"


def console(width: int, **how: bool) -> Console:
    return Console(file=io.StringIO(), width=width, height=24, **how)  # type: ignore[arg-type]


def said(of: Console) -> str:
    assert isinstance(of.file, io.StringIO)
    return of.file.getvalue()


def some() -> RunSpec:
    first = specs(protocol("reader"))[0]
    return first.model_copy(update={"id": "孟买" * 20, "max_usd": Decimal("0.5")})


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_line_a_run_fits(width: int) -> None:
    made = console(width)
    progress = Progress(made, total=5)
    spec = some()
    progress.started(spec)
    progress.step(spec.id, HOSTILE)
    made.file = io.StringIO()
    made.print(progress)
    lines = said(made).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert lines[-1].rstrip() == "0 of 5 runs"
    assert not set(said(made)) & {"\x1b", "\u202e"}
    assert ("of 0.50" in said(made)) is (width > 40)


def test_lines_where_nobody_looks_on() -> None:
    made = console(40)
    with Progress(made, total=1) as progress:
        spec = some()
        progress.started(spec)
        progress.step(spec.id, HOSTILE)
    step, total = said(made).splitlines()
    assert "<U+001B>[31m[red]" in step
    assert "US$0.0000 of 0.50" in step
    assert total == "0 of 1 run"


def test_runs_of_an_earlier_sitting_are_counted() -> None:
    made = console(40)
    progress = Progress(made, total=5, earlier=(Outcome.PASSED, Outcome.PASSED, Outcome.FAILED))
    assert progress.summary() == "3 of 5 runs, 1 failed"


def test_ci_is_no_terminal_whatever_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert animated(console(80, force_terminal=True), quiet=False)
    assert not animated(console(80, force_terminal=True), quiet=True)
    assert not animated(console(80), quiet=False)
    monkeypatch.setenv("CI", "true")
    assert not animated(console(80, force_terminal=True), quiet=False)


def test_builds_and_archives_are_told_by_line_elsewhere() -> None:
    made = console(40)
    with Steps(made, quiet=False).of("engine") as steps:
        assert not steps.any
        steps.told("[base 1/2] RUN x\x1b[31m")
        assert steps.any
    with Bytes(made, quiet=False) as work:
        work.begins("verifying", 100)
        work.moved(50)
    assert said(made).splitlines() == ["[base 1/2] RUN x<U+001B>[31m", "verifying"]
    with Bytes(made, quiet=True) as work:
        work.begins("again")
    assert "again" not in said(made)


@contextlib.contextmanager
def terminal(columns: int) -> Iterator[tuple[int, int]]:
    """Both ends of a real terminal: ours, and a program's, which whoever uses it closes."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    try:
        yield ours, theirs
    finally:
        os.close(ours)


def written(ours: int) -> str:
    """What was written to a terminal, once its other end is closed."""
    got = b""
    with contextlib.suppress(OSError):  # how Linux says that there is no more
        while data := os.read(ours, 65536):
            got += data
    return got.decode()


@pytest.mark.parametrize("ci", ["", "true"])
def test_a_line_moves_on_a_real_terminal(monkeypatch: pytest.MonkeyPatch, ci: str) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setenv("TERM", "xterm-256color")
    with terminal(80) as (ours, theirs):
        with os.fdopen(theirs, "w") as file:
            made = Console(file=file, width=80)
            with Bytes(made, quiet=False) as work:
                work.begins("verifying", 1000)
                work.moved(500)
                work._bar.refresh()
        told = written(ours)
    if ci:
        assert told.splitlines() == ["verifying"]
    else:
        assert "0.5/1.0 kB" in told
        assert "\x1b[?25l" in told


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 80])
def test_a_whole_command_on_a_real_terminal(columns: int) -> None:
    whole = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "CI")}
    with terminal(columns) as (ours, theirs):
        process = subprocess.Popen(
            [sys.executable, "-c", "from runner.commands import main; main()", "systems"],
            stdin=theirs, stdout=theirs, stderr=theirs,
            env=whole | {"TERM": "xterm-256color", "NO_COLOR": "1"},
        )  # fmt: skip
        os.close(theirs)
        told = written(ours)
    assert process.wait() == 0, told
    assert "\x1b[3" not in told, "no colour"
    plain = told.replace("\x1b[1m", "").replace("\x1b[0m", "").replace("\x1b[2m", "")
    assert "\x1b" not in plain
    assert max(map(cell_len, plain.splitlines())) <= columns
