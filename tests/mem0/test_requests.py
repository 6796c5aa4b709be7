import json
from typing import Any

import pytest
from mem0_driver.driver import VERBS, Driver
from mem0_driver.errors import BadRequest
from mem0_driver.requests import MAX_LINE

from runner.systems import catalog

PAGE = {"name": "a.md", "text": "# A\n"}


@pytest.fixture
def driver(tmp_path: Any) -> Driver:
    env = {"HOME": str(tmp_path), "BENCH_SETTINGS": '{"model": "m-1"}'}
    return Driver(env)


def error(driver: Driver, verb: str, **payload: Any) -> tuple[str, str]:
    reply = driver.answer(json.dumps({"id": 7, "verb": verb, **payload}).encode())
    assert reply["id"] == 7
    assert not reply["ok"]
    assert reply["now"]
    return reply["error"]["type"], reply["error"]["message"]


def test_verbs_are_the_descriptions() -> None:
    assert catalog.load("mem0").verbs == VERBS


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"", f"longer than {MAX_LINE}"),
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "not a JSON object"),
        (b"{}", "no whole number"),
        (b'{"id": true}', "no whole number"),
    ],
)
def test_what_is_no_request_is_answered(driver: Driver, line: bytes, says: str) -> None:
    reply = driver.answer(line)
    assert reply["error"]["type"] == BadRequest.type
    assert says in reply["error"]["message"]


@pytest.mark.parametrize(
    ("verb", "payload", "says"),
    [
        ("deposit", {}, "the note has no name"),
        ("deposit", {"name": " ", "text": "a"}, "the note has no name"),
        ("deposit", {"name": "a.md"}, "has no text"),
        ("deposit", {"name": "a.md", "text": " \n"}, "has no text"),
        ("deposit", {"name": "a.md", "text": "\ud800"}, "not Unicode"),
        ("index", {}, "a list with at least one"),
        ("index", {"pages": []}, "a list with at least one"),
        ("index", {"pages": ["a"]}, "page 1 has no name"),
        ("index", {"pages": [PAGE, PAGE]}, "there twice"),
        ("ask", {}, "a question has"),
        ("ask", {"question": " "}, "a question has"),
        ("ask", {"question": "a", "top_k": 0}, "top_k"),
        ("recall", {"question": 7}, "a question has"),
        ("recall", {"question": "a", "top_k": True}, "top_k"),
        ("forget", {}, "unknown verb 'forget'"),
    ],
)
def test_a_request_that_lacks_something_is_told(
    driver: Driver, verb: str, payload: dict[str, Any], says: str
) -> None:
    kind, message = error(driver, verb, **payload)
    assert kind == "bad_request"
    assert says in message


@pytest.mark.parametrize("verb", ["probe", "learn"])
def test_what_mem0_has_nothing_for(driver: Driver, verb: str) -> None:
    assert error(driver, verb) == ("unsupported", f"mem0 does not {verb}")


def test_who_holds_nothing_has_refused_nothing(driver: Driver) -> None:
    kind, message = error(driver, "ask", question="backups?", top_k=5)
    assert kind == "degraded"
    assert "index comes before ask" in message


def test_settings_that_are_wrong_are_told_by_every_verb(tmp_path: Any) -> None:
    driver = Driver({"HOME": str(tmp_path), "BENCH_SETTINGS": "{}"})
    driver.warm()
    for verb, payload in (
        ("describe", {}),
        ("deposit", {"name": "a.md", "text": "a"}),
        ("consolidate", {}),
        ("index", {"pages": [PAGE]}),
        ("ask", {"question": "a"}),
        ("recall", {"question": "a"}),
        ("snapshot", {}),
    ):
        assert error(driver, verb, **payload)[0] == "bad_request"


def test_stop_stops(driver: Driver) -> None:
    assert driver.answer(b'{"id": 1, "verb": "stop"}')["ok"]
    assert driver.stopped
