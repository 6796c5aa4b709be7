import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from basic_memory_driver.driver import VERBS, Driver

from runner.systems import catalog
from runner.systems.basic_memory.reader import read
from tests.basic_memory.conftest import Ask, asking

PAGES = [
    {"name": "Finance/Refunds.md", "text": "Refunds take ten days.\n"},
    {"name": "Tea.md", "text": "Tea is at four, and Refunds are not.\n"},
]
NOTE = {"name": "reader-01.md", "text": "I live in Delhi.\n", "day": "2026-09-01"}


def error(reply: dict[str, Any]) -> tuple[str, str]:
    assert not reply["ok"], reply
    return reply["error"]["type"], reply["error"]["message"]


def test_it_says_what_its_description_says(ask: Ask) -> None:
    described = ask("describe")["result"]
    system = catalog.load("basic-memory")
    assert described["name"] == system.image
    assert described["licence"] == system.licence
    assert tuple(described["verbs"]) == system.verbs == VERBS
    assert tuple(described["capabilities"]) == system.capabilities
    # By words alone, no embedder has a part in it.
    assert (described["encoder"], described["settings"]["search"]) == (None, "text")


def test_pages_are_indexed_asked_for_and_refused(ask: Ask, home: Path) -> None:
    assert ask("index", pages=PAGES)["result"] == {"pages": 2, "entities": 2}
    found = ask("ask", question="Refunds?", top_k=5)
    assert found["result"]["refused"]  # the stand-in looks for "Refunds?" as it is
    found = ask("ask", question="Refunds when", top_k=5)["result"]
    assert [page["name"] for page in found["pages"]] == ["Finance/Refunds.md", "Tea.md"]
    assert not found["refused"]
    # Full text counts downwards from nought: turned, the better one has the higher score.
    assert [page["score"] for page in found["pages"]] == [2.5, 1.5]
    assert "turned" in found["receipt"]["scores"]
    assert len(ask("ask", question="Refunds when", top_k=1)["result"]["pages"]) == 1
    assert (home / "vault" / "Finance" / "Refunds.md").read_text() == PAGES[0]["text"]


def test_notes_are_taken_by_its_own_tool_on_its_own_day(ask: Ask, home: Path) -> None:
    taken = ask("deposit", **NOTE)["result"]["taken"]
    assert abs((datetime.fromisoformat(taken) - datetime.now(UTC)).total_seconds()) < 5
    assert ask("consolidate")["result"] == {"pages": 1}
    (said,) = ask("recall", question="live where", top_k=3)["result"]["statements"]
    assert said == {
        "text": NOTE["text"],
        "day": taken[:10],
        "score": 2.5,
        "source": "reader-01.md",
    }
    folder = Path(ask("snapshot")["result"]["path"])
    assert folder.name == "1"
    (claim,) = read(folder).claims
    assert (claim.text, claim.sources, claim.active) == (
        "I live in Delhi.",
        ("reader-01.md",),
        True,
    )
    assert claim.asserted_at is not None
    assert claim.asserted_at.isoformat() == taken
    # What the server has not yet written back is in the copy, which needs no log beside it.
    assert sorted(file.name for file in folder.iterdir()) == ["memory.db", "vault"]
    with closing(sqlite3.connect(folder / "memory.db")) as copy:
        assert copy.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert Path(ask("snapshot")["result"]["path"]).name == "2"


def test_nothing_held_is_nothing_recalled_and_no_refusal(ask: Ask) -> None:
    assert ask("recall", question="anything", top_k=3)["result"] == {"statements": []}
    assert error(ask("ask", question="anything", top_k=3))[0] == "degraded"
    assert error(ask("index", pages=[]))[0] == "degraded"


@pytest.mark.parametrize(
    ("way", "kind", "says"),
    [
        ("missing", "degraded", "of 2 pages"),
        ("unindexed", "degraded", "of 2 pages"),
        ("reindex", "internal", "reindex ended with 3"),
        ("project", "internal", "project ended with 3"),
    ],
)
def test_half_an_index_answers_nothing(
    ask: Ask, home: Path, way: str, kind: str, says: str
) -> None:
    (home / "wrong").write_text(way)
    failed = error(ask("index", pages=PAGES))
    assert failed[0] == kind
    assert says in failed[1]
    (home / "wrong").unlink()
    assert error(ask("ask", question="Refunds when", top_k=5))[0] == "degraded"


@pytest.mark.parametrize(
    ("way", "kind", "says"),
    [
        ("search", "degraded", "The embedder is gone"),
        ("strange", "internal", "nobody handed over"),
        ("dies", "internal", "ended, with 9"),
    ],
)
def test_a_search_that_fails_is_never_a_refusal(
    ask: Ask, home: Path, way: str, kind: str, says: str
) -> None:
    assert ask("index", pages=PAGES)["ok"]
    (home / "wrong").write_text(way)
    failed = error(ask("ask", question="Refunds when", top_k=5))
    assert failed[0] == kind
    assert says in failed[1]


def test_a_server_that_is_gone_stays_gone(ask: Ask, home: Path) -> None:
    assert ask("index", pages=PAGES)["ok"]
    (home / "wrong").write_text("dies")
    ask("ask", question="Refunds when", top_k=5)
    (home / "wrong").unlink()
    assert error(ask("ask", question="Refunds when", top_k=5))[0] == "internal"


@pytest.mark.parametrize("way", ["time", "later"])
def test_a_day_that_is_not_the_clocks_is_told(ask: Ask, home: Path, way: str) -> None:
    (home / "wrong").write_text(way)
    kind, message = error(ask("deposit", **NOTE))
    assert kind == "degraded"
    assert "2020-01-01" in message


def test_a_note_is_taken_once(ask: Ask) -> None:
    assert ask("deposit", **NOTE)["ok"]
    kind, message = error(ask("deposit", **NOTE))
    assert kind == "internal"
    assert "NOTE_ALREADY_EXISTS" in message


def test_pages_come_once_and_before_any_note(ask: Ask) -> None:
    assert ask("deposit", **NOTE)["ok"]
    assert error(ask("index", pages=PAGES))[0] == "bad_request"


def test_without_vectors_a_search_that_needs_them_does_not_start(
    driver: Callable[..., Driver],
) -> None:
    # This interpreter has no sqlite-vec, as one whose SQLite loads nothing has none.
    ask = asking(driver(search="default"))
    for verb in ("describe", "consolidate", "snapshot"):
        assert error(ask(verb)) == (
            "degraded",
            "this Python's SQLite loads no extension: "
            "ModuleNotFoundError: No module named 'sqlite_vec'",
        )
    assert error(ask("index", pages=PAGES))[0] == "degraded"


def test_an_image_without_an_embedder_does_not_start(
    driver: Callable[..., Driver], home: Path
) -> None:
    (home.parent / "embedder" / "embedder.json").unlink()
    kind, message = error(asking(driver())("describe"))
    assert (kind, message.partition(":")[0]) == ("degraded", "no embedder is baked in")


def test_what_is_no_request_is_answered_too(ask: Ask, driver: Callable[..., Driver]) -> None:
    assert error(ask("probe"))[0] == "unsupported"
    assert error(ask("dance"))[0] == "bad_request"
    for line in (b"", b"{", b"[]", b'{"verb": "ask"}'):
        assert error(driver().answer(line))[0] == "bad_request"
    assert error(asking(driver("{}x"))("describe"))[0] == "bad_request"


def test_replies_carry_the_clock_and_the_time_it_took(ask: Ask) -> None:
    reply = ask("describe")
    assert abs((datetime.fromisoformat(reply["now"]) - datetime.now(UTC)).total_seconds()) < 5
    assert reply["ms"] >= 0
    assert json.dumps(reply)
