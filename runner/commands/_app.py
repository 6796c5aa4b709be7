"""The command line: every command under one name, and every ending as an exit code."""

import gc
import os
import signal
import sys
import traceback
from types import FrameType
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.text import Text
from typer.exceptions import TyperException

from runner import __version__
from runner.commands import (
    clean,
    compare,
    doctor,
    grade,
    history,
    honesty,
    honesty_learn,
    images,
    kill_matrix,
    report,
    rerun,
    rescore,
    schema,
    submit,
    systems,
    trip_vs_move,
    update_gate,
    verify,
    view,
)
from runner.errors import BenchError, UsageError
from runner.plain import plain

INTERRUPTED = 130
TERMINATED = 143
BROKEN_PIPE = 141
"""Whoever read the output went away, as shells number it."""
DEFAULT = "trip-vs-move"

EXIT_CODES = """
Exit codes: 0 passed · 1 failed · 2 wrong command line or input · 3 incomplete (ceiling,
deadline, interruption) · 4 invalid (wrong model, an escape, an answer missing) · 5 errored
(engine, image, provider, degraded system) · 6 cannot start · 7 altered or unreadable report ·
8 not confirmed · 130 Ctrl-C · 143 terminated.
"""


class Terminated(SystemExit):
    """SIGTERM came: everything is stopped as with Ctrl-C."""


app = typer.Typer(
    help=(
        "A hermetic benchmark runner for the memories of AI agents.\n\n"
        "Without a command it runs trip-vs-move: does a memory tell a trip from a move?\n\n"
        "    bench --arm scripted            air-gapped, free, no key\n\n"
        "    bench --model MODEL --estimate  what a live protocol would cost\n\n" + EXIT_CODES
    ),
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("trip-vs-move")(trip_vs_move.trip_vs_move)
app.command("update-gate")(update_gate.update_gate)
app.command("honesty")(honesty.honesty)
app.command("honesty-learn")(honesty_learn.honesty_learn)
app.command("grade")(grade.grade)
app.command("rescore")(rescore.rescore)
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.command("view")(view.view)
app.command("verify")(verify.verify)
app.command("history")(history.history)
app.command("rerun")(rerun.rerun)
app.command("systems")(systems.systems)
app.command("doctor")(doctor.doctor)
app.command("clean")(clean.clean)
app.command("kill-matrix")(kill_matrix.kill_matrix)
app.command("schema")(schema.schema)
app.add_typer(images.app, name="images")
app.add_typer(submit.app, name="submit")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"memory-bench {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it and exit.")
    ] = False,
) -> None:
    """Holds what belongs to no command."""


def names() -> tuple[str, ...]:
    """Every command, in the order the help lists them; those of a group after it, as they are
    typed."""
    found = [str(command.name) for command in app.registered_commands]
    for group in app.registered_groups:
        assert group.typer_instance is not None
        found.append(str(group.name))
        for command in group.typer_instance.registered_commands:
            callback = command.callback
            assert callback is not None
            found.append(f"{group.name} {command.name or callback.__name__}")
    return tuple(found)


def main() -> NoReturn:
    """Entry point of ``bench``."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # once more, while the first was being told of
        code = INTERRUPTED
    except Terminated:
        code = TERMINATED
    # All is removed, and the exit code is to say how it ended, whoever goes on pressing.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    gc.freeze()  # a process that ends need not look through all it had for garbage
    sys.exit(code)


def run(args: list[str]) -> int:
    """Run one command line.

    Returns:
        The exit code.
    """
    errors = Console(stderr=True)
    try:
        code = app(_named(args), prog_name="bench", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        errors.print(Text("Stopped. Everything this bench had started was removed."))
        return INTERRUPTED
    except Terminated:
        errors.print(Text("Terminated. Everything this bench had started was removed."))
        return TERMINATED
    except TyperException as error:
        _say(
            errors, error.format_message(), "bench --help, and bench COMMAND --help, list options."
        )
        return UsageError.exit_code
    except BenchError as error:
        _say(errors, error.message, error.hint)
        return error.exit_code
    except (BrokenPipeError, SystemExit):  # the latter is how Rich takes a reader that went away
        # Nothing more can be said there, and the interpreter must not try at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception:
        # Left to the interpreter it would exit with 1, which says that a run failed its checks.
        traceback.print_exc()
        _say(errors, "This is a defect of the bench.", "Please report it with the lines above.")
        return BenchError.exit_code


def _named(args: list[str]) -> list[str]:
    """What is meant: ``bench --arm scripted`` is ``bench trip-vs-move --arm scripted``, ``bench
    images`` is ``bench images list``, and ``bench honesty learn`` is ``bench honesty-learn``:
    ``honesty`` itself takes options and no word."""
    of_the_group = {"--help", "-h", "--version", "--install-completion", "--show-completion"}
    if not args or (args[0].startswith("-") and args[0] not in of_the_group):
        return [DEFAULT, *args]
    if args == ["images"]:
        return ["images", "list"]
    if args[:2] == ["honesty", "learn"]:
        return ["honesty-learn", *args[2:]]
    return args


def _say(errors: Console, message: str, hint: str) -> None:
    errors.print(Text.assemble(("error: ", "bold red"), plain(message)), soft_wrap=True)
    if hint:
        errors.print(Text.assemble(("next:  ", "bold"), plain(hint)), soft_wrap=True)


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    raise Terminated
