"""The gateway as the process it is: its lines, its signals, its end."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx2
import pytest

from runner.gateway.clock import set_offset
from runner.gateway.config import TableSource
from runner.gateway.wire import Wire, load_wire
from runner.model import Call
from runner.paths import root
from tests.gateway._setup import TABLE, config, raw, table

pytestmark = pytest.mark.slow
DEADLINE_S = 10.0
FAKETIME = next(
    (path for path in Path("/usr/lib").glob("*/faketime/libfaketime.so.1")),
    None,
)


class Gateway:
    def __init__(self, folder: Path, first_line: bytes) -> None:
        self.door, self.ledger = folder / "door", folder / "calls.jsonl"
        self.door.mkdir()
        command = [sys.executable, "-m", "runner.gateway"]
        command += ["--door", str(self.door), "--ledger", str(self.ledger)]
        self.process = subprocess.Popen(
            command,
            cwd=root(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.events: list[dict[str, Any]] = []
        self.asked = 0
        assert self.process.stdin is not None
        self.stdin = self.process.stdin
        self.stdin.write(first_line)
        self.stdin.flush()

    def line(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        assert said, self.process.stderr and self.process.stderr.read().decode()
        document: dict[str, Any] = json.loads(said)
        return document

    def ask(self, verb: str, **payload: Any) -> dict[str, Any]:
        self.asked += 1
        return self.send(json.dumps({"id": self.asked, "verb": verb, **payload}).encode())

    def send(self, line: bytes) -> dict[str, Any]:
        self.stdin.write(line + b"\n")
        self.stdin.flush()
        while "event" in (said := self.line()):
            self.events.append(said)
        return said

    def post(self, sent: bytes) -> httpx2.Response:
        transport = httpx2.HTTPTransport(uds=str(self.door / "model.sock"))
        with httpx2.Client(transport=transport) as client:
            return client.post("http://door/v1/messages", content=sent)

    def lines(self) -> list[Call]:
        return [Call.model_validate_json(line) for line in self.ledger.read_text().splitlines()]


def long(characters: int) -> TableSource:
    """A table whose one answer is long and costs next to nothing."""
    text = "x" * characters
    return table(f'schema = 1\n[[answer]]\nid = "x"\ntext = "{text}"\nusage = {{ output = 1 }}\n')


@contextmanager
def running(folder: Path, **changed: Any) -> Iterator[Gateway]:
    gateway = Gateway(folder, config(**changed).first_line())
    try:
        assert gateway.line() == {"event": "ready"}
        yield gateway
    finally:
        gateway.process.kill()
        gateway.process.wait(DEADLINE_S)
        for pipe in (gateway.stdin, gateway.process.stdout, gateway.process.stderr):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


def test_a_run_from_the_first_line_to_the_last(tmp_path: Path) -> None:
    with running(tmp_path, max_usd=Decimal("0.5")) as gateway:
        assert gateway.ask("step", name="deposit reader-01.md")["ok"]
        assert gateway.post(raw()).status_code == 200
        assert gateway.ask("step", name="consolidate")["result"] == {}
        assert gateway.post(raw("cached", stream=True)).status_code == 200
        totals = gateway.ask("totals")
        assert totals["id"] == 3
        assert totals["ms"] < 1000
        assert datetime.fromisoformat(totals["now"]).tzinfo is not None
        closed = gateway.ask("close")
        assert closed["result"] == totals["result"]
        assert gateway.process.wait(DEADLINE_S) == 0
        lines = gateway.lines()
        followed = [Call.model_validate(event["call"]) for event in gateway.events]
        assert not (gateway.door / "model.sock").exists()
    assert lines == followed
    assert [line.step for line in lines] == ["deposit reader-01.md", "consolidate"]
    assert totals["result"]["calls"] == totals["result"]["lines"] == 2
    assert totals["result"]["usage"]["cache_write_1h"] == 30
    spent = sum((line.cost_usd for line in lines), Decimal(0))
    assert Decimal(totals["result"]["settled_usd"]) == spent


def test_how_the_run_ended_is_said_once_and_kept(tmp_path: Path) -> None:
    with running(tmp_path) as gateway:
        assert gateway.post(raw("unheard")).status_code == 403
        assert gateway.post(raw()).status_code == 403
        totals = gateway.ask("totals")["result"]
        ended = [event["ending"] for event in gateway.events if event["event"] == "ended"]
    assert ended == [totals["ending"]]
    assert (ended[0]["outcome"], ended[0]["kind"]) == ("invalid", "script_missing")
    assert (totals["lines"], totals["calls"]) == (2, 0)


BAD_REQUESTS = {
    b"{": "unexpected end",
    b"[]": "JSON object",
    b'{"id": 7}': "unknown verb None",
    b'{"id": 7, "verb": "dance"}': "unknown verb 'dance'",
    b'{"id": 7, "verb": ["close"]}': "unknown verb",
    b'{"id": 7, "verb": "step"}': "name",
    b'{"id": 7, "verb": "clock", "offset_s": "1"}': "offset_s",
    b'{"id": 7, "verb": "clock", "offset_s": true}': "offset_s",
}


def test_a_bad_request_is_told_and_harms_nothing(tmp_path: Path) -> None:
    with running(tmp_path) as gateway:
        for line, told in BAD_REQUESTS.items():
            reply = gateway.send(line)
            assert not reply["ok"]
            assert reply["error"]["type"] == "bad_request"
            assert told in reply["error"]["message"]
            assert reply["id"] == (7 if b"7" in line else None)
        assert gateway.ask("totals")["ok"]


@pytest.mark.parametrize("how", ["end of input", "SIGTERM", "SIGINT"])
def test_it_ends_by_itself_when_nobody_is_left(tmp_path: Path, how: str) -> None:
    with running(tmp_path) as gateway:
        assert gateway.post(raw()).status_code == 200
        started = time.monotonic()
        if how == "end of input":
            gateway.stdin.close()
        else:
            gateway.process.send_signal(getattr(signal, how))
        assert gateway.process.wait(DEADLINE_S) == 0
        assert time.monotonic() - started < 3
        assert len(gateway.lines()) == 1
        assert not (gateway.door / "model.sock").exists()
        assert gateway.process.stderr is not None
        assert gateway.process.stderr.read() == b""


def test_what_was_answered_is_on_the_disk_after_a_kill(tmp_path: Path) -> None:
    with running(tmp_path) as gateway:
        for _ in range(5):
            assert gateway.post(raw()).status_code == 200
        gateway.process.kill()
        assert len(gateway.lines()) == 5


def test_a_client_that_holds_its_stream_does_not_keep_it_alive(tmp_path: Path) -> None:
    with running(tmp_path, tables=(long(4_000_000),)) as gateway:
        transport = httpx2.HTTPTransport(uds=str(gateway.door / "model.sock"))
        with (
            httpx2.Client(transport=transport) as client,
            client.stream("POST", "http://door/v1/messages", content=raw("long", stream=True)),
        ):
            gateway.stdin.close()
            assert gateway.process.wait(DEADLINE_S) == 0
        assert len(gateway.lines()) == 1


def test_an_idle_connection_does_not_delay_the_end(tmp_path: Path) -> None:
    with running(tmp_path) as gateway:
        transport = httpx2.HTTPTransport(uds=str(gateway.door / "model.sock"))
        with httpx2.Client(transport=transport) as client:
            assert client.post("http://door/v1/messages", content=raw()).status_code == 200
            started = time.monotonic()
            assert gateway.ask("close")["ok"]
            assert gateway.process.wait(DEADLINE_S) == 0
            assert time.monotonic() - started < 2


def test_a_reader_that_does_not_read_holds_up_no_call(tmp_path: Path) -> None:
    with running(tmp_path) as gateway:
        gateway.ask("step", name="x" * 20_000)
        for _ in range(10):  # far more than a pipe holds
            assert gateway.post(raw()).status_code == 200
        assert gateway.ask("totals")["result"]["lines"] == 10


def test_a_table_of_any_size_fits_the_first_line(tmp_path: Path) -> None:
    with running(tmp_path, tables=(long(3_000_000),)) as gateway:
        assert len(gateway.post(raw("long")).text) > 3_000_000


def test_no_input_at_all_is_no_error(tmp_path: Path) -> None:
    gateway = Gateway(tmp_path, b"")
    out, _ = gateway.process.communicate()
    assert (gateway.process.returncode, out) == (0, b"")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"wire": "nowhere:Wire"}, "cannot be imported"),
        ({"names": {}}, "unknown placeholder {greeting}"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_told_without_its_key(
    tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    document = json.loads(config(key="sk-very-secret").first_line())
    assert document["key"] == "sk-very-secret"
    gateway = Gateway(tmp_path, json.dumps(document | change).encode() + b"\n")
    out, err = gateway.process.communicate()
    assert gateway.process.returncode == 2
    said = json.loads(out)
    assert (said["event"], said["error"]["type"]) == ("failed", "bad_config")
    assert told in said["error"]["message"]
    assert b"sk-very-secret" not in out + err


@pytest.mark.parametrize(
    "change", [{"arm": "guess"}, {"max_usd": "-1"}, {"model": ""}, {"run": ""}]
)
def test_a_configuration_says_which_field_is_wrong(change: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=next(iter(change))):
        config(**change)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("nowhere:Wire", "cannot be imported"),
        ("json:nothing", "cannot be imported"),
        ("json:loads", "is no wire"),
        ("json", r"package\.module:Attribute"),
    ],
)
def test_what_is_no_wire_is_told(spec: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        load_wire(spec)
    assert isinstance(load_wire("tests.gateway._wire:PlainWire"), Wire)
    assert isinstance(load_wire("tests.gateway._wire:plain"), Wire)


def test_a_table_that_is_not_what_its_digest_says_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the table test\.toml has digest"):
        table(TABLE).model_validate({**table(TABLE).model_dump(), "content": TABLE + " "})


def test_only_the_first_line_shows_the_key() -> None:
    with_key = config(key="sk-very-secret")
    assert b"sk-very-secret" in with_key.first_line()
    assert "sk-very-secret" not in with_key.model_dump_json() + repr(with_key)


# ---------------------------------------------------------------- the clock


def test_the_clock_file_is_replaced_whole_and_removed(tmp_path: Path) -> None:
    with running(tmp_path) as gateway:
        clock = gateway.door / "clock"
        for offset, written in ((-86400, "-86400.000000"), (12.5, "+12.500000"), (0, "+0.000000")):
            assert gateway.ask("clock", offset_s=offset)["ok"]
            assert clock.read_text() == f"{written}\n"
            assert clock.stat().st_mode & 0o777 == 0o644
        assert gateway.ask("clock", offset_s=None)["ok"]
        assert not clock.exists()
        assert gateway.ask("clock")["ok"]
        assert sorted(path.name for path in gateway.door.iterdir()) == ["model.sock"]


@pytest.mark.parametrize("offset", [float("nan"), float("inf")])
def test_what_is_no_number_of_seconds_is_refused(tmp_path: Path, offset: float) -> None:
    with pytest.raises(ValueError, match="no number of seconds"):
        set_offset(tmp_path / "clock", offset)
    assert list(tmp_path.iterdir()) == []


def test_a_clock_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with running(tmp_path) as gateway:
        shutil.rmtree(gateway.door)
        reply = gateway.ask("clock", offset_s=1)
    assert reply["error"]["type"] == "internal"


@pytest.mark.skipif(FAKETIME is None, reason="libfaketime is not installed")
@pytest.mark.parametrize("offset", [-7862400.25, 12.5, 0.0, 31536000.0, -1e-7])
def test_libfaketime_reads_what_is_written(tmp_path: Path, offset: float) -> None:
    clock = tmp_path / "clock"
    set_offset(clock, offset)
    preload = {
        "LD_PRELOAD": str(FAKETIME),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    before = datetime.now(UTC).timestamp()
    seen = subprocess.run(
        [sys.executable, "-c", "import time; print(time.time())"],
        env={**os.environ, **preload},
        capture_output=True,
        text=True,
        check=True,
    )
    after = datetime.now(UTC).timestamp()
    assert before + offset - 0.01 <= float(seen.stdout) <= after + offset + 0.01
