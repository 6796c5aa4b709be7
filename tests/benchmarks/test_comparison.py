import asyncio
import io
import math

import orjson
import pytest
from rich.console import Console

from benchmarks import gateway
from benchmarks.comparison import Measured, Round, comparison, figures, quantile, targets, times
from benchmarks.load import (
    REQUEST_BYTES,
    STREAM_BEGINS,
    STREAM_ENDS,
    WHOLE,
    Client,
    Requests,
    at_once,
    body,
    one_by_one,
    provider,
    replied,
)
from benchmarks.ways import peak_mb
from runner.gateway.request import read_request
from runner.gateway.taps import MessageStreamTap, MessageTap
from runner.model import Usage


def measured(ms: float, rate: int, cpu: float = 0.5, peak: float = 50.0) -> Measured:
    return Measured(
        whole=(ms / 1000, ms / 1000, 9 * ms / 1000),
        token=(ms / 500,),
        calls=rate,
        seconds=1.0,
        cpu=cpu,
        peak_mb=peak,
    )


ROUNDS: list[Round] = [
    {
        "direct": measured(0.1, 9000, 0.0),
        "memory-bench": measured(0.9, 1500),
        "mitmproxy": measured(2.1, 500),
        "LiteLLM": measured(16.1, 75, 1.0, 400.0),
    },
    {
        "direct": measured(1.1, 900, 0.0),
        "memory-bench": measured(2.1, 150, peak=70.0),
        "mitmproxy": measured(9.1, 30),
        "LiteLLM": measured(99.1, 5, 1.0, 410.0),
    },
]


def printed(table: object) -> str:
    out = io.StringIO()
    Console(file=out, width=100, highlight=False).print(table)
    return out.getvalue()


@pytest.mark.parametrize(
    ("values", "share", "found"),
    [
        ((3.0, 1.0, 2.0), 0.5, 2.0),
        ((1.0, 2.0), 0.5, 1.0),
        (tuple(map(float, range(1, 101))), 0.99, 99.0),
        ((5.0,), 0.99, 5.0),
        ((5.0, 6.0), 0.0, 5.0),
    ],
)
def test_a_quantile_is_one_of_the_values(
    values: tuple[float, ...], share: float, found: float
) -> None:
    assert quantile(values, share) == found


def test_nothing_has_no_quantile() -> None:
    with pytest.raises(ValueError, match="no value"):
        quantile((), 0.5)


def test_what_a_way_adds_is_paired_with_going_direct_in_its_round() -> None:
    ours = figures(ROUNDS, "memory-bench")
    assert ours.p50 == pytest.approx((0.8 + 1.0) / 2)
    assert ours.p99 == pytest.approx(9 * (0.8 + 1.0) / 2)
    assert ours.token_p50 == pytest.approx(2 * (0.8 + 1.0) / 2)
    assert ours.rate == (1500 + 150) / 2
    assert ours.core_rate == (3000 + 300) / 2
    assert ours.peak_mb == 70.0
    assert figures(ROUNDS, "direct").p50 == 0.0


def test_ratios_of_throughput_are_the_rounds_own() -> None:
    assert times(ROUNDS, "memory-bench", "LiteLLM") == (20.0, 30.0)
    assert times(ROUNDS, "memory-bench", "mitmproxy") == (3.0, 5.0)
    assert times(ROUNDS, "memory-bench", "LiteLLM", "core_rate") == (40.0, 60.0)
    assert math.isnan(ROUNDS[0]["direct"].core_rate)


def test_tables_say_what_is_met_and_fit_a_hundred_columns() -> None:
    table = printed(comparison(ROUNDS, "memory-bench"))
    rows = [line.split() for line in table.splitlines()]
    assert [row[0] for row in rows[1:]] == ["direct", "memory-bench", "mitmproxy", "LiteLLM"]
    assert rows[2][1:] == ["0.90", "8.10", "1.80", "1.80", "825", "1.000", "0.167", "1650", "70"]
    verdicts = printed(targets(ROUNDS, "memory-bench"))
    assert [line.split()[-1] for line in verdicts.splitlines()[1:]] == ["met"] * 6
    late = [{**ROUNDS[0], "memory-bench": measured(1.2, 1400, peak=81.0)}]
    verdicts = printed(targets(late, "memory-bench"))
    assert [line.split()[-1] for line in verdicts.splitlines()[1:]] == [
        "NOT",
        "NOT",
        "met",
        "NOT",
        "NOT",
        "NOT",
    ]
    assert all(len(line) <= 100 for line in (table + verdicts).splitlines())


def test_ways_that_were_left_out_have_no_row() -> None:
    alone: list[Round] = [{name: ROUNDS[0][name] for name in ("direct", "memory-bench")}]
    assert "LiteLLM" not in printed(comparison(alone, "memory-bench"))
    assert len(printed(targets(alone, "memory-bench")).splitlines()) == 3
    bare: list[Round] = [{"direct": ROUNDS[0]["direct"]}]
    assert "direct" in printed(comparison(bare, "memory-bench"))


def test_memory_is_read_off_the_kernel_s_account() -> None:
    assert peak_mb("Name:\tpython\nVmPeak:\t 9 kB\nVmHWM:\t   50000 kB\n") == 51.2


@pytest.mark.parametrize("stream", [False, True])
def test_calls_are_of_their_size_and_no_two_alike(stream: bool) -> None:
    content = body(stream=stream)
    assert len(content) == REQUEST_BYTES
    assert read_request({}, content).stream is stream
    requests = Requests(stream=stream)
    one, two = requests.next(), requests.next()
    assert one != two
    assert len(one) == len(two)
    assert replied(one)
    assert not replied(one[:-1])
    assert orjson.loads(one.partition(b"\r\n\r\n")[2])["model"] == "claude-sonnet-5-5"


def test_the_stand_in_s_answers_are_a_model_s() -> None:
    tap = MessageTap()
    tap.feed(WHOLE.partition(b"\r\n\r\n")[2])
    tap.end()
    assert tap.usage == Usage(input=500, output=20)
    streamed = MessageStreamTap()
    body = STREAM_BEGINS.partition(b"\r\n\r\n")[2] + STREAM_ENDS
    while (size := int(body.partition(b"\r\n")[0], 16)) > 0:
        piece, body = body.partition(b"\r\n")[2][:size], body.partition(b"\r\n")[2][size + 2 :]
        streamed.feed(piece)
    assert streamed.done
    assert streamed.usage == Usage(input=500, output=20)


async def test_the_load_counts_what_is_answered() -> None:
    server, port = await provider()
    loop = asyncio.get_running_loop()
    clients = [(await loop.create_connection(Client, "127.0.0.1", port))[1] for _ in range(3)]
    try:
        singles = await one_by_one(clients[0], Requests(stream=False), 5)
        assert len(singles) == 5
        assert all(took.token is None for took in singles)
        for took in await one_by_one(clients[0], Requests(stream=True), 3):
            assert took.token is not None
            assert took.whole - took.token > 0.003
        calls, seconds = await at_once(clients, Requests(stream=False), 0.05)
        assert calls >= 3
        assert seconds >= 0.05
    finally:
        for client in clients:
            client.close()
        server.close()


def test_the_command_says_what_it_measures(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        gateway.main(["--help"])
    assert ended.value.code == 0
    assert "--without" in capsys.readouterr().out
