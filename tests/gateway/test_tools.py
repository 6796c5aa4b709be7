"""A scripted model that wants a tool used, as the real client reads it."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from runner.gateway.answer import Answer, cut
from runner.gateway.arms.scripted import ScriptedArm
from runner.gateway.sse import message
from runner.gateway.tables import Tables
from runner.gateway.wire import ToolUse
from runner.model import Usage
from tests.gateway._setup import MODEL, body, live, raw, served, table
from tests.gateway._wire import PlainWire
from tests.gateway.test_server import sdk
from tests.standin.upstream import Upstream

PATHS = {"file_path": f"/pages/{'深い/' * 40}a.md", "limit": 20}
TABLE = table(
    """
schema = 1
[[answer]]
id = "looks"
match = { task = "look" }
reply = { tool = "Read" }
usage = { input = 100, output = 20 }
[[answer]]
id = "looks-unmeasured"
match = { task = "glance" }
reply = { tool = "Read" }
[[answer]]
id = "done"
match = { task = "done" }
text = "All read."
"""
)
TOOLS = [{"name": "Read", "input_schema": {"type": "object"}}]


class ToolWire(PlainWire):
    """Where a table says so, the model wants a tool used."""

    def reply(self, purpose: str, answer: Any) -> Any:
        return ToolUse(answer["tool"], PATHS)


def scripted() -> dict[str, Any]:
    return {"answering": ScriptedArm(Tables.load([("test.toml", TABLE.content)], {}), ToolWire())}


def ask(task: str, **changed: Any) -> dict[str, Any]:
    return body(task, tools=TOOLS, **changed)


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
async def test_the_sdk_is_told_which_tool_to_use(tmp_path: Path, stream: bool) -> None:
    async with served(tmp_path, **scripted()) as (it, _):
        client = sdk(it)
        if stream:
            async with client.messages.stream(**ask("look")) as told:
                said = await told.get_final_message()
        else:
            said = await client.messages.create(**ask("look"))
        (line,) = it.lines()
    (block,) = said.content
    assert block.type == "tool_use"
    assert (block.name, block.input, block.id) == ("Read", PATHS, "toolu_000001_1")
    assert (said.stop_reason, line.stop_reason) == ("tool_use", "tool_use")
    assert line.usage == Usage(input=100, output=20)
    assert (line.outcome, line.source) == ("answered", "test.toml:looks")


async def test_what_is_written_for_a_tool_is_counted(tmp_path: Path) -> None:
    async with served(tmp_path, **scripted()) as (it, _):
        await it.ask({}, raw("glance"))
        (line,) = it.lines()
    assert line.usage.output == (len(orjson.dumps(PATHS)) + 3) // 4


async def test_a_chat_is_not_told_half_of_it(tmp_path: Path) -> None:
    async with served(tmp_path, **scripted()) as (it, client):
        async with client.post("/v1/chat/completions", json=body("look")) as reply:
            assert reply.status == 403
        assert it.ending == ("invalid", "script_missing")


def test_words_stand_before_the_tool_and_a_cut_leaves_none() -> None:
    use = ToolUse("Read", PATHS)
    answer = Answer("I look.", Usage(output=70), MODEL, "tool_use", (use, use))
    whole = message(answer, "7")["content"]
    assert [block["type"] for block in whole] == ["text", "tool_use", "tool_use"]
    assert [block.get("id") for block in whole] == [None, "toolu_7_1", "toolu_7_2"]
    short = cut(answer, 40)
    assert (short.text, short.tools, short.stop_reason) == ("I lo", (), "max_tokens")
    assert cut(answer, 70) is answer


@pytest.mark.slow
async def test_it_is_recorded_and_replayed(tmp_path: Path) -> None:
    tables = Tables.load([("test.toml", TABLE.content)], {})
    upstream = Upstream(tables=tables, wire=ToolWire())
    async with (
        live(tmp_path, upstream, "record") as (it, _),
        sdk(it).messages.stream(**ask("look")) as told,
    ):
        said = await told.get_final_message()
    again = tmp_path / "again"
    again.mkdir()
    async with (
        served(again, arm="replay", tables=(), cassette=tuple(it.recorded)) as (it, _),
        sdk(it).messages.stream(**ask("look")) as told,
    ):
        replayed = await told.get_final_message()
    assert said.content[0].type == "tool_use"
    assert replayed.content == said.content
