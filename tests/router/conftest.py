import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from page_router.driver import Driver
from page_router.model import Model
from page_router.settings import parse

from tests.engine._provider import Provider

QUICK: dict[str, Any] = {"attempts": 3, "backoff_initial_s": 0.01, "backoff_max_s": 0.05}
Ask = Callable[..., dict[str, Any]]


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
def model(provider: Provider) -> Callable[..., Model]:
    """Makes a model that asks the test's provider."""

    def make(url: str = "", **options: Any) -> Model:
        settings = parse(json.dumps({"model": "m-1", "options": {**QUICK, **options}}))
        return Model(settings, {"ANTHROPIC_BASE_URL": url or provider.url})

    return make


@pytest.fixture
def driver(provider: Provider, tmp_path: Path) -> Iterator[Callable[..., Driver]]:
    """Makes drivers on one home and one exchange folder."""
    (tmp_path / "exchange").mkdir()
    made: list[Driver] = []

    def make(settings: str | None = None, **options: Any) -> Driver:
        usual = json.dumps({"model": "m-1", "options": {**QUICK, **options}})
        made.append(
            Driver(
                {
                    "HOME": str(tmp_path),
                    "PAGE_ROUTER_EXCHANGE": str(tmp_path / "exchange"),
                    "ANTHROPIC_BASE_URL": provider.url,
                    "BENCH_SETTINGS": usual if settings is None else settings,
                }
            )
        )
        return made[-1]

    yield make
    for one in made:
        one.close()


def asking(driver: Driver) -> Ask:
    """Asks a driver as a line does; the whole reply."""

    def ask(verb: str, **payload: Any) -> dict[str, Any]:
        line = json.dumps({"id": 7, "verb": verb, **payload}).encode()
        reply = driver.answer(line)
        assert reply["id"] == 7
        return reply

    return ask
