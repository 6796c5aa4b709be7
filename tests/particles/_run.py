"""One run of linkedparticles as the processes it is, through the gateway as the process it is."""

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from runner.gateway.cassette import Entry
from runner.gateway.config import GatewayConfig, TableSource
from runner.model import Call, CheckResult, Ending, Step, Store, Usage
from runner.paths import fixtures, images, root
from runner.prices import load_prices
from runner.runs.clock import Clock
from runner.suites.trip_vs_move import Case, check_all, steps
from runner.systems.particles.reader import FILE, read
from tests.particles._relay import relay

MODEL = "claude-sonnet-5-5"
WIRE = "runner.systems.particles.wire:ParticlesWire"
FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
PURPOSES = (
    *(
        "default",
        "extraction",
        "semantic_lint",
        "query_response",
        "synthesis",
        "benchmark",
    ),
    *(
        "benchmark_answer",
        "abstraction",
        "verification",
        "subject_resolution",
        "use_judge",
    ),
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
    recorded: tuple[Entry, ...] = ()

    @property
    def final(self) -> Store:
        return self.stores["consolidate"]

    def verdicts(self) -> dict[int, bool]:
        return {result.version: result.passed for result in self.results}

    def asked(self) -> list[tuple[str, str, str]]:
        return [(call.step, call.purpose, call.prompt_sha256) for call in self.calls]

    def usage(self) -> list[tuple[str, str, Usage, Decimal, str | None, str | None]]:
        return [
            (
                call.step,
                call.purpose,
                call.usage,
                call.cost_usd,
                call.served_model,
                call.stop_reason,
            )
            for call in self.calls
        ]


def scripted(case: Case, **changed: Any) -> GatewayConfig:
    """A gateway that answers out of the case's own table."""
    content = (fixtures() / "scripted" / "particles" / f"{case.script}.toml").read_text()
    digest = hashlib.sha256(content.encode()).hexdigest()
    values: dict[str, Any] = {
        "run": "particles",
        "arm": "scripted",
        "wire": WIRE,
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
    options: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    clock: str = "note",
    box: type["Box"] | None = None,
) -> Ran:
    """Every step of one run on its day: through the driver, or as ``box`` says."""
    ran = Ran()
    with ExitStack() as stack:
        door = stack.enter_context(gateway(folder, config or scripted(case)))
        port = stack.enter_context(relay(door.socket))
        door.ask("clock", offset_s=0.0)
        made = (box or DriverBox)(installed, folder, port, door.clock, options or {}, env or {})
        stack.callback(made.close)
        last_seen: datetime | None = None
        for step in steps(case, kind):
            if step.verb not in (box or DriverBox).verbs:
                continue
            door.ask("step", name=step.name)
            now = datetime.now(UTC)
            day = Clock(clock)
            door.ask("clock", offset_s=day.offset(step.day, now=now, not_before=last_seen))
            ran.output[step.name], last_seen = made.step(step)
            if step.snapshot or step.verb == "consolidate":
                ran.stores[step.name] = read(made.snapshot(step.name))
        totals = door.ask("totals")
        ran.ending = totals["ending"] and Ending.model_validate(totals["ending"])
        ran.calls, ran.recorded = door.calls(), tuple(door.recorded)
    ran.results = check_all(case, kind, ran.stores)
    return ran


class Box:
    """One fresh home with one store, and the environment its processes see."""

    verbs: tuple[str, ...] = ("deposit", "consolidate")
    """Of the steps of a run, which it does."""

    def __init__(
        self,
        installed: Installed,
        folder: Path,
        port: int,
        clock: Path,
        options: Mapping[str, Any],
        env: Mapping[str, str],
    ) -> None:
        assert FAKETIME is not None
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        self.installed = installed
        self.options = options
        self.port = port
        self.env = {
            "HOME": str(self.home),
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "HF_HOME": str(installed.hub),
            "OPENBLAS_NUM_THREADS": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
            "LD_PRELOAD": str(FAKETIME),
            "FAKETIME_TIMESTAMP_FILE": str(clock),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            # Waits of threads need no mending where that clock is true, and are slow when mended.
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",
            **env,
        }
        self.start()

    def start(self) -> None:
        raise NotImplementedError

    def step(self, step: Step) -> tuple[str, datetime]:
        """Do one step; gives what was said, and the time the system saw after it."""
        raise NotImplementedError

    def snapshot(self, step: str) -> Path:
        """A folder with a consistent copy of the store."""
        raise NotImplementedError

    def close(self) -> None:
        """Stop what still runs."""


class DriverBox(Box):
    """The image's driver, in a process of its own."""

    verbs = ("deposit", "consolidate", "recall")

    def start(self) -> None:
        exchange = self.home / "exchange"
        exchange.mkdir()
        settings = {"model": MODEL, "pins": {}, "options": dict(self.options)}
        self.process = subprocess.Popen(
            [str(self.installed.python), "-m", "particles_driver"],
            env=self.env
            | {
                "PYTHONPATH": str(images() / "particles"),
                "PYTHONDONTWRITEBYTECODE": "1",
                "BENCH_SETTINGS": json.dumps(settings),
                "BENCH_EXCHANGE": str(exchange),
            },
            cwd=self.home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(self.home / "driver.log").open("wb"),
        )
        self._asked = 0

    def ask(self, verb: str, **payload: Any) -> dict[str, Any]:
        """One request; gives the whole reply."""
        self._asked += 1
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(
            json.dumps({"id": self._asked, "verb": verb, **payload}).encode() + b"\n"
        )
        self.process.stdin.flush()
        said = self.process.stdout.readline()
        assert said, (self.home / "driver.log").read_text()[-3000:]
        reply: dict[str, Any] = json.loads(said)
        assert reply["id"] == self._asked
        return reply

    def result(self, verb: str, **payload: Any) -> dict[str, Any]:
        """One request that has to succeed; gives its result."""
        reply = self.ask(verb, **payload)
        assert reply["ok"], f"{reply}\n{(self.home / 'driver.log').read_text()[-3000:]}"
        result: dict[str, Any] = reply["result"]
        return result

    def step(self, step: Step) -> tuple[str, datetime]:
        reply = self.ask(step.verb, **step.payload)
        assert reply["ok"], f"{reply}\n{(self.home / 'driver.log').read_text()[-3000:]}"
        return json.dumps(reply["result"]), datetime.fromisoformat(reply["now"])

    def snapshot(self, step: str) -> Path:
        return Path(self.result("snapshot")["path"])

    def close(self) -> None:
        self.process.kill()
        self.process.wait(10)
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                assert pipe is not None
                pipe.close()


class CommandBox(Box):
    """The engine's own commands, each in a process of its own, as a user would type them."""

    def start(self) -> None:
        self.notes = self.home / "notes"
        self.notes.mkdir()
        self.store = self.home / "p.db"
        config = self.home / "config.yaml"
        config.write_text(json.dumps(self._config()))
        self.env |= {
            "DATABASE_URL": f"sqlite+aiosqlite:///{self.store}",
            "PARTICLES_BLOB_DIR": str(self.home / "blobs"),
            "PARTICLES_CONFIG": str(config),
        }
        self._command("db", "init")

    def step(self, step: Step) -> tuple[str, datetime]:
        if step.verb == "consolidate":
            said = self._command("memory", "consolidate", "--scope", "store")
        else:
            note = self.notes / step.payload["name"]
            note.write_text(step.payload["text"])
            now = self._now().timestamp()
            os.utime(note, (now, now))
            said = self._command("audit", str(self.notes), "--yes")
        return said, self._now()

    def snapshot(self, step: str) -> Path:
        folder = self.home / f"after {step}"
        folder.mkdir()
        with (
            closing(sqlite3.connect(self.store)) as source,
            closing(sqlite3.connect(folder / FILE)) as target,
        ):
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
        return folder

    def _config(self) -> dict[str, Any]:
        admits = self.options.get("same_slot_admits", True)
        return {
            "network": {
                "egress": "allowlist",
                "allow": [{"host": "127.0.0.1", "port": self.port}],
            },
            "llm": {
                **{purpose: {"provider": "anthropic", "model": MODEL} for purpose in PURPOSES},
                "batch": {"enabled": False},
            },
            "reconciliation": {"update_supersession": {"same_slot_admits": admits}},
        }

    def _command(self, *arguments: str) -> str:
        return self._spawned([str(self.installed.python.with_name("particles")), *arguments])

    def _now(self) -> datetime:
        say = "import datetime; print(datetime.datetime.now(datetime.UTC).isoformat())"
        said = self._spawned([str(self.installed.python), "-ISc", say])
        return datetime.fromisoformat(said.strip())

    def _spawned(self, command: list[str]) -> str:
        done = subprocess.run(
            command,
            env=self.env,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=VERB_S,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout + done.stderr


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
        self.recorded: list[Entry] = []
        self._send(config.first_line())
        while self._line().get("event") != "ready":
            pass

    def ask(self, verb: str, **payload: Any) -> dict[str, Any]:
        self._asked += 1
        self._send(json.dumps({"id": self._asked, "verb": verb, **payload}).encode() + b"\n")
        while "event" in (said := self._line()):
            if said["event"] == "recorded":
                self.recorded.append(Entry.model_validate(said["entry"]))
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
