import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from basic_memory_driver.driver import Driver

STANDIN = Path(__file__).parent / "_standin.py"
Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with the stand-in installed beside it, and an embedder that is not asked for."""
    command = tmp_path / "bin" / "basic-memory"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} {STANDIN} "$@"\n')
    command.chmod(0o755)
    embedder = {"model": "none", "identity": "none", "environment": {}, "server": False}
    (tmp_path / "embedder").mkdir()
    (tmp_path / "embedder" / "embedder.json").write_text(json.dumps(embedder))
    (tmp_path / "exchange").mkdir()
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def driver(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Driver]]:
    """Makes drivers of the stand-in, which search by words unless told otherwise."""
    monkeypatch.setattr("basic_memory_driver.tool.version", lambda name: "0.0")
    made: list[Driver] = []

    def make(settings: str | None = None, **options: Any) -> Driver:
        usual = json.dumps({"model": "m-1", "options": {"search": "text", **options}})
        made.append(
            Driver(
                {
                    "HOME": str(home),
                    "PATH": f"{home.parent / 'bin'}:/usr/bin:/bin",
                    "BASIC_MEMORY_EMBEDDER": str(home.parent / "embedder"),
                    "BASIC_MEMORY_EXCHANGE": str(home.parent / "exchange"),
                    "BENCH_SETTINGS": usual if settings is None else settings,
                }
            )
        )
        return made[-1]

    yield make
    for one in made:
        asking(one)("stop")


def asking(driver: Driver) -> Ask:
    """Asks a driver as a line does; the whole reply."""

    def ask(verb: str, **payload: Any) -> dict[str, Any]:
        reply = driver.answer(json.dumps({"id": 7, "verb": verb, **payload}).encode())
        assert reply["id"] == 7
        return reply

    return ask


@pytest.fixture
def ask(driver: Callable[..., Driver]) -> Ask:
    """Asks a driver with the usual settings."""
    return asking(driver())
