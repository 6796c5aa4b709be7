"""The live gateway as the process it is: its key, its recordings, and its end in mid-call."""

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx2
import pytest

from runner.gateway.cassette import Entry
from runner.gateway.config import WayOut
from runner.model import Call, Usage
from runner.paths import root
from runner.prices import load_prices
from tests.gateway._setup import KEY, MODEL, config, raw
from tests.gateway.test_process import Gateway, running

PRICE = load_prices().models[MODEL]
pytestmark = pytest.mark.slow


@contextmanager
def standin(**usual: Any) -> Iterator[str]:
    """The stand-in as a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.standin"],
        cwd=root(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        url = f"http://127.0.0.1:{json.loads(process.stdout.readline())['port']}"
        with httpx2.Client() as client:
            client.post(f"{url}/_standin/usual", json=usual).raise_for_status()
        yield url
    finally:
        process.terminate()
        assert process.wait(10) == 0
        assert process.stdin is not None
        process.stdin.close()
        assert process.stdout is not None
        process.stdout.close()


def settings(url: str, arm: str = "live", **changed: Any) -> dict[str, Any]:
    way_out = WayOut(anthropic=url, allow_private=("127.0.0.1",))
    return {"arm": arm, "key": KEY, "tables": (), "way_out": way_out, **changed}


def in_flight(gateway: Gateway, **sent: Any) -> threading.Thread:
    """A call whose answer takes its time, made by somebody else."""

    def call() -> None:
        transport = httpx2.HTTPTransport(uds=str(gateway.door / "model.sock"))
        try:
            with httpx2.Client(transport=transport, timeout=30) as client:
                client.post("http://door/v1/messages", content=raw(**sent))
        except httpx2.HTTPError:
            pass

    thread = threading.Thread(target=call)
    thread.start()
    return thread


@pytest.mark.parametrize(
    ("how", "sent", "ends"),
    [
        ({"first_byte_s": 1}, {}, ("answered", ())),
        ({"pause_s": 0.1, "text": "x" * 300}, {"stream": True}, ("answered", ())),
        ({"first_byte_s": 60}, {}, ("failed", ("no_usage",))),
        ({"pause_s": 1, "text": "x" * 6000}, {"stream": True}, ("failed", ("broken",))),
    ],
)
def test_when_the_orchestrator_dies_in_mid_call_the_call_is_settled_and_the_gateway_goes(
    tmp_path: Path, how: dict[str, Any], sent: dict[str, Any], ends: Any
) -> None:
    with (
        standin(**how) as url,
        running(tmp_path, max_usd=Decimal(1), **settings(url)) as gateway,
    ):
        calling = in_flight(gateway, **sent)
        time.sleep(0.5)
        started = time.monotonic()
        # What a container's standard streams do when their client is killed.
        gateway.stdin.close()
        assert gateway.process.stdout is not None
        gateway.process.stdout.close()
        time.sleep(0.2)
        with pytest.raises(httpx2.HTTPError):
            gateway.post(raw("late")).raise_for_status()
        assert gateway.process.wait(10) == 0
        assert time.monotonic() - started < 10
        calling.join(10)
        lines = gateway.lines()
        calls = [line for line in lines if line.outcome != "refused"]
    assert len(lines) <= 2
    (line,) = calls
    assert (line.outcome, line.flags) == ends
    if line.outcome == "answered":
        assert line.cost_usd == PRICE.cost(Usage(input=100, output=20))
    elif line.streamed:
        assert line.cost_usd == PRICE.cost(Usage(input=100, output=1000))
    else:
        assert line.cost_usd == line.reserved_usd > 0


def test_nobody_sees_the_key(tmp_path: Path) -> None:
    told = {"status": 401, "message": f"{KEY} is wrong", "kind": "authentication_error"}
    with standin(**told) as url, running(tmp_path, **settings(url, "record")) as gateway:
        process = Path("/proc") / str(gateway.process.pid)
        for name in ("environ", "cmdline"):
            assert KEY.encode() not in (process / name).read_bytes()
        answer = gateway.post(raw())
        assert answer.status_code == 401
        assert gateway.ask("totals")["ok"]
        gateway.ask("close")
        assert gateway.process.wait(10) == 0
        assert gateway.process.stderr is not None
        shown = answer.content + gateway.ledger.read_bytes() + gateway.process.stderr.read()
        shown += json.dumps(gateway.events).encode()
        assert b"is wrong" in shown
        assert KEY.encode() not in shown


def test_what_is_recorded_follows_its_line_and_replays_in_another_process(tmp_path: Path) -> None:
    with (
        standin(tokens={"input": 300, "output": 40, "cache_read": 7}) as url,
        running(tmp_path, **settings(url, "record")) as gateway,
    ):
        seen = [gateway.post(raw(stream=stream)).content for stream in (False, True)]
        gateway.ask("close")
        events = gateway.events
    kinds = [event["event"] for event in events]
    assert kinds == ["call", "recorded", "call", "recorded"]
    entries = tuple(Entry.model_validate(row["entry"]) for row in events[1::2])
    again_in = tmp_path / "again"
    again_in.mkdir()
    with running(again_in, arm="replay", cassette=entries, tables=()) as gateway:
        again = [gateway.post(raw(stream=stream)).content for stream in (False, True)]
        closed = gateway.ask("close")["result"]
        replayed = [Call.model_validate(event["call"]) for event in gateway.events]
    assert again == seen
    assert closed["unused"] == []
    assert [line.usage.cache_read for line in replayed] == [7, 7]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"way_out": {"anthropic": "api.anthropic.com"}}, "is no endpoint"),
        ({"way_out": {"anthropic": "http://10.0.0.1"}}, "not a public address"),
        ({"way_out": {"authority": "nothing"}}, "no PEM"),
        ({"way_out": {"proxy": "socks5://user:secret-word@x"}}, "is no endpoint"),
        ({"way_out": {"elsewhere": "x"}}, "elsewhere"),
    ],
)
def test_a_way_out_that_cannot_be_used_is_told(
    tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    document = json.loads(config(arm="live", key=KEY).first_line())
    gateway = Gateway(tmp_path, json.dumps(document | change).encode() + b"\n")
    out, err = gateway.process.communicate(timeout=20)
    assert gateway.process.returncode == 2
    assert told in json.loads(out)["error"]["message"]
    assert KEY.encode() not in out + err
    assert b"secret-word" not in out + err


def test_the_stand_in_ends_with_its_starter() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.standin"],
        cwd=root(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    port = json.loads(process.stdout.readline())["port"]
    socket.create_connection(("127.0.0.1", port)).close()
    process.communicate(timeout=10)
    assert process.returncode == 0
