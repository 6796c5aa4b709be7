"""One run of linkedparticles as the processes it is, through the gateway as the process it is."""

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

from runner.gateway.config import GatewayConfig, TableSource
from runner.model import Call, CheckResult, Ending, Step, Store
from runner.paths import fixtures, root
from runner.prices import load_prices
from runner.runs.clock import Clock
from runner.suites.trip_vs_move import Case, check_all, steps
from runner.systems.particles.reader import FILE, read
from tests.particles._relay import relay

MODEL = "claude-sonnet-5-5"
FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
PURPOSES = (
    *("default", "extraction", "semantic_lint", "query_response", "synthesis", "benchmark"),
    *("benchmark_answer", "abstraction", "verification", "subject_resolution", "use_judge"),
)
VERB_S = 180.0


@dataclass(frozen=True)
class Installed:
    """Where ``scripts/particles_venv.py`` put it."""

    python: Path
    hub: Path


@dataclass
class Ran:
    """What a run left behind."""

    calls: list[Call] = field(default_factory=list)
    stores: dict[str, Store] = field(default_factory=dict)
    results: tuple[CheckResult, ...] = ()
    ending: Ending | None = None
    """Of the gateway; none where nothing was amiss."""
    output: dict[str, str] = field(default_factory=dict)

    @property
    def final(self) -> Store:
        return self.stores["consolidate"]

    def verdicts(self) -> dict[int, bool]:
        return {result.version: result.passed for result in self.results}

    def asked(self) -> list[tuple[str, str, str]]:
        return [(call.step, call.purpose, call.prompt_sha256) for call in self.calls]


def scripted(case: Case, **changed: Any) -> GatewayConfig:
    """A gateway that answers out of the case's own table."""
    content = (fixtures() / "scripted" / "particles" / f"{case.script}.toml").read_text()
    digest = hashlib.sha256(content.encode()).hexdigest()
    values: dict[str, Any] = {
        "run": "particles",
        "arm": "scripted",
        "wire": "runner.systems.particles.wire:ParticlesWire",
        "tables": (TableSource(name=case.script, content=content, sha256=digest),),
        "names": dict(case.names),
        "model": MODEL,
        "prices": load_prices().models,
        **changed,
    }
    return GatewayConfig(**values)


def run(
    installed: Installed,
    folder: Path,
    case: Case,
    kind: str,
    config: GatewayConfig | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
) -> Ran:
    """Every step of one run, each a process of its own on its note's day."""
    ran = Ran()
    with gateway(folder, config or scripted(case)) as door, relay(door.socket) as port:
        box = Box(installed, folder, port, door.clock, settings or {}, env or {})
        door.ask("clock", offset_s=0.0)
        box.particles("db", "init")
        last_seen: datetime | None = None
        for step in steps(case, kind):
            door.ask("step", name=step.name)
            now = datetime.now(UTC)
            offset = Clock("note").offset(step.day, now=now, not_before=last_seen)
            door.ask("clock", offset_s=offset)
            ran.output[step.name] = box.step(step)
            last_seen = box.now()
            if step.snapshot or step.verb == "consolidate":
                ran.stores[step.name] = box.read(step.name)
        totals = door.ask("totals")
        ran.ending = totals["ending"] and Ending.model_validate(totals["ending"])
        ran.calls = door.calls()
    ran.results = check_all(case, kind, ran.stores)
    return ran


class Box:
    """One fresh home with one store, and the environment its processes see."""

    def __init__(
        self,
        installed: Installed,
        folder: Path,
        port: int,
        clock: Path,
        settings: Mapping[str, Any],
        env: Mapping[str, str],
    ) -> None:
        assert FAKETIME is not None
        self._command = str(installed.python.with_name("particles"))
        self._python = str(installed.python)
        self.home = folder / "home"
        self.notes = self.home / "notes"
        self.notes.mkdir(parents=True)
        self.store = self.home / "p.db"
        (self.home / "config.yaml").write_text(json.dumps(_config(port, settings)))
        self._env = {
            "HOME": str(self.home),
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "HF_HOME": str(installed.hub),
            "OPENBLAS_NUM_THREADS": "1",
            "DATABASE_URL": f"sqlite+aiosqlite:///{self.store}",
            "PARTICLES_BLOB_DIR": str(self.home / "blobs"),
            "PARTICLES_CONFIG": str(self.home / "config.yaml"),
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
            **env,
        }
        self._clock = {
            "LD_PRELOAD": str(FAKETIME),
            "FAKETIME_TIMESTAMP_FILE": str(clock),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    def step(self, step: Step) -> str:
        if step.verb == "consolidate":
            return self.particles("memory", "consolidate", "--scope", "store")
        note = self.notes / step.payload["name"]
        note.write_text(step.payload["text"])
        noon = datetime.combine(date.fromisoformat(step.payload["day"]), time(12, tzinfo=UTC))
        os.utime(note, (noon.timestamp(), noon.timestamp()))
        return self.particles("audit", str(self.notes), "--yes")

    def particles(self, *arguments: str) -> str:
        return self._spawned([self._command, *arguments])

    def now(self) -> datetime:
        """What a process in here reads off its clock."""
        say = "import datetime; print(datetime.datetime.now(datetime.UTC).isoformat())"
        return datetime.fromisoformat(self._spawned([self._python, "-Ic", say]).strip())

    def read(self, step: str) -> Store:
        """The store as a snapshot of it says."""
        snapshot = self.home / f"after {step}"
        snapshot.mkdir()
        source, target = sqlite3.connect(self.store), sqlite3.connect(snapshot / FILE)
        with source, target:
            source.backup(target)
        source.close()
        target.close()
        return read(snapshot)

    def _spawned(self, command: list[str]) -> str:
        done = subprocess.run(
            command,
            env=self._env
            | (self._clock if Path(self._clock["FAKETIME_TIMESTAMP_FILE"]).exists() else {}),
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=VERB_S,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout + done.stderr


def _config(port: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    batch = {"enabled": False, **settings.get("batch", {})}
    admits = settings.get("same_slot_admits", True)
    return {
        "network": {"egress": "allowlist", "allow": [{"host": "127.0.0.1", "port": port}]},
        "llm": {
            **{purpose: {"provider": "anthropic", "model": MODEL} for purpose in PURPOSES},
            "batch": batch,
        },
        "reconciliation": {"update_supersession": {"same_slot_admits": admits}},
    }


class Door:
    """A gateway process, spoken to over its lines."""

    def __init__(self, folder: Path, config: GatewayConfig) -> None:
        self._folder = folder / "door"
        self._folder.mkdir(parents=True)
        self.socket = self._folder / "model.sock"
        self.clock = self._folder / "clock"
        self._ledger = folder / "calls.jsonl"
        command = [sys.executable, "-m", "runner.gateway"]
        command += ["--door", str(self._folder), "--ledger", str(self._ledger)]
        self.process = subprocess.Popen(
            command,
            cwd=root(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(folder / "gateway.log").open("wb"),
        )
        self._asked = 0
        self._send(config.first_line())
        while self._line().get("event") != "ready":
            pass

    def ask(self, verb: str, **payload: Any) -> dict[str, Any]:
        self._asked += 1
        self._send(json.dumps({"id": self._asked, "verb": verb, **payload}).encode() + b"\n")
        while "event" in (said := self._line()):
            pass
        assert said["ok"], said
        result: dict[str, Any] = said["result"]
        return result

    def calls(self) -> list[Call]:
        return [Call.model_validate_json(line) for line in self._ledger.read_text().splitlines()]

    def _send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def _line(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        assert said, "the gateway ended"
        document: dict[str, Any] = json.loads(said)
        return document


@contextmanager
def gateway(folder: Path, config: GatewayConfig) -> Iterator[Door]:
    """A gateway for as long as the block lasts."""
    door = Door(folder, config)
    try:
        yield door
    finally:
        door.process.kill()
        door.process.wait(10)
        for pipe in (door.process.stdin, door.process.stdout):
            with suppress(OSError):
                assert pipe is not None
                pipe.close()
