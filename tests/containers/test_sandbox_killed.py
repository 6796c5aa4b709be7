"""Nothing goes on running, and nothing stays, in whatever way a bench ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from runner.runs.sandbox import (
    Domain,
    Engine,
    EngineSandbox,
    GatewayBox,
    SystemBox,
    clean,
    reap,
    start,
)
from runner.runs.sandbox._lease import LABEL_DOMAIN, LABEL_LEASE
from runner.runs.sandbox._reaper import FOREIGN_AGE, _dead, _survey, remove_lease
from tests.containers.conftest import left

pytestmark = pytest.mark.containers

OWNER = Path(__file__).parent / "data" / "owner.py"
System = Callable[..., SystemBox]
Gateway = Callable[..., GatewayBox]
Bench = Callable[[], tuple[subprocess.Popen[str], str]]


@pytest.fixture
def bench(base_image: str, leases: dict[str, str]) -> Iterator[Bench]:
    """Starts another process that holds a lease and opens a box: the process, and the lease."""
    started: list[subprocess.Popen[str]] = []

    def begin() -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(
            [sys.executable, str(OWNER), base_image],
            env={**os.environ, **leases},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        return process, process.stdout.readline().split()[1]

    yield begin
    for process in started:
        process.kill()
        process.wait()


def _opened(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline().startswith("open")


def _running(engine: Engine, lease: str) -> list[str]:
    filters = {"label": [f"{LABEL_LEASE}={lease}"], "status": ["running"]}
    found = engine.call("GET", "/containers/json", query={"filters": filters})
    return [container["Names"][0] for container in found]


def test_after_sigkill_all_stops_by_itself_and_is_reaped(
    engine: Engine, bench: Bench, leases: dict[str, str]
) -> None:
    process, lease = bench()
    _opened(process)
    domain = Domain.at(Path(leases["BENCH_LEASES"]))
    assert len(_running(engine, lease)) == 2
    assert domain.living() == (lease,)
    assert not any(lease[:8] in name for name in reap(engine, domain))
    assert len(_running(engine, lease)) == 2  # alive: left alone

    process.kill()
    process.wait()
    end = time.monotonic() + 10
    while _running(engine, lease) and time.monotonic() < end:
        time.sleep(0.1)
    assert _running(engine, lease) == []
    assert len(left(engine, lease)) == 5
    assert len(reap(engine, domain)) == 5
    assert left(engine, lease) == []
    assert domain.files() == ()
    assert reap(engine, domain) == ()


@pytest.mark.parametrize("after_s", [0.02, 0.05, 0.08, 0.11, 0.15, 0.2, 0.3, 0.4])
def test_sigkill_at_any_moment_of_opening_leaves_nothing_running(
    after_s: float, engine: Engine, bench: Bench, leases: dict[str, str]
) -> None:
    process, lease = bench()
    time.sleep(after_s)
    process.kill()
    process.wait()
    time.sleep(1.0)  # a start that was asked for may still be under way
    end = time.monotonic() + 9
    while _running(engine, lease) and time.monotonic() < end:
        time.sleep(0.1)
    assert _running(engine, lease) == []
    # A busy engine may still be making what it was asked for; then the start after next removes it.
    while True:
        reap(engine, Domain.at(Path(leases["BENCH_LEASES"])))
        if not left(engine, lease) or time.monotonic() > end:
            break
        time.sleep(0.5)
    assert left(engine, lease) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("after_s", [0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6])
def test_a_signal_at_any_moment_of_opening_leaves_nothing(
    number: signal.Signals, after_s: float, engine: Engine, bench: Bench
) -> None:
    process, lease = bench()
    time.sleep(after_s)
    process.send_signal(number)
    assert process.wait(10) != 0
    assert left(engine, lease) == []


def test_impatience_leaves_nothing_either(engine: Engine, bench: Bench) -> None:
    process, lease = bench()
    _opened(process)
    for _ in range(5):
        process.send_signal(signal.SIGINT)
        time.sleep(0.03)
    assert process.wait(10) != 0
    assert left(engine, lease) == []


def test_what_a_bench_elsewhere_left_is_spared_while_it_may_live(
    engine: Engine, base_image: str, leases: dict[str, str]
) -> None:
    body = {
        "Image": base_image,
        "Labels": {LABEL_LEASE: "abc", LABEL_DOMAIN: "elsewhere"},
        "Entrypoint": ["sleep", "60"],
        "HostConfig": {"NetworkMode": "none"},
    }
    name = "memory-bench-test-elsewhere"
    engine.call("DELETE", f"/containers/{name}", query={"force": "1"}, missing_ok=True)
    engine.call("POST", "/containers/create", query={"name": name}, body=body)
    domain = Domain.at(Path(leases["BENCH_LEASES"]))
    try:
        things = _survey(engine)["abc"]
        assert not _dead(domain, "abc", things)  # young
        things.youngest -= FOREIGN_AGE + timedelta(seconds=1)
        assert _dead(domain, "abc", things)
        engine.call("POST", f"/containers/{name}/start")
        things = _survey(engine)["abc"]
        things.youngest -= FOREIGN_AGE + timedelta(seconds=1)
        assert not _dead(domain, "abc", things)  # runs
        assert name not in reap(engine, domain)
        assert any(name in kept for kept in clean(engine, domain).kept)
        remove_lease(engine, "abc", deadline_s=10)
        assert left(engine, "abc") == []
    finally:
        engine.call("DELETE", f"/containers/{name}", query={"force": "1"}, missing_ok=True)


def test_clean_spares_the_living(
    engine: Engine,
    sandbox: EngineSandbox,
    system: System,
    gateway: Gateway,
    bench: Bench,
    leases: dict[str, str],
) -> None:
    process, lease = bench()
    _opened(process)
    process.kill()
    process.wait()
    domain = Domain.at(Path(leases["BENCH_LEASES"]))
    with sandbox.open("r", system(), gateway(), deadline_s=30) as box:
        cleaning = clean(engine, domain, images=True)
        box.system.request("echo", deadline_s=10)
        kept = " ".join(cleaning.kept)
        assert box.names.system in kept
        assert "images" in kept
    assert left(engine, lease) == []
    assert len([name for name in cleaning.removed if lease[:8] in name]) == 5


def test_a_closed_sandbox_gave_up_its_lease(engine: Engine, leases: dict[str, str]) -> None:
    with start(leases, engine=engine) as sandbox:
        domain = sandbox.lease.domain
        assert domain.living() == (sandbox.lease.name,)
    sandbox.close()
    assert domain.files() == ()
