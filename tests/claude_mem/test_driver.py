"""The driver without what it drives: what it reads and refuses, and what it makes of a store."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from claude_mem_driver import requests, settings
from claude_mem_driver.agent import ended
from claude_mem_driver.driver import CAPABILITIES, OTHER_VERBS, VERBS, Driver
from claude_mem_driver.errors import (
    BadRequest,
    Degraded,
    GatewayRefused,
    ProviderFailed,
    UnusableReply,
)
from claude_mem_driver.memory import see_clock
from claude_mem_driver.place import Place, endpoint
from claude_mem_driver.snapshot import snapshot
from claude_mem_driver.store import DATABASE, VECTORS, Observation, Store

from runner.systems.catalog import load
from tests.claude_mem._store import FOLDER, NOON, observation, vectors, written

DOOR = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:8080", "ANTHROPIC_API_KEY": "none"}
TOLD = {"model": "m-1", "pins": {}, "options": {}}


def told(**changed: Any) -> settings.Settings:
    return settings.parse(json.dumps({**TOLD, **changed}))


# ---------------------------------------------------------------- what it is told


def test_its_verbs_and_options_are_those_of_its_description() -> None:
    system = load("claude-mem")
    assert (system.verbs, system.capabilities) == (VERBS, CAPABILITIES)
    assert told().as_json()["options"] == system.settle({})
    assert load("claude-mem-session").settle({})["mode"] == settings.WHOLE
    assert {*settings.OBSERVER, *settings.SESSION} == set(system.purposes)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "JSON"),
        ("[]", "object"),
        ("{}", "no model"),
        ('{"model": "m", "modell": 1}', "modell"),
        ('{"model": "m", "pins": {"reading": "n"}}', "reading"),
        ('{"model": "m", "pins": {"summary": "n"}}', "one model"),
        ('{"model": "m", "options": {"mode": "fast"}}', "mode"),
        ('{"model": "m", "options": {"retries": -1}}', "retries"),
        ('{"model": "m", "options": {"limit": true}}', "limit"),
        ('{"model": "m", "options": {"page_deadline_s": 0}}', "page_deadline_s"),
        ('{"model": "m", "options": {"session_pages": 1.5}}', "session_pages"),
    ],
)
def test_settings_are_read_strictly(text: str, says: str) -> None:
    with pytest.raises(BadRequest, match=says):
        settings.parse(text)


def test_the_observer_and_the_session_may_run_on_two_models() -> None:
    pins = {"session": "n", "title": "n"}
    found = told(pins=pins)
    assert (found.observer, found.session) == ("m-1", "n")
    with pytest.raises(BadRequest, match="one model"):
        told(pins={"session": "n"})


@pytest.mark.parametrize("name", ["../a.md", "/etc/a.md", "a//b.md", "a\nb.md", ".", "a/../b.md"])
def test_a_page_lies_within_the_vault(name: str) -> None:
    with pytest.raises(BadRequest, match="named like no file"):
        requests.pages({"pages": [{"name": name, "text": "x"}]})


def test_pages_are_read_strictly() -> None:
    page = {"name": "Ops/a b.md", "text": "x"}
    assert requests.pages({"pages": [page]}) == {"Ops/a b.md": "x"}
    for pages in (
        None,
        [],
        [1],
        [{"name": "a.md"}],
        [page, page],
        [{"name": "a", "text": "\ud800"}],
    ):
        with pytest.raises(BadRequest):
            requests.pages({"pages": pages})


# ---------------------------------------------------------------- no login, one endpoint


@pytest.mark.parametrize(
    "more",
    [
        {"CLAUDE_CODE_OAUTH_TOKEN": "t"},
        {"ANTHROPIC_AUTH_TOKEN": ""},
        {"ANTHROPIC_API_KEY": "sk-ant-1"},
        {"AWS_BEARER_TOKEN_BEDROCK": "t"},
        {"AWS_PROFILE": "mine"},
        {"CLAUDE_CODE_USE_VERTEX": "1"},
        {"OPENROUTER_API_KEY": "k"},
        {"MY_SECRET": "s"},
    ],
)
def test_a_login_is_never_let_in(more: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=next(iter(more))):
        endpoint({**DOOR, **more})
    env = {**DOOR, "HOME": str(tmp_path), "BENCH_SETTINGS": json.dumps(TOLD), **more}
    driver = Driver(env)
    driver.warm()
    for verb in ("describe", "consolidate"):
        error = driver.answer(json.dumps({"id": 1, "verb": verb}).encode())["error"]
        assert error["type"] == "bad_request"
        assert "login" in error["message"]
    assert not (tmp_path / ".claude-mem").exists()


@pytest.mark.parametrize(
    "door",
    [
        "",
        "https://api.anthropic.com",
        "http://example.com:80",
        "https://127.0.0.1:8080",
        "http://127.0.0.1",
        "http://127.0.0.1.example.com:8080",
        "http://127.0.0.1:8080\nANTHROPIC_API_KEY=k",
        "http://[",
    ],
)
def test_the_only_endpoint_is_on_loopback(door: str) -> None:
    with pytest.raises(BadRequest, match="loopback"):
        endpoint({"ANTHROPIC_BASE_URL": door})


def test_what_it_starts_is_told_where_the_model_is_and_nothing_of_the_bench(tmp_path: Path) -> None:
    place = Place(tmp_path)
    env = {**DOOR, "PYTHONPATH": "x", "BENCH_SETTINGS": "{}", "FAKETIME_NO_CACHE": "1", "TZ": "UTC"}
    place.prepare(env, told())
    assert (place.data / ".env").read_text() == (
        "ANTHROPIC_BASE_URL=http://127.0.0.1:8080\nANTHROPIC_API_KEY=none\n"
    )
    set_ = json.loads((place.data / "settings.json").read_text())
    assert set_["CLAUDE_MEM_MODEL"] == "m-1"
    assert set_["CLAUDE_MEM_TIER_ROUTING_ENABLED"] == "false"
    given = place.environment(env, told(options={"retries": 2}))
    assert given["BENCH_CLAUDE_RETRIES"] == "2"
    assert given["FAKETIME_NO_CACHE"] == "1"
    assert not {"PYTHONPATH", "BENCH_SETTINGS", "ANTHROPIC_API_KEY"} & given.keys()
    with pytest.raises(BadRequest, match="not fresh"):
        place.prepare(env, told())


@pytest.mark.parametrize("login", [".claude/.credentials.json", ".claude.json"])
def test_a_home_with_a_login_is_not_taken(tmp_path: Path, login: str) -> None:
    file = tmp_path / login
    file.parent.mkdir(exist_ok=True)
    file.write_text("{}")
    with pytest.raises(BadRequest, match="not fresh"):
        Place(tmp_path).prepare(DOOR, told())


# ---------------------------------------------------------------- requests


def test_what_cannot_be_asked_is_said(tmp_path: Path) -> None:
    driver = Driver({**DOOR, "HOME": str(tmp_path), "BENCH_SETTINGS": json.dumps(TOLD)})
    for verb in OTHER_VERBS:
        reply = driver.answer(json.dumps({"id": 7, "verb": verb}).encode())
        assert (reply["id"], reply["error"]["type"]) == (7, "unsupported")
    for line in (b"{", b"[]", b"", b'{"id": 1}', b'{"id": 1, "verb": "fly"}', b'{"id": "1"}'):
        assert driver.answer(line)["error"]["type"] == "bad_request"
    assert not driver.stopped
    assert driver.answer(b'{"id": 2, "verb": "stop"}')["ok"]
    assert driver.stopped


# ---------------------------------------------------------------- the store


def test_what_the_vector_search_lacks_is_seen(tmp_path: Path) -> None:
    whole = observation("One.", "Two.")
    bare = observation(narrative=None)
    written(tmp_path / DATABASE, [whole, whole, bare])
    store = Store(tmp_path)
    assert store.unfindable() == [1, 2]
    # It makes its tables when it is first written to.
    (tmp_path / VECTORS).parent.mkdir()
    with closing(sqlite3.connect(tmp_path / VECTORS)) as db:
        db.execute("CREATE TABLE collections (id)")
    assert store.unfindable() == [1, 2]
    (tmp_path / VECTORS).unlink()
    vectors(tmp_path / VECTORS, 1, 1, 1, 2, 2)
    assert store.unfindable() == [2]
    assert store.count() == (3, 1)
    assert store.session("session-of-ours") == 3
    with pytest.raises(Degraded, match="did not watch"):
        store.session("another")


def test_an_observation_is_read_off_a_row_or_a_find(tmp_path: Path) -> None:
    row = {**observation("One.", "Two.", files=["a.md", "b.md", "a.md", "/etc/c"]), "id": 4}
    found = Observation.of({**row, "text": None})
    assert found.names(Path(FOLDER)) == ("a.md", "b.md", "/etc/c")
    assert found.text == "A title\nOne. Two.\n- One.\n- Two."
    assert (found.day, found.pieces) == (date(2026, 9, 1), 3)
    for broken in ({"id": 1}, {**row, "facts": "{"}, {**row, "created_at_epoch": None}):
        with pytest.raises(Degraded, match="another form"):
            Observation.of({"text": None, **broken})
    assert row["created_at_epoch"] == NOON


def test_what_bears_another_day_than_this_is_no_memory_of_it() -> None:
    now = datetime.now(UTC)
    row = {**observation("One."), "id": 1, "text": None}
    for days, ok in ((0, True), (-1, False), (30, False)):
        at = now + timedelta(days=days)
        one = Observation.of({**row, "created_at_epoch": int(at.timestamp() * 1000)})
        if ok:
            see_clock([one], now)
        else:
            with pytest.raises(Degraded, match="does not see"):
                see_clock([one], now)


def test_a_snapshot_is_whole_and_has_no_log_beside_it(tmp_path: Path) -> None:
    data, exchange = tmp_path / "data", tmp_path / "exchange"
    exchange.mkdir()
    written(data / DATABASE, [observation("One.")])
    vectors(data / VECTORS, 1, 1)
    (data / "chroma/4df6").mkdir()
    (data / "chroma/4df6/header.bin").write_bytes(b"h")
    with closing(sqlite3.connect(data / DATABASE)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("UPDATE observations SET title = 'late'")
        db.commit()
        for number in ("1", "2"):
            made = snapshot(data, exchange)
            assert made == exchange / number
    names = sorted(str(file.relative_to(made)) for file in made.rglob("*") if file.is_file())
    assert names == ["chroma/4df6/header.bin", VECTORS, DATABASE]
    with closing(sqlite3.connect(made / DATABASE)) as copy:
        assert copy.execute("SELECT title FROM observations").fetchone() == ("late",)


# ---------------------------------------------------------------- a whole session


def test_a_session_says_how_it_ended() -> None:
    well = {"type": "result", "session_id": "s-1", "is_error": False, "result": "Read."}
    assert ended(0, json.dumps(well), b"") == "s-1"
    assert ended(0, json.dumps([{"type": "system"}, well]), b"") == "s-1"
    for words, error in (
        ("API Error: 529 Overloaded", ProviderFailed),
        ("Failed to authenticate. API Error: 403 no scripted answer", GatewayRefused),
        ("API Error: Claude Code is unable to respond to this request", UnusableReply),
        ("It went wrong.", Degraded),
    ):
        with pytest.raises(error, match="broke off"):
            ended(1, json.dumps({**well, "is_error": True, "result": words}), b"")
    for said in ("", "no JSON", "{}", "[]"):
        with pytest.raises(Degraded, match=r"status 1 .* no such option"):
            ended(1, said, b"error: no such option")
