"""What holds for every test."""

import signal

import pytest
from hypothesis import settings

# How long an example takes says how busy a machine is, and nothing of what is tested.
settings.register_profile("bench", deadline=None)
settings.load_profile("bench")

NO_ENGINE = "unix:///nonexistent/engine.sock"


def pytest_configure() -> None:
    """Let tests be interrupted, and interrupt themselves: a shell that starts them in its
    background has them, and all that they start, ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _no_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that no other test than one marked ``containers`` can reach, so that none comes
    to need one."""
    if request.node.get_closest_marker("containers") is None:
        monkeypatch.setenv("DOCKER_HOST", NO_ENGINE)
