"""Runs on a real model's wire: live, recorded and replayed, with a provider of the tests' own."""

import re
import signal
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest
from pydantic import SecretStr

from runner import images
from runner.gateway import cassette
from runner.gateway.config import GatewayConfig, WayOut
from runner.model import Outcome, RunRecord
from runner.prices import load_prices
from runner.reports.schema import Report
from runner.runs.first_call import first_call_usd
from runner.runs.sandbox import Engine, EngineSandbox, GatewayBox, SystemBox
from runner.suites.registry import suite_of
from tests._trip import verdict_of
from tests.containers._bench import Bench, end, until
from tests.containers._standin import StandIn, standing_in

pytestmark = pytest.mark.containers

KEY = "sk-of-a-test-000000000000"
ONE_MOVE = ("--move-runs", "1", "--trip-alone-runs", "0", "--quiet")
MODEL = "claude-sonnet-5-5"


@pytest.fixture(scope="module")
def provider(engine: Engine) -> Iterator[StandIn]:
    with standing_in(engine) as running:
        yield running


@pytest.fixture
def upstream(provider: StandIn) -> Iterator[StandIn]:
    """The stand-in, with its usual habits afterwards."""
    yield provider
    provider.usual(status=200, first_byte_s=0.0, text="", stop_reason="end_turn", usage=True)


@pytest.fixture
def bench(engine: Engine, tmp_path: Path) -> Bench:
    env = {
        "ANTHROPIC_API_KEY": KEY,
        "BENCH_STATE": str(tmp_path / "state"),
        "HTTPS_PROXY": "",
        "https_proxy": "",
    }
    return Bench(tmp_path, env=env, engine=engine)


def outcomes(report: Report) -> list[tuple[str, str]]:
    return [(run.ending.outcome.value, run.ending.kind) for run in report.runs]


# ---------------------------------------------------------------- the whole protocol

_UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")


def without_ids_and_times(run: RunRecord) -> bytes:
    """Rows, events, usage and verdicts; ids numbered as they come up, times without their day's
    hours."""
    kept = run.model_dump(
        mode="json", include={"ending", "checks", "observations", "usage", "cost_usd"}
    )
    kept["stores"] = [(one.step, one.store.model_dump(mode="json")) for one in run.snapshots]
    volatile = {"latency_ms", "first_byte_ms", "reserved_usd", "source"}
    kept["calls"] = [call.model_dump(mode="json", exclude=volatile) for call in run.calls]
    # A store's rows are in the order of their ids, which are drawn anew.
    for _, store in kept["stores"]:
        store["claims"].sort(key=lambda claim: claim["text"])
    ids: dict[bytes, bytes] = {}
    plain = _TIME.sub(lambda found: found[0][:10], orjson.dumps(kept))
    return _UUID.sub(lambda found: ids.setdefault(found[0], b"id-%d" % len(ids)), plain)


def test_the_published_protocol_live_recorded_and_replayed(bench: Bench, upstream: StandIn) -> None:
    before = len(upstream.seen())
    done = bench.run("--arm", "record", *upstream.options, "--cassette", "c.gz", "--yes",
                     "--max-usd", "2", "-o", "recorded.json", "--quiet")  # fmt: skip
    assert done.returncode == 0, done.stderr
    recorded = bench.report("recorded.json")
    assert outcomes(recorded) == [("passed", "checks")] * 5
    assert recorded.verdict is not None
    assert verdict_of(recorded).bar_met is True
    assert recorded.spend.simulated is False
    calls = sum(len(run.calls) for run in recorded.runs)
    assert len(upstream.seen()) - before == calls
    assert all(call.served_model == MODEL for run in recorded.runs for call in run.calls)
    assert all(call.request_id.startswith("req_up_") for call in recorded.runs[0].calls)  # type: ignore[union-attr]
    gateway = recorded.runs[0].gateway
    assert gateway is not None
    assert gateway.network == "bridge"
    assert gateway.way_out is not None
    assert gateway.way_out.anthropic == upstream.url
    assert gateway.way_out.allow_private == (upstream.host,)

    tape = cassette.load(bench.folder / "c.gz")
    assert recorded.cassette is not None
    assert recorded.cassette.sha256 == tape.sha256()
    assert sum(len(entries) for entries in tape.runs.values()) == calls

    before = len(upstream.seen())
    bench.env["ANTHROPIC_API_KEY"] = ""
    done = bench.run("--arm", "replay", "--cassette", "c.gz", "--max-usd", "2",
                     "-o", "replayed.json", "--quiet")  # fmt: skip
    assert done.returncode == 0, done.stderr
    replayed = bench.report("replayed.json")
    assert len(upstream.seen()) == before, "somebody was asked"
    assert replayed.spend.simulated is True
    assert replayed.cassette is not None
    assert replayed.cassette.sha256 == tape.sha256()
    for ours, theirs in zip(replayed.runs, recorded.runs, strict=True):
        assert without_ids_and_times(ours) == without_ids_and_times(theirs)
        assert ours.gateway is not None
        assert ours.gateway.network == "none"
        assert not any("not used" in warning for warning in ours.warnings)

    # Another rule asks other questions: the recording has no answer, and says what came nearest.
    done = bench.run("--arm", "replay", "--cassette", "c.gz", "--model", "claude-sonnet-4-6",
                     "-o", "other.json", *ONE_MOVE)  # fmt: skip
    assert done.returncode == 2
    assert "no answers of claude-sonnet-4-6" in done.stderr
    done = bench.run("--arm", "record", *upstream.options, "--cassette", "c.gz", "--yes", "-q")
    assert done.returncode == 2
    assert "exists already" in done.stderr


def test_a_recording_of_other_calls_makes_the_run_invalid(bench: Bench, upstream: StandIn) -> None:
    done = bench.run("--arm", "record", *upstream.options, "--cassette", "c.gz", "--yes",
                     "-o", "recorded.json", *ONE_MOVE)  # fmt: skip
    assert done.returncode == 0, done.stderr
    tape = cassette.load(bench.folder / "c.gz")
    ((name, entries),) = tape.runs.items()
    cut = tape.model_copy(update={"runs": {name: entries[:3]}})
    cassette.save(cut, bench.folder / "short.gz")
    done = bench.run("--arm", "replay", "--cassette", "short.gz", "-o", "short.json", *ONE_MOVE)
    assert done.returncode == 4, done.stderr
    run = bench.report("short.json").runs[0]
    assert (run.ending.outcome, run.ending.kind) == (Outcome.INVALID, "cassette_missing")
    assert "nearest is number" in run.ending.detail

    longer = tape.model_copy(update={"runs": {name: (*entries, entries[0])}})
    cassette.save(longer, bench.folder / "long.gz")
    done = bench.run("--arm", "replay", "--cassette", "long.gz", "-o", "long.json", *ONE_MOVE)
    assert done.returncode == 0, done.stderr
    run = bench.report("long.json").runs[0]
    assert "1 recorded calls were not used: extraction in deposit reader-01.md." in run.warnings

    altered = bytearray((bench.folder / "c.gz").read_bytes())
    altered[len(altered) // 2] ^= 1
    (bench.folder / "altered.gz").write_bytes(altered)
    done = bench.run("--arm", "replay", "--cassette", "altered.gz", *ONE_MOVE)
    assert done.returncode == 7, done.stderr


# ---------------------------------------------------------------- money


def test_nothing_is_spent_before_somebody_says_so(bench: Bench, upstream: StandIn) -> None:
    before = len(upstream.seen())
    done = bench.run("--arm", "live", *upstream.options, "-o", "x.json")
    assert done.returncode == 8
    assert "Add --yes" in done.stderr
    assert "US$" in done.stderr
    done = bench.run("--arm", "live", *upstream.options, "--max-usd", "0.0092", "--yes")
    assert done.returncode == 2
    assert "at least 0.0093" in done.stderr
    assert len(upstream.seen()) == before
    assert not (bench.folder / "x.json").exists()


def test_the_first_call_sets_aside_what_was_said_before(bench: Bench, upstream: StandIn) -> None:
    done = bench.run("--arm", "live", *upstream.options, "--max-usd", "1", "--yes",
                     "-o", "x.json", *ONE_MOVE)  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = bench.report("x.json")
    first, price = report.runs[0].calls[0], load_prices().resolve(MODEL)
    assert first.max_tokens_sent is not None
    prompt = first.reserved_usd - price.output * first.max_tokens_sent / 1_000_000
    least = prompt + price.output * 64 / 1_000_000
    words = suite_of(report.case).first_words(report.case)
    said = first_call_usd("engine", report.suite, words, MODEL, load_prices())
    assert 0 <= said - least < Decimal("0.0001")


def test_a_total_is_never_passed_and_runs_it_cannot_hold_are_not_started(
    bench: Bench, upstream: StandIn
) -> None:
    done = bench.run("--arm", "live", *upstream.options, "--max-usd", "0.5",
                     "--max-usd-total", "0.53", "--jobs", "2", "--move-runs", "2",
                     "--trip-alone-runs", "1", "--yes", "-o", "x.json", "-q")  # fmt: skip
    assert done.returncode == 3, done.stderr
    report = bench.report("x.json")
    assert report.spend.max_usd_total == Decimal("0.53")
    assert report.spend.cost_usd <= Decimal("0.53")
    ended = outcomes(report)
    assert ended.count(("incomplete", "ceiling")) == 2
    unstarted = [run for run in report.runs if run.ending.kind == "ceiling"]
    for run in unstarted:
        assert "It was not started" in run.ending.detail
        assert (run.calls, run.steps) == ((), ())
    done = bench.run("--arm", "live", *upstream.options, "--max-usd", "0.5",
                     "--max-usd-total", "2", "--move-runs", "2", "--trip-alone-runs", "1",
                     "--yes", "-o", "x.json", "--resume", "-q")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert outcomes(bench.report("x.json")) == [("passed", "checks")] * 3


def test_a_reply_without_usage_is_charged_at_its_worst_and_is_no_verdict(
    bench: Bench, upstream: StandIn
) -> None:
    # Of a probe: extraction is streamed, and the client takes no stream without usage.
    upstream.then({}, {}, {"usage": False})
    done = bench.run("--arm", "live", *upstream.options, "--max-usd", "1", "--yes",
                     "-o", "x.json", *ONE_MOVE)  # fmt: skip
    assert done.returncode == 4, done.stderr
    run = bench.report("x.json").runs[0]
    assert (run.ending.outcome, run.ending.kind) == (Outcome.INVALID, "no_usage")
    (blind,) = (call for call in run.calls if "no_usage" in call.flags)
    assert blind.cost_usd == blind.reserved_usd > 0
    assert any("charged at the worst case" in warning for warning in run.warnings)
    assert bench.run("rescore", "x.json").returncode == 4


def test_measured_usage_is_kept_and_used_for_the_next_estimate(
    bench: Bench, upstream: StandIn
) -> None:
    done = bench.run("--estimate")
    assert "upper bound" in done.stdout
    done = bench.run("--arm", "live", *upstream.options, "--move-runs", "1",
                     "--trip-alone-runs", "1", "--yes", "--save-profile",
                     "-o", "x.json", "-q")  # fmt: skip
    assert done.returncode == 0, done.stderr
    spent = {run.spec.kind: run.cost_usd for run in bench.report("x.json").runs}
    done = bench.run("--estimate", "--move-runs", "1", "--trip-alone-runs", "1")
    assert "upper bound" not in done.stdout
    assert "runs on this machine" in done.stdout
    assert f"about US${sum(spent.values()):.4f}" in done.stdout
    assert "upper bound" in bench.run("--estimate", "--case", "mid-trip").stdout


# ---------------------------------------------------------------- failures are not verdicts


@pytest.mark.parametrize(
    ("how", "kind", "says"),
    [
        ({"status": 401, "kind": "authentication_error"}, "provider", "http_401"),
        ({"text": "I would rather not.", "stop_reason": "refusal"}, "unparseable_reply", "refusal"),
        ({"model": "claude-haiku-4-5"}, "wrong_model", "served by claude-haiku-4-5"),
    ],
)
def test_what_the_provider_fails_is_no_verdict(
    how: dict[str, Any], kind: str, says: str, bench: Bench, upstream: StandIn
) -> None:
    upstream.then({}, how) if kind == "wrong_model" else upstream.usual(**how)
    done = bench.run("--arm", "live", *upstream.options, "--yes", "-o", "x.json", *ONE_MOVE)
    run = bench.report("x.json").runs[0]
    assert done.returncode == {"wrong_model": 4}.get(kind, 5), done.stderr
    assert run.ending.kind == kind
    assert says in run.ending.detail
    assert run.checks == ()


# ---------------------------------------------------------------- a bench that is killed


@pytest.mark.parametrize(
    "next_start",
    [
        ("clean",),
        ("--arm", "scripted", "--move-runs", "0", "--trip-alone-runs", "1", "-o", "y.json"),
    ],
    ids=["clean", "run"],
)
def test_what_a_killed_bench_had_in_flight_is_settled_and_said_at_the_next_start(
    next_start: tuple[str, ...], bench: Bench, upstream: StandIn, engine: Engine
) -> None:
    upstream.usual(first_byte_s=2.0)
    before = len(upstream.seen())
    process = bench.start("--arm", "live", *upstream.options, "--max-usd", "1", "--yes",
                          "-o", "x.json", *ONE_MOVE)  # fmt: skip
    try:
        until(lambda: len(upstream.seen()) > before, 120)
        process.kill()
        process.communicate()
    finally:
        end(process)
    mine = {name for name in bench.left() if name.startswith("/")}
    asked = len(upstream.seen())

    def running() -> set[str]:
        found = engine.call("GET", "/containers/json")
        return {container["Names"][0] for container in found} & mine

    until(lambda: not running(), 10)
    assert len(upstream.seen()) == asked, "it went on asking"
    upstream.usual(first_byte_s=0.0)

    done = bench.run(*next_start)
    assert done.returncode == 0, done.stderr
    told = (done.stdout + done.stderr).replace("\n", " ")
    assert "reader-move-1: its bench was killed after 1 call, US$0.0231 spent" in told
    (ledger,) = (bench.folder / "state" / "ledgers").iterdir()
    line = orjson.loads(ledger.read_bytes())
    assert (line["outcome"], line["cost_usd"]) == ("answered", "0.02308200")
    assert bench.left() == []


def test_what_was_in_flight_when_a_bench_is_stopped_is_in_its_report_or_said(
    bench: Bench, upstream: StandIn
) -> None:
    for wait_s, settled in ((2.0, True), (20.0, False)):
        upstream.usual(first_byte_s=wait_s)
        before = len(upstream.seen())
        process = bench.start("--arm", "live", *upstream.options, "--max-usd", "1", "--yes",
                              "-o", f"{wait_s}.json", *ONE_MOVE)  # fmt: skip
        try:
            until(lambda seen=before: len(upstream.seen()) > seen, 120)  # type: ignore[misc]
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=30)
        finally:
            end(process)
        assert time.monotonic() - began < 10
        assert process.returncode == 143
        (run,) = bench.report(f"{wait_s}.json").runs
        assert run.ending.kind == "interrupted"
        if settled:
            assert [call.cost_usd for call in run.calls] == [Decimal("0.02308200")]
        else:
            assert any("may have been spent" in warning for warning in run.warnings)
        assert bench.left() == []


# ---------------------------------------------------------------- the door, from inside


def test_the_door_lets_nothing_through_but_model_calls(
    engine: Engine, sandbox: EngineSandbox, system: Callable[..., SystemBox], upstream: StandIn
) -> None:
    """From inside a system's container, with the gateway as a confused deputy."""
    config = GatewayConfig(
        run="hostile",
        arm="live",
        wire="runner.systems.engine.wire:EngineWire",
        model=MODEL,
        prices={MODEL: load_prices().resolve(MODEL)},
        key=SecretStr(KEY),
        way_out=WayOut(anthropic=upstream.url, allow_private=(upstream.host,)),
    )
    box_of_gateway = GatewayBox(images.ensure("bench").config_digest, "bridge", config.first_line())
    before = len(upstream.seen())
    with sandbox.open("hostile", system(), box_of_gateway, deadline_s=60) as box:
        box.gateway.wait_for("ready", deadline_s=30)
        source = f"target = {upstream.host!r}\n" + HOSTILE
        rows = box.system.request("run", {"source": source}, deadline_s=60).result["value"]
        totals = box.gateway.request("close", {}, deadline_s=10).result
    statuses = {row["name"]: row["status"] for row in rows}
    assert {name: status for name, status in statuses.items() if status in (200, 101)} == {}, rows
    assert len(upstream.seen()) == before, upstream.seen()[before:]
    assert totals["settled_usd"] == "0"
    assert not any(KEY in row["answer"] for row in rows)


HOSTILE = r"""
import json, socket
body = json.dumps({"model": "claude-sonnet-5-5", "max_tokens": 8,
                   "messages": [{"role": "user", "content": "hi"}]})
def post(line, *headers, text=body):
    head = "\r\n".join((line, *headers, f"Content-Length: {len(text)}"))
    return f"{head}\r\n\r\n{text}".encode()
host, json_type = "Host: 127.0.0.1", "Content-Type: application/json"
media = json.dumps({"model": "claude-sonnet-5-5", "max_tokens": 8, "messages": [
    {"role": "user", "content": [{"type": "image", "source": {"type": "url",
     "url": "http://169.254.169.254/latest/meta-data"}}]}]})
tools = json.dumps({"model": "claude-sonnet-5-5", "max_tokens": 8, "messages": [
    {"role": "user", "content": "hi"}],
    "tools": [{"type": "web_search_20250305", "name": "web_search"}]})
requests = {
    "absolute form": b"GET http://169.254.169.254/latest/meta-data HTTP/1.1\r\nHost: x\r\n\r\n",
    "absolute form of a call": post(f"POST http://{target}/v1/messages HTTP/1.1", host, json_type),
    "https absolute form": post("POST https://api.anthropic.com/v1/messages HTTP/1.1", host),
    "connect by name": b"CONNECT api.anthropic.com:443 HTTP/1.1\r\nHost: api.anthropic.com\r\n\r\n",
    "connect by address": f"CONNECT {target}:80 HTTP/1.1\r\nHost: {target}\r\n\r\n".encode(),
    "another path": f"GET /v1/models HTTP/1.1\r\n{host}\r\n\r\n".encode(),
    "files": f"GET /v1/files HTTP/1.1\r\n{host}\r\n\r\n".encode(),
    "path tricks": post("POST /v1/messages/../files HTTP/1.1", host, json_type),
    "encoded path": post("POST /v1/%6dessages HTTP/1.1", host, json_type),
    "double slash": post("POST //v1/messages HTTP/1.1", host, json_type),
    "upgrade": f"GET / HTTP/1.1\r\n{host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
    .encode(),
    "smuggled": post("POST /v1/messages HTTP/1.1", host, "Transfer-Encoding: chunked", json_type),
    "remote media": post("POST /v1/messages HTTP/1.1", host, json_type, text=media),
    "web search": post("POST /v1/messages HTTP/1.1", host, json_type, text=tools),
    "no chat endpoint": post("POST /v1/chat/completions HTTP/1.1", host, json_type),
    "another model": post("POST /v1/messages HTTP/1.1", host, json_type,
                          text=body.replace("sonnet", "opus")),
    "after the end": post("POST /v1/messages HTTP/1.1", host, json_type),
}
value = []
for name, raw in requests.items():
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(5)
        sock.connect("/run/door/model.sock")
        sock.sendall(raw)
        answer = b""
        try:
            while b"\r\n\r\n" not in answer and (piece := sock.recv(65536)):
                answer += piece
        except OSError:
            pass
    status = int(answer.split(b" ")[1]) if answer.startswith(b"HTTP/1.") else 0
    value.append({"name": name, "status": status, "answer": answer.decode("latin-1")[:2000]})
"""
