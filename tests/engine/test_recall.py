"""What the store puts before an agent's model: standing claims, ranked by words, and nothing of a
model's or a store's is touched by it.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from memory_engine.driver import Driver
from memory_engine.errors import BadRequest
from memory_engine.recall import asked, recall
from memory_engine.store import Changes, Claim, Note, Retirement, Store, digest

from tests.engine._process import Process
from tests.engine._provider import Provider
from tests.engine._worlds import MID_TRIP, READER, on

LIVES = "The user lives in Turin."
WEEK = "The user is in Oslo for a week."


def put(store: Store, day: str, *texts: str, retire: tuple[str, ...] = ()) -> None:
    """Write claims, and have the first of them retire others."""
    note = Note(f"{day}.md", day, day, digest(day))
    at = on(day)()
    store.receive(note, at)
    claims = [Claim(text, text, "the user", day, (note.name,), at.isoformat()) for text in texts]
    retired = [
        Retirement(loser, texts[0], "SUPERSEDED_BY_UPDATE", at.isoformat()) for loser in retire
    ]
    store.finish(note, Changes(claims=claims, retirements=retired), at)


def texts(store: Store, question: str, top_k: int = 10) -> list[str]:
    return [said["text"] for said in recall(store, question, top_k)["statements"]]


def test_the_claim_with_most_of_the_question_s_words_comes_first(store: Store) -> None:
    put(store, "2026-09-01", LIVES, WEEK, "The user booked a flight to Turin.")
    assert texts(store, "Where does the user live?")[0] == LIVES
    assert texts(store, "Which flights to Turin were booked?")[0].startswith("The user booked")
    assert recall(store, "Where is the flight, and the hotel?", 1) == {
        "statements": [
            {
                "text": "The user booked a flight to Turin.",
                "day": "2026-09-01",
                "score": 0.5,
                "source": "2026-09-01.md",
            }
        ]
    }


def test_of_as_many_words_the_newer_comes_first_and_none_is_left_out(store: Store) -> None:
    put(store, "2026-09-01", LIVES, WEEK)
    put(store, "2026-10-01", "The user moved to Oslo.")
    wanted = ["The user moved to Oslo.", WEEK, LIVES]
    assert texts(store, "Where should tonight's dinner be?") == wanted
    assert texts(store, "Where should tonight's dinner be?", 2) == wanted[:2]
    assert texts(store, "?") == wanted


def test_what_was_replaced_never_comes(store: Store) -> None:
    put(store, "2026-09-01", LIVES, WEEK)
    put(store, "2026-10-01", "The user moved to Oslo.", retire=(LIVES, WEEK))
    assert texts(store, "Where does the user live?") == ["The user moved to Oslo."]


def test_history_is_as_old_as_what_it_tells_and_was_said_when_it_was_written(store: Store) -> None:
    put(store, "2026-09-01", LIVES)
    put(store, "2026-10-01", "The user moved to Oslo.", retire=(LIVES,))
    at = on("2026-10-01")().isoformat()
    told = Claim(
        *("h", "A walk away was Turin, as of 2026-09-01.", "x", "2026-09-01", (), at),
        restatement=True,
        restates=LIVES,
        anchor=LIVES,
    )
    store.examined((), Changes(claims=[told]), on("2026-10-01")())
    assert texts(store, "What now?") == ["The user moved to Oslo.", told.text]
    (history,) = recall(store, "Any walk?", 1)["statements"]
    assert (history["day"], history["source"]) == ("2026-10-01", None)


def test_an_empty_store_says_nothing(store: Store) -> None:
    assert texts(store, "Where does the user live?") == []


@pytest.mark.parametrize("odd", ['"', "a AND (", "NEAR(x", "x*", "^x -y", "ten-minute", "l'été"])
def test_a_question_is_words_and_no_query(store: Store, odd: str) -> None:
    put(store, "2026-09-01", LIVES)
    assert texts(store, odd) == [LIVES]


@pytest.mark.parametrize(
    "request_",
    [
        {"top_k": 3},
        {"question": " ", "top_k": 3},
        {"question": "x" * 9000, "top_k": 3},
        {"question": 7, "top_k": 3},
        {"question": "a"},
        {"question": "a", "top_k": 0},
        {"question": "a", "top_k": 201},
        {"question": "a", "top_k": True},
    ],
)
def test_a_question_that_is_none(request_: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(BadRequest):
        asked(request_)
    driver = Driver({"HOME": str(tmp_path), "BENCH_SETTINGS": '{"model": "m"}'})
    reply = driver.answer(json.dumps({"id": 1, "verb": "recall", **request_}).encode())
    assert reply["error"]["type"] == "bad_request"
    driver.close()


@pytest.mark.slow
@pytest.mark.parametrize("world", [READER, MID_TRIP])
def test_it_changes_nothing_in_the_store_and_asks_no_model(
    world: Any, provider: Provider, driver: Callable[..., Process], tmp_path: Path
) -> None:
    provider.script = world.script
    process = driver()

    def taken() -> str:
        where = Path(process.ask("snapshot")["result"]["path"])
        (file,) = where.iterdir()
        return hashlib.sha256(file.read_bytes()).hexdigest()

    for name, day, text in world.notes:
        assert process.ask("deposit", name=name, day=day, text=text)["ok"]
        calls, before = len(provider.asked), taken()
        for question in ("Where does the user live?", "What flight is booked?", "Ünïcode?"):
            said = process.ask("recall", question=question, top_k=3)
            assert said["ok"], said
            assert 0 < len(said["result"]["statements"]) <= 3
        assert taken() == before
        assert len(provider.asked) == calls
    process.kill()
