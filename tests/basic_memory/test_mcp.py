import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from basic_memory_driver.errors import DriverError
from basic_memory_driver.mcp import Server, ToolFailed

LISTEN = """
import json, sys, time
def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def answer(request, text, **more):
    say(id=request["id"], result={"content": [{"type": "text", "text": text}], **more})
hello = json.loads(sys.stdin.readline())
say(id=hello["id"], result={})
ready = json.loads(sys.stdin.readline())
assert ready["method"] == "notifications/initialized" and "id" not in ready
request = json.loads(sys.stdin.readline())
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    started: list[Server] = []

    def run(script: str, before: str = LISTEN) -> Server:
        command = (sys.executable, "-c", before + script)
        started.append(Server(command, os.environ, tmp_path, 10))
        return started[-1]

    yield run
    for one in started:
        one.close()


def test_a_call_is_answered_past_all_else_that_is_said(start: Callable[..., Server]) -> None:
    server = start("""
print("a stray line", flush=True)
say(method="notifications/message", params={})
say(id="s1", method="ping")
assert json.loads(sys.stdin.readline())["result"] == {}
say(id=request["id"], method="roots/list")
assert json.loads(sys.stdin.readline())["error"]["code"] == -32601
say(id=999, result={})
answer(request, json.dumps(request["params"]))
""")
    assert server.call("search_notes", {"query": "é"}, 10) == {
        "name": "search_notes",
        "arguments": {"query": "é", "output_format": "json"},
    }


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ('answer(request, "# Search Failed\\n\\nNo model.")', "Search Failed No model"),
        ('answer(request, "{}", isError=True)', "failed"),
        ('answer(request, "[1]")', "failed"),
        ('say(id=request["id"], result={})', "said nothing"),
        ('say(id=request["id"], error={"code": -1, "message": "no such tool"})', "no such tool"),
    ],
)
def test_prose_is_a_failure(start: Callable[..., Server], script: str, says: str) -> None:
    with pytest.raises(ToolFailed, match=says):
        start(script).call("search_notes", {}, 10)


def test_a_server_that_ends_is_told_of(start: Callable[..., Server]) -> None:
    server = start("sys.exit(4)")
    with pytest.raises(DriverError, match="ended, with 4"):
        server.call("search_notes", {}, 10)
    with pytest.raises(DriverError, match="takes nothing"):
        server.call("search_notes", {}, 10)


@pytest.mark.slow
def test_silence_has_an_end(start: Callable[..., Server]) -> None:
    begun = time.monotonic()
    with pytest.raises(DriverError, match=r"within 0\.3 s"):
        start("time.sleep(60)").call("search_notes", {}, 0.3)
    assert time.monotonic() - begun < 10


def test_one_that_does_not_start_is_told_of(start: Callable[..., Server]) -> None:
    with pytest.raises(DriverError, match="ended, with 7"):
        start("", before="import sys; sys.exit(7)")
