"""What tests with an engine stand on. Without one they fail, and say what to do."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runner import images
from runner.errors import CannotStart
from runner.runs.sandbox import (
    Engine,
    EngineSandbox,
    GatewayBox,
    SystemBox,
    connect,
    start,
)

DRIVER = Path(__file__).parent / "data" / "driver.py"


@pytest.fixture(scope="session")
def engine() -> Engine:
    """This machine's container engine."""
    try:
        return connect()
    except CannotStart as error:
        pytest.fail(f"These tests need a container engine (`scripts/test` brings one). {error}")


@pytest.fixture(scope="session")
def base_image(engine: Engine) -> str:
    """The id of the project's base image, built when it is missing."""
    return images.ensure("base").config_digest


@pytest.fixture(scope="session")
def driver() -> tuple[str, ...]:
    """A command that answers whatever a test asks; see ``data/driver.py``."""
    return ("python3", "-I", "-c", DRIVER.read_text())


@pytest.fixture
def system(base_image: str, driver: tuple[str, ...]) -> Callable[..., SystemBox]:
    """Makes a system under test; takes the fields of a SystemBox."""
    return lambda **fields: SystemBox(base_image, **{"command": driver, **fields})


@pytest.fixture
def gateway(base_image: str, driver: tuple[str, ...]) -> Callable[..., GatewayBox]:
    """Makes a gateway that has no door but answers on its streams."""

    def make(**fields: object) -> GatewayBox:
        usual = {"first_line": b'{"id": 0, "verb": "echo"}', "network": "none", "command": driver}
        return GatewayBox(base_image, **{**usual, **fields})  # type: ignore[arg-type]

    return make


@pytest.fixture
def leases(tmp_path: Path) -> dict[str, str]:
    """An environment whose leases are this test's own."""
    return {"BENCH_LEASES": str(tmp_path / "leases")}


@pytest.fixture
def sandbox(engine: Engine, leases: dict[str, str]) -> Iterator[EngineSandbox]:
    """A sandbox, and the assertion that it left nothing."""
    with start(leases, engine=engine) as opened:
        yield opened
        lease = opened.lease.name
    assert left(engine, lease) == []


def left(engine: Engine, lease: str) -> list[str]:
    """Names of all containers and volumes that bear a lease."""
    query = {"all": "1", "filters": {"label": [f"memory-bench.lease={lease}"]}}
    containers = engine.call("GET", "/containers/json", query=query)
    volumes = engine.call("GET", "/volumes", query={"filters": query["filters"]})["Volumes"] or []
    return [c["Names"][0] for c in containers] + [v["Name"] for v in volumes]
