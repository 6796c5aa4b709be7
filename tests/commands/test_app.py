"""Every kind of ending is an exit code, and nothing is started before it has to be."""

import subprocess
import sys
from pathlib import Path

import pytest

from runner import __version__, errors
from runner.commands import _app, names
from runner.errors import NotConfirmed
from tests.commands.conftest import Bench


@pytest.mark.parametrize("command", ["", *names()])
def test_every_command_says_what_it_does(bench: Bench, command: str) -> None:
    for flag in ("--help", "-h"):
        done = bench(*command.split(), flag)
        assert done.code == 0
        assert f"Usage: bench {command}".strip() in done.out
        assert done.err == ""


def test_the_help_lists_every_command_and_every_exit_code(bench: Bench) -> None:
    said = bench("--help").out
    for name in names():
        assert name in said or name.split()[-1] in bench(name.split()[0], "--help").out
    for code in ("0 passed", "1 failed", "6 cannot", "143 terminated"):
        assert code in " ".join(said.split())


def test_it_says_its_version(bench: Bench) -> None:
    assert bench("--version").out == f"memory-bench {__version__}\n"


def test_without_a_command_it_is_the_main_one(bench: Bench) -> None:
    short = bench("--estimate")
    assert short.code == 0
    assert short == bench("trip-vs-move", "--estimate")
    assert "No call was made." in short.out


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["no-such-command"], "no-such-command"),
        (["--no-such-option"], "--no-such-option"),
        (["--move-runs", "many"], "--move-runs"),
        (["--move-runs", "-1"], "--move-runs"),
        (["--jobs", "0"], "jobs"),
        (["--arm", "scripted", "--case", "no-such-case"], "no-such-case"),
        (["--arm", "scripted", "--system", "no-such-system"], "no-such-system"),
        (["--arm", "scripted", "--model", "no-such-model"], "No price"),
        (["--arm", "scripted", "--variant", "no-such-variant"], "no-such-variant"),
        (["--arm", "scripted", "--variant", "x", "--all-variants"], "exclude"),
        (["--arm", "scripted", "--clock", "yesterday"], "--clock"),
        (["--arm", "scripted", "--pin", "update"], "NAME=VALUE"),
        (["--arm", "scripted", "--pin", "=x"], "NAME=VALUE"),
        (["--arm", "scripted", "--pin", "update=a", "--pin", "update=b"], "twice"),
        (["--arm", "scripted", "--pin", "updating=claude-haiku-4-5"], "no purpose"),
        (["--arm", "scripted", "--move-runs", "0", "--trip-alone-runs", "0"], "Zero runs"),
        (["--arm", "scripted", "--checks-version", "1"], "not defined"),
        (["--arm", "scripted", "--max-usd", "nan"], "--max-usd"),
        (["--arm", "scripted", "--max-usd", "-1"], "--max-usd"),
        (["--arm", "scripted", "--step-deadline", "nan"], "--step-deadline"),
        (["--arm", "scripted", "--fault", "no-such-fault"], "no-such-fault"),
        (["--arm", "scripted", "--fault", "keeps-the-flight"], "cannot occur"),
        (["--arm", "live", "--fault", "keeps-the-flight"], "--fault needs"),
        (["--arm", "live", "--yes"], "no key"),
        (["--arm", "scripted", "--resume"], "--output"),
        (["kill-matrix", "--only", "no-such-fault"], "no-such-fault"),
        (["rescore", "no-such-file.json"], "cannot be read"),
        (["rescore"], "REPORT"),
    ],
)
def test_what_is_typed_wrong_starts_nothing(bench: Bench, args: list[str], says: str) -> None:
    done = bench(*args)
    assert done.code == 2, done.err
    assert says.lower() in done.err.lower()
    assert done.out == ""
    assert list(Path.cwd().iterdir()) == []


def test_a_message_tells_what_to_do_next(bench: Bench) -> None:
    done = bench("--arm", "scripted", "--clock", "yesterday")
    assert done.err.startswith("error: ")
    assert "\nnext:  Use note, published, now" in done.err


@pytest.mark.parametrize("args", [["--arm", "scripted"], ["clean"], ["doctor"], ["kill-matrix"]])
def test_without_an_engine_nothing_starts(bench: Bench, args: list[str]) -> None:
    done = bench(*args)
    assert done.code == 6
    assert "no-engine.sock" in (done.err + done.out).replace("\n", "")


def test_an_output_that_cannot_be_written_is_found_first(bench: Bench) -> None:
    """Before the engine, which is not there either."""
    Path("file").touch()
    for bad in ("file/report.json", "/proc/report.json"):
        done = bench("--arm", "scripted", "--output", bad)
        assert (done.code, done.out) == (6, "")
        assert "cannot be written" in done.err
    done = bench("--arm", "scripted", "--output", "file")
    assert done.code == 2
    assert "exists already" in done.err
    done = bench("--arm", "scripted", "--keep", "file/kept", "--output", "report.json")
    assert done.code == 6
    assert "Nothing can be kept" in done.err
    done = bench("kill-matrix", "--output", "file/page.md")
    assert done.code == 6
    assert "cannot be written" in done.err
    assert Path("file").read_bytes() == b""


def test_a_relative_output_is_where_it_says(bench: Bench) -> None:
    done = bench("--arm", "scripted", "--output", "below/report.json")
    assert done.code == 6, "no engine"
    assert "no-engine.sock" in done.err
    assert Path("below").is_dir()


def test_a_crash_is_no_verdict(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exit code of 1 says that a memory failed; a defect of the bench must not say so."""

    def broken() -> None:
        raise ZeroDivisionError("of a test")

    monkeypatch.setitem(_app.app.registered_commands[0].__dict__, "callback", broken)
    done = bench("trip-vs-move")
    assert done.code == 5
    assert "ZeroDivisionError: of a test" in done.err
    assert "defect of the bench" in done.err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyboardInterrupt(), 130),
        (_app.Terminated(), 143),
        (NotConfirmed("no"), 8),
    ],
)
def test_being_stopped_and_saying_no(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    def stopped() -> None:
        raise error

    monkeypatch.setitem(_app.app.registered_commands[0].__dict__, "callback", stopped)
    assert bench("trip-vs-move").code == code


def test_every_code_is_in_the_table() -> None:
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, errors.BenchError):
            assert f"| {kind.exit_code} |" in (errors.__doc__ or ""), name


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_verdict() -> None:
    command = f"{sys.executable} -c 'from runner.commands import main; main()' schema"
    done = subprocess.run(
        ["bash", "-c", f"{command} | true; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (_app.BROKEN_PIPE, "")
