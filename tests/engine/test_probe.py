"""The probe verb: the engine's own judgement of two claims, and nothing where there is none."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from memory_engine import driver as engine_driver
from memory_engine.deposit import deposit
from memory_engine.errors import EngineError, UnusableReply
from memory_engine.judge import Judge
from memory_engine.probe import Stated, probe
from memory_engine.settings import Options
from memory_engine.store import Note, Store, digest

from tests.engine._process import Process
from tests.engine._provider import Answer, Asked, Failure, Provider, Reply
from tests.engine._worlds import HOME, MOVED, READER, on

pytestmark = pytest.mark.slow

Start = Callable[..., Process]
MakeJudge = Callable[..., Judge]

LIVES = {"text": "The user lives in Turin.", "day": "2026-09-01"}
MOVES = {"text": "The user moved to Oslo.", "day": "2026-09-15"}
YES = {"reason": "so it is", "verdict": "YES"}
NO = {"reason": "not at all", "verdict": "NO"}
CHANGES = {**YES, "slot": "CHANGES"}
OTHER = {**NO, "slot": "NONE"}


def says(contradiction: Reply, *readings: Reply) -> Callable[[Asked], Reply]:
    """A model that answers the contradiction probe and each reading so."""

    def script(asked: Asked) -> Reply:
        if asked.task == "contradiction":
            return contradiction
        number: int = asked.document["reading"]
        return readings[number - 1]

    return script


def asked(driver: Start, **pair: Any) -> dict[str, Any]:
    process = driver()
    reply = process.ask("probe", **{"older": LIVES, "newer": MOVES, **pair})
    process.kill()
    return reply


@pytest.mark.parametrize(
    ("contradiction", "readings", "update"),
    [
        (YES, (CHANGES, CHANGES), "changes"),
        (NO, (CHANGES, CHANGES), "changes"),
        (NO, (CHANGES, OTHER), "not_changes"),
        (YES, (CHANGES, {**YES, "slot": "FIXED"}), "not_changes"),
        (YES, (OTHER,), "not_changes"),
        (NO, ({**NO, "slot": "CHANGES"},), "not_changes"),
    ],
)
def test_its_verdicts(
    provider: Provider,
    judge: MakeJudge,
    contradiction: dict[str, str],
    readings: tuple[dict[str, str], ...],
    update: str,
) -> None:
    provider.script = says(contradiction, *readings)
    result = probe(judge(), Stated(**LIVES), Stated(**MOVES))
    assert result == {
        "contradiction": contradiction is YES,
        "update": update,
        "past_value_marker": False,
        "detail": {"contradiction": contradiction, "readings": list(readings)},
    }
    # The contradiction once, and no reading more than production asks for.
    tasks = ["contradiction", *["update"] * len(readings)]
    purposes = ["contradiction", "update", "verification"][: len(tasks)]
    assert [(call.task, call.purpose) for call in provider.asked] == list(
        zip(tasks, purposes, strict=True)
    )


def test_it_asks_what_a_deposit_asks_of_the_same_two_claims(
    provider: Provider, judge: MakeJudge, store: Store
) -> None:
    provider.script = READER.script
    for name, day, text in READER.notes:
        note = Note(name, text, day, digest(text))
        deposit(store, judge(), Options(), on(day), note)
    wanted = [
        call.body
        for call in provider.asked
        if call.document.get("older", {}).get("text") == HOME and call.task != "extraction"
    ]
    assert len(wanted) == 3
    provider.asked = []
    (_, first, _), (_, second, _) = READER.notes
    probe(judge(), Stated(HOME, first), Stated(MOVED, second))
    assert [call.body for call in provider.asked] == wanted


def test_the_marker_is_the_older_claims(provider: Provider, judge: MakeJudge) -> None:
    provider.script = says(NO, OTHER)
    past = Stated("The user used to live in Turin.", None)
    assert probe(judge(), past, Stated(**MOVES))["past_value_marker"] is True
    assert probe(judge(), Stated(**LIVES), past)["past_value_marker"] is False


def test_over_the_line_a_day_may_be_unknown_and_no_store_is_made(
    provider: Provider, driver: Start, tmp_path: Path
) -> None:
    provider.script = says(NO, CHANGES, CHANGES)
    reply = asked(driver, older={**LIVES, "day": None})
    assert reply["ok"], reply
    assert reply["result"]["update"] == "changes"
    assert len(provider.asked) == 3
    for call in provider.asked:
        assert call.document["older"] == {**LIVES, "day": None}
        assert call.document["newer"] == MOVES
    assert not list(tmp_path.rglob("*.db*"))


def test_a_store_that_is_there_is_left_as_it_is(
    provider: Provider, driver: Start, tmp_path: Path
) -> None:
    provider.script = READER.script
    process = driver()
    name, day, text = READER.notes[0]
    assert process.ask("deposit", name=name, day=day, text=text)["ok"]
    file = tmp_path / ".memory-engine" / "memory.db"
    with sqlite3.connect(file) as db:
        before = list(db.iterdump())
    provider.script = says(YES, CHANGES, CHANGES)
    older, newer = ({"text": claim, "day": day} for claim in (HOME, MOVED))
    assert process.ask("probe", older=older, newer=newer)["result"]["update"] == "changes"
    with sqlite3.connect(file) as db:
        assert list(db.iterdump()) == before
    # Nor does it matter that a store cannot be used.
    process.kill()
    file.write_bytes(b"no database")
    assert asked(driver)["ok"]


FAILURES: dict[str, Reply] = {
    "provider 529": Failure(529, "overloaded_error"),
    "provider 429": Failure(429, "rate_limit_error"),
    "provider 401": Failure(401, "authentication_error"),
    "provider bytes": Failure(200, body=b"<html>"),
    "gateway_refused": Failure(403, headers={"x-should-retry": "false"}),
    "unparseable_reply prose": "Perhaps, perhaps not.",
    "unparseable_reply silent": Answer(""),
    "unparseable_reply refused": Answer("", "refusal"),
    "unparseable_reply cut": Answer(json.dumps(CHANGES), "max_tokens"),
    "unparseable_reply other": {"reason": "so", "slot": "PERHAPS", "verdict": "PERHAPS"},
}


@pytest.mark.parametrize("what", FAILURES)
@pytest.mark.parametrize("probed", [0, 1, 2])
def test_no_verdict_is_never_one(
    provider: Provider, judge: MakeJudge, what: str, probed: int
) -> None:
    answers: list[Reply] = [NO, CHANGES, CHANGES]
    answers[probed] = FAILURES[what]
    provider.script = says(*answers)
    with pytest.raises(EngineError) as failed:
        probe(judge(), Stated(**LIVES), Stated(**MOVES))
    assert failed.value.type == what.split()[0]
    assert isinstance(failed.value, UnusableReply) == what.startswith("unparseable")


@pytest.mark.parametrize("what", ["provider 529", "gateway_refused", "unparseable_reply prose"])
def test_a_failure_keeps_its_type_over_the_line_and_the_next_probe_is_answered(
    provider: Provider, driver: Start, what: str
) -> None:
    process = driver()
    provider.script = says(NO, FAILURES[what])
    reply = process.ask("probe", older=LIVES, newer=MOVES)
    assert reply["error"]["type"] == what.split()[0], reply
    provider.script = says(YES, OTHER)
    assert process.ask("probe", older=LIVES, newer=MOVES)["result"]["contradiction"] is True


def test_a_reply_that_does_not_parse_is_asked_for_once_more(
    provider: Provider, judge: MakeJudge
) -> None:
    replies: Iterator[Reply] = iter(["hm", NO, CHANGES, "hm", CHANGES])
    provider.script = lambda asked: next(replies)
    assert probe(judge(), Stated(**LIVES), Stated(**MOVES))["update"] == "changes"


@pytest.mark.parametrize(
    ("side", "claim", "said"),
    [
        ("older", None, "text of the older claim"),
        ("older", "The user moved.", "text of the older claim"),
        ("newer", {"day": None}, "text of the newer claim"),
        ("newer", {"text": 3, "day": None}, "text of the newer claim"),
        ("older", {"text": " \n", "day": None}, "empty"),
        ("older", {"text": "\ud800", "day": None}, "not Unicode"),
        ("older", {"text": "The user moved."}, "day of the older claim, or null"),
        ("newer", {"text": "The user moved.", "day": 20260901}, "neither"),
        ("newer", {"text": "The user moved.", "day": "2026-W37-2"}, "not YYYY-MM-DD"),
        ("newer", {"text": "The user moved.", "day": "2026-02-30"}, "day of the newer claim"),
    ],
)
def test_no_pair_is_a_bad_request(tmp_path: Path, side: str, claim: Any, said: str) -> None:
    driver = engine_driver.Driver({"HOME": str(tmp_path), "BENCH_SETTINGS": '{"model": "m"}'})
    request = {"id": 1, "verb": "probe", "older": LIVES, "newer": MOVES, side: claim}
    error = driver.answer(json.dumps(request).encode())["error"]
    assert error["type"] == "bad_request"
    assert said in error["message"]
