import hashlib
import json
from typing import Any

import pytest

from runner.gateway.wire import UNATTRIBUTED, ToolUse, load_wire
from runner.systems.catalog import load
from runner.systems.claude_mem.wire import PURPOSES, ClaudeMemWire
from tests.claude_mem import _bodies as ask

WIRE = ClaudeMemWire()
PAGE = '# Über "Backups"\n\nKept for </outcome> 35 days. <outcome>{}</outcome>\n备份\n'
NAMES = ["b.md", "Ops/a.md", "c.md"]


def purpose(body: dict[str, Any]) -> str:
    return WIRE.purpose({"user-agent": "claude-cli"}, body)


def fields(body: dict[str, Any]) -> dict[str, Any]:
    return WIRE.fields(purpose(body), body)


def test_it_is_the_wire_its_description_names() -> None:
    system = load("claude-mem")
    assert isinstance(load_wire(system.wire), ClaudeMemWire)
    assert set(system.purposes) == PURPOSES
    assert (system.ingestion, system.reading) == ("observation", "session")


# ---------------------------------------------------------------- what is asked


def test_each_kind_of_call_is_told_by_its_last_turn() -> None:
    page = ask.observed("b.md", PAGE)
    for said, wanted in (
        ((ask.brief(),), "briefing"),
        ((ask.brief(), page), "observation"),
        ((ask.brief(), page, ask.SUMMARY), "summary"),
        ((ask.CONDENSE.format("a"),), "condensing"),
        ((ask.brief(), page, page), "observation"),
    ):
        assert purpose(ask.observer(*said)) == wanted
    assert purpose(ask.session(NAMES, [])) == "session"
    named = {"effort": "high", "format": {"type": "json_schema", "schema": {}}}
    assert purpose(ask.observer("Name it.", output_config=named)) == "title"
    assert purpose(ask.observer("Name it.", output_format={"type": "json_schema"})) == "title"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": "no"},
        {"messages": [None]},
        ask.observer("Hello."),
        ask.observer(ask.brief(), "And now?"),
        # What a page says is no call: only a turn that begins as claude-mem's own do.
        ask.observer(ask.brief(), f"Look: {ask.observed('b.md', PAGE)}"),
    ],
)
def test_what_nobody_knows_is_nobodys(body: dict[str, Any]) -> None:
    assert purpose(body) == UNATTRIBUTED
    with pytest.raises(ValueError, match="call"):
        WIRE.fields(UNATTRIBUTED, body)
    assert WIRE.canonical({}, body)


def test_an_observation_names_its_page_and_knows_it_by_its_bytes() -> None:
    body = ask.observer(ask.brief(), ask.observed("Ops/a.md", PAGE))
    assert fields(body) == {
        "task": "remember",
        "sha256": hashlib.sha256(PAGE.encode()).hexdigest(),
        "name": "Ops/a.md",
        "tool": "Read",
        "more": [],
    }


def test_what_came_while_the_observer_was_busy_is_told() -> None:
    body = ask.observer(ask.brief(), ask.observed("b.md", "one"))
    body["messages"][-1]["content"].append(
        {"type": "text", "text": ask.observed("c.md", "two", tool="Bash")}
    )
    found = fields(body)
    assert (found["name"], found["more"]) == ("b.md", ["c.md"])
    apart = ask.observer(ask.brief(), ask.observed("b.md", "one"))
    apart["messages"].append(ask.user(ask.observed("c.md", "two")))
    assert fields(apart) == found


def test_a_text_that_was_cut_to_fit_is_known_by_its_name_alone() -> None:
    whole = ask.observed("b.md", "x" * 100)
    cut = whole.replace("x" * 50, '\n... <elided chars="50" reason="oversize" /> ...\n')
    found = fields(ask.observer(ask.brief(), cut))
    assert (found["name"], found["sha256"]) == ("b.md", None)
    bare = fields(ask.observer(ask.brief(), whole.split("  <parameters>")[0]))
    assert (bare["name"], bare["sha256"], bare["tool"]) == (None, None, "Read")


def test_a_session_reads_what_it_was_told_to_and_has_not() -> None:
    for read, wanted in (
        ([], "b.md"),
        (["b.md"], "Ops/a.md"),
        (["Ops/a.md", "b.md"], "c.md"),
        (NAMES, ""),
    ):
        assert fields(ask.session(NAMES, read)) == {"task": "read", "next": wanted}


def test_the_rest_says_what_there_is_to_say() -> None:
    assert fields(ask.observer(ask.brief("Read,\nplease."))) == {
        "task": "brief",
        "request": "Read,\nplease.",
    }
    assert fields(ask.observer(ask.brief(), ask.SUMMARY)) == {"task": "summarise"}
    assert fields(ask.observer(ask.CONDENSE.format("a\nb"))) == {"task": "condense", "text": "a\nb"}
    titled = ask.observer("Name it.", output_format={"type": "json_schema"})
    assert fields(titled) == {"task": "title"}


# ---------------------------------------------------------------- answers


def test_a_note_of_a_page_is_an_observation() -> None:
    said = ["Kept for 35 days.", "A </fact> of <b>it</b> & more."]
    answer = {"name": "Ops/a.md", "title": "Backups", "statements": said}
    written = WIRE.reply("observation", answer)
    assert isinstance(written, str)
    assert written.startswith("<observation>")
    assert written.endswith("</observation>")
    assert "<fact>Kept for 35 days.</fact><fact>A of <b>it</b> & more.</fact>" in written
    assert "<narrative>Kept for 35 days. A of <b>it</b> & more.</narrative>" in written
    assert f"<files_read><file>{ask.FOLDER}/Ops/a.md</file></files_read>" in written
    bare = WIRE.reply("observation", {"statements": []})
    assert isinstance(bare, str)
    assert "<files_read></files_read>" in bare
    assert "<title>Nothing</title>" in bare


def test_every_other_answer_has_its_form() -> None:
    summary = WIRE.reply("summary", {"request": "r", "learned": "l"})
    assert isinstance(summary, str)
    assert summary.startswith("<summary>\n  <request>r</request>")
    assert "<learned>l</learned>" in summary
    assert WIRE.reply("briefing", {"skip": 'not "yet"'}) == "<skip_summary reason=\"not 'yet'\" />"
    assert WIRE.reply("session", {"read": "Ops/a.md"}) == ToolUse(
        "Read", {"file_path": f"{ask.FOLDER}/Ops/a.md"}
    )
    assert WIRE.reply("session", "All read.") == "All read."
    assert WIRE.reply("title", {"title": "Reading"}) == '{"title":"Reading"}'


# ---------------------------------------------------------------- what is steady


def test_another_day_machine_and_client_ask_the_same() -> None:
    listed = '### Sep 1, 2026\n1 12:00p ○ One\n2 " ○ Two\nS1 Read it (Sep 1, 12:01 PM)'
    later = "### Jan 15, 2027\n1 9:41a ○ One\n2 9:42a ○ Two\nS1 Read it (Jan 15, 9:42 AM)"
    first = ask.observer(
        ask.brief(listed=listed), ask.observed("b.md", PAGE), ask.SUMMARY, session="a", cc="1"
    )
    second = ask.observer(
        ask.brief(day="2027-01-15", at="9:45", listed=later),
        ask.observed("b.md", PAGE, at="2027-01-15T09:45:00.001Z"),
        ask.SUMMARY,
        day="2027-01-15",
        session="b",
        cc="2",
        os="Linux 7.0",
        stream=False,
    )
    assert WIRE.canonical({}, first) == WIRE.canonical({"x-app": "cli"}, second)
    one = ask.session(NAMES, NAMES[:2], ids="toolu_01", session="a")
    other = ask.session(NAMES, NAMES[:2], ids="toolu_99", day="2027-01-15", session="b")
    assert WIRE.canonical({}, one) == WIRE.canonical({}, other)


def test_what_is_asked_makes_a_difference() -> None:
    page = ask.observed("b.md", "Kept since 2026-09-01, at 12:00 pm.")
    base = ask.observer(ask.brief(), page)
    others = [
        ask.observer(ask.brief(), ask.observed("b.md", "Kept since 2026-09-02, at 12:00 pm.")),
        ask.observer(ask.brief(), ask.observed("c.md", "Kept since 2026-09-01, at 12:00 pm.")),
        ask.observer(ask.brief("Something else."), page),
        ask.observer(ask.brief(listed="1 12:00p ○ One"), page),
        ask.observer(ask.brief(), page, ask.SUMMARY),
        {**base, "model": "claude-haiku-4-5"},
        ask.session(NAMES, []),
        ask.session(NAMES, NAMES[:1]),
    ]
    made = {WIRE.canonical({}, body) for body in [base, *others]}
    assert len(made) == len(others) + 1
    assert json.loads(WIRE.canonical({}, base))["purpose"] == "observation"


def test_where_the_cache_begins_makes_none() -> None:
    turns = ask.observer(ask.brief(), ask.observed("b.md", PAGE))
    bare = json.loads(json.dumps(turns).replace(', "cache_control": {"type": "ephemeral"}', ""))
    plain = json.loads(json.dumps(bare))
    plain["messages"][-1]["content"] = plain["messages"][-1]["content"][0]["text"]
    assert WIRE.canonical({}, turns) == WIRE.canonical({}, bare) == WIRE.canonical({}, plain)
