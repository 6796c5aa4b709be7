"""What a person types, in this process, with what is printed and the exit code."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from runner.commands._app import run
from tests.reports.conftest import forge, mid_trip, originals, reader

__all__ = ["forge", "mid_trip", "originals", "reader"]


@dataclass(frozen=True, slots=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str


Bench = Callable[..., Done]


@pytest.fixture
def bench(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Bench:
    """Runs a command line in an empty folder, where no engine answers."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no-engine.sock")
    monkeypatch.setenv("BENCH_LEASES", str(tmp_path / "leases"))
    monkeypatch.setenv("BENCH_STATE", str(tmp_path / "state"))
    for name in ("BENCH_RESULTS", "ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY_FILE", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)

    def go(*args: str | Path) -> Done:
        capfd.readouterr()
        code = run([str(arg) for arg in args])
        return Done(code, *capfd.readouterr())

    return go
