"""Where the provider's key is not, and what of a user's own reaches a run."""

import gzip
import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runner.runs.sandbox import Engine, EngineRefused
from tests.containers._bench import Bench
from tests.containers._standin import StandIn, standing_in

pytestmark = pytest.mark.containers

CANARY = "sk-canary-7f3a91c04de8b52640"
SYSTEM_VARIABLES = {
    "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "BENCH_SETTINGS", "HOME", "HOSTNAME", "LANG",
    "PATH", "PWD", "PYTHONHASHSEED", "TZ",
}  # fmt: skip
"""All that a system under test is told by its environment, whatever the user's holds."""
DRIVER_VARIABLES = SYSTEM_VARIABLES | {
    "FAKETIME_DONT_FAKE_MONOTONIC", "FAKETIME_FORCE_MONOTONIC_FIX", "FAKETIME_NO_CACHE",
    "FAKETIME_TIMESTAMP_FILE", "LD_PRELOAD",
    "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED",
}  # fmt: skip
GATEWAY_VARIABLES = {
    "BENCH_RESULTS", "BENCH_ROOT", "HOME", "HOSTNAME", "LANG", "PATH", "PYTHONDONTWRITEBYTECODE",
    "TZ",
}  # fmt: skip
USERS_OWN = {
    "ANTHROPIC_AUTH_TOKEN": "login-of-the-user",
    "ANTHROPIC_BASE_URL": "http://elsewhere.example",
    "ANTHROPIC_MODEL": "another-model",
    "CLAUDE_CODE_OAUTH_TOKEN": "login-of-the-user",
    "OPENAI_API_KEY": "login-of-the-user",
    "HTTP_PROXY": "http://user:password@proxy.example:3128",
    "http_proxy": "http://user:password@proxy.example:3128",
    "ALL_PROXY": "socks5://proxy.example",
    "PYTHONPATH": "",
    "LD_LIBRARY_PATH": "/of/the/user",
    "AWS_SECRET_ACCESS_KEY": "login-of-the-user",
}


class Onlooker(threading.Thread):
    """Writes down what an engine and this machine's kernel tell of a bench's containers."""

    def __init__(self, engine: Engine, domain: Path) -> None:
        super().__init__(daemon=True)
        self._engine = engine
        self._domain = domain
        self._over = threading.Event()
        self.described: dict[str, dict[str, Any]] = {}
        """Containers by name, as the engine describes them."""
        self.environments: dict[tuple[str, str], set[str]] = {}
        """Names of variables of every process, by role and command."""
        self.text: list[str] = []
        """All there was to read."""

    def run(self) -> None:
        while not self._over.wait(0.05):
            try:
                self._look()
            except (EngineRefused, OSError):
                continue  # it went while it was looked at

    def stop(self) -> None:
        self._over.set()
        self.join(10)

    def _look(self) -> None:
        if not self._domain.exists():
            return
        mine = self._domain.read_text()
        query = {"all": "1", "filters": {"label": ["memory-bench.lease"]}}
        for row in self._engine.call("GET", "/containers/json", query=query):
            if not row["Labels"].get("memory-bench.domain", "").startswith(mine):
                continue
            shown = self._engine.call("GET", f"/containers/{row['Id']}/json", missing_ok=True)
            if shown is None:
                continue
            self.described[row["Names"][0]] = shown
            self.text.append(json.dumps(shown))
            if shown["State"]["Running"]:
                self._processes(row["Id"], row["Labels"]["memory-bench.role"])
        for volume in self._engine.call("GET", "/volumes")["Volumes"] or ():
            if mine in json.dumps(volume):
                self.text.append(json.dumps(volume))

    def _processes(self, container: str, role: str) -> None:
        top = self._engine.call("GET", f"/containers/{container}/top", missing_ok=True)
        for process in (top or {}).get("Processes") or ():
            folder = Path("/proc", process[top["Titles"].index("PID")])
            try:
                command = (folder / "cmdline").read_bytes()
                environment = (folder / "environ").read_bytes()
            except OSError:
                continue
            name = command.split(b"\0")[0].decode().rpartition("/")[2]
            names = {line.partition(b"=")[0].decode() for line in environment.split(b"\0") if line}
            # Until it becomes the container's, the engine's own process has its own variables.
            if (name, command.split(b"\0")[1:2]) != ("runc", [b"init"]):
                self.environments.setdefault((role, name), set()).update(names)
            self.text += [
                command.decode("utf-8", "replace"),
                environment.decode("utf-8", "replace"),
            ]


@pytest.fixture
def upstream(engine: Engine) -> Iterator[StandIn]:
    with standing_in(engine) as running:
        yield running


@pytest.fixture
def bench(engine: Engine, tmp_path: Path) -> Bench:
    state = {"BENCH_STATE": str(tmp_path / "state"), "HTTPS_PROXY": "", "https_proxy": ""}
    return Bench(tmp_path, env={**USERS_OWN, **state, "ANTHROPIC_API_KEY": CANARY}, engine=engine)


@pytest.fixture
def onlooker(engine: Engine, bench: Bench) -> Iterator[Onlooker]:
    looking = Onlooker(engine, bench.leases / "domain")
    looking.start()
    yield looking
    looking.stop()


def holding(text: str | bytes) -> bool:
    """Whether there is a key in it, in any of the ways it could be written."""
    raw = text.encode() if isinstance(text, str) else text
    return any(form in raw for form in (CANARY.encode(), CANARY.encode()[3:][::-1]))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root reads what other processes are told")
def test_the_key_is_at_the_gateways_door_and_nowhere_else(
    bench: Bench, upstream: StandIn, onlooker: Onlooker, engine: Engine
) -> None:
    done = bench.run("--arm", "record", *upstream.options, "--cassette", "c.gz", "--yes",
                     "--move-runs", "1", "--trip-alone-runs", "1", "-o", "report.json",
                     "--keep", "kept", "--save-profile")  # fmt: skip
    assert done.returncode == 0, done.stderr
    # A call that fails for good is told of in many places, and this provider repeats what it got.
    said = f"invalid x-api-key {CANARY}"
    upstream.usual(status=401, kind="authentication_error", message=said)
    failed = bench.run("--arm", "live", *upstream.options, "--yes", "-o", "failed.json",
                       "--move-runs", "1", "--trip-alone-runs", "0", "--keep", "kept")  # fmt: skip
    assert failed.returncode == 5, failed.stderr
    onlooker.stop()

    keys = {row["headers"].get("x-api-key") for row in upstream.seen()}
    assert keys == {CANARY}, "the provider got it"
    assert not any("authorization" in row["headers"] for row in upstream.seen())

    roles = {
        shown["Config"]["Labels"]["memory-bench.role"] for shown in onlooker.described.values()
    }
    assert roles == {"system", "gateway"}
    assert len(onlooker.described) == 6
    assert ("gateway", "python") in onlooker.environments, onlooker.environments.keys()
    for text in (*onlooker.text, done.stdout, done.stderr, failed.stdout, failed.stderr):
        assert not holding(text)

    files = [path for path in bench.folder.rglob("*") if path.is_file()]
    names = {path.name for path in files}
    assert {"report.json", "failed.json", "c.gz", "profiles.json", "system.log"} <= names
    assert any(path.suffix == ".tar" for path in files)
    for path in files:
        raw = path.read_bytes()
        assert not holding(gzip.decompress(raw) if path.name == "c.gz" else raw), path

    for image in {shown["Image"] for shown in onlooker.described.values()}:
        assert not holding(json.dumps(engine.call("GET", f"/images/{image}/json")))
        assert not holding(json.dumps(engine.call("GET", f"/images/{image}/history")))
        saved = subprocess.Popen(["docker", "save", image], stdout=subprocess.PIPE)
        found = subprocess.run(["grep", "--count", "--binary", CANARY], stdin=saved.stdout,
                               capture_output=True, check=False)  # fmt: skip
        assert found.stdout.strip() == b"0", found
        assert saved.wait() == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root reads what other processes are told")
def test_nothing_of_the_users_environment_reaches_a_run(
    bench: Bench, upstream: StandIn, onlooker: Onlooker
) -> None:
    done = bench.run("--arm", "live", *upstream.options, "--yes", "--move-runs", "1",
                     "--trip-alone-runs", "0", "-o", "report.json", "-q")  # fmt: skip
    assert done.returncode == 0, done.stderr
    time.sleep(0.1)
    onlooker.stop()
    seen = onlooker.environments
    assert {role for role, _ in seen} == {"system", "gateway"}
    for (role, command), names in seen.items():
        allowed = GATEWAY_VARIABLES if role == "gateway" else DRIVER_VARIABLES
        assert names <= allowed, (role, command, names - allowed)
    for text in onlooker.text:
        for value in ("login-of-the-user", "proxy.example", "elsewhere.example", "/of/the/user"):
            assert value not in text
    for shown in onlooker.described.values():
        variables = dict(line.split("=", 1) for line in shown["Config"]["Env"])
        if shown["Config"]["Labels"]["memory-bench.role"] == "system":
            assert variables["ANTHROPIC_API_KEY"] == "none"
            assert variables["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:8080"
        else:
            assert "ANTHROPIC_API_KEY" not in variables


def test_a_scripted_run_does_not_even_look_for_a_key(bench: Bench) -> None:
    bench.env["ANTHROPIC_API_KEY_FILE"] = "/nonexistent"
    bench.env["ANTHROPIC_API_KEY"] = "no\nkey"
    done = bench.run("--arm", "scripted", "--move-runs", "0", "--trip-alone-runs", "1",
                     "-o", "x.json", "-q")  # fmt: skip
    assert done.returncode == 0, done.stderr
