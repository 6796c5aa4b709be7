import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from memory_engine.judge import Judge
from memory_engine.model import Model
from memory_engine.settings import parse
from memory_engine.store import Store

from tests.engine._process import Process
from tests.engine._provider import Provider

QUICK: dict[str, Any] = {"attempts": 3, "backoff_initial_s": 0.01, "backoff_max_s": 0.05}


@pytest.fixture(scope="session")
def _serving() -> Iterator[Provider]:
    provider = Provider()
    yield provider
    provider.close()


@pytest.fixture
def provider(_serving: Provider) -> Provider:
    _serving.reset()
    return _serving


@pytest.fixture
def judge(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Judge]:
    """Makes a judge that asks the test's provider."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")

    def make(**options: Any) -> Judge:
        settings = parse(json.dumps({"model": "m-1", "options": {**QUICK, **options}}))
        return Judge(Model(settings))

    return make


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "store")
    yield opened
    opened.close()


@pytest.fixture
def driver(provider: Provider, tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Starts drivers on one home and one exchange folder; none outlives the test."""
    (tmp_path / "exchange").mkdir()
    with ExitStack() as stack:

        def start(**options: Any) -> Process:
            settings = {"model": "m-1", "options": {**QUICK, **options}}
            env = {
                "HOME": str(tmp_path),
                "MEMORY_ENGINE_EXCHANGE": str(tmp_path / "exchange"),
                "ANTHROPIC_BASE_URL": provider.url,
                "ANTHROPIC_API_KEY": "none",
                "BENCH_SETTINGS": json.dumps(settings),
            }
            return stack.enter_context(Process(tmp_path, env))

        yield start
