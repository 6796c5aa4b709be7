"""What linkedparticles puts before a model for a question: without one, and without a trace."""

import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runner.suites.trip_vs_move import Case, load_case, steps
from runner.systems.particles.reader import FILE
from tests.particles._relay import relay
from tests.particles._run import Door, DriverBox, Installed, gateway, run, scripted

pytestmark = [pytest.mark.particles, pytest.mark.timeout(300)]


class Told:
    """A driver that is told the notes of a case, one after another."""

    def __init__(self, driver: DriverBox, door: Door, case: Case) -> None:
        self.driver, self.door = driver, door
        self._steps = [step for step in steps(case, "move") if not step.aside]

    def next(self) -> None:
        step = self._steps.pop(0)
        self.door.ask("step", name=step.name)
        self.driver.step(step)

    def digest(self) -> str:
        folder = Path(self.driver.result("snapshot")["path"])
        return hashlib.sha256((folder / FILE).read_bytes()).hexdigest()

    def recall(self, question: str, top_k: int = 3) -> list[dict[str, Any]]:
        self.door.ask("step", name="recall")
        found: list[dict[str, Any]] = self.driver.result("recall", question=question, top_k=top_k)[
            "statements"
        ]
        return found

    def calls(self) -> int:
        return len(self.door.calls())


@pytest.fixture
def told(request: pytest.FixtureRequest, folder: Path) -> Iterator[Told]:
    """On the version a test names, or on the usual one."""
    installed: Installed = request.getfixturevalue(getattr(request, "param", "particles"))
    case = load_case("reader")
    with gateway(folder, scripted(case)) as door, relay(door.socket) as port:
        door.ask("clock", offset_s=0.0)
        driver = DriverBox(installed, folder, port, door.clock, {}, {})
        try:
            yield Told(driver, door, case)
        finally:
            driver.close()


@pytest.mark.parametrize("told", ["particles", "older_particles"], indirect=True)
def test_it_changes_nothing_in_the_store_and_asks_no_model(told: Told) -> None:
    assert told.recall("Where does the user live?") == []
    for _ in range(2):
        told.next()
        calls, before = told.calls(), told.digest()
        assert told.digest() == before, "a snapshot alone changes it"
        for question in ("Where does the user live?", "Which pope wrote the longest encyclical?"):
            found = told.recall(question)
            assert 0 < len(found) <= 3
            assert all(set(one) == {"text", "day", "score", "source"} for one in found)
        assert told.digest() == before
        assert told.calls() == calls


def test_what_was_replaced_does_not_come(told: Told) -> None:
    told.next()
    home, *_ = told.recall("Where does the user live?")
    assert home["text"] == "The user lives in Delhi."
    assert home["source"] == "reader-01.md"
    assert 0 < home["score"] <= 1
    assert len(told.recall("Where does the user live?", 1)) == 1
    told.next()
    assert [one["source"] for one in told.recall("Where does the user live?")] == [
        "reader-02-moved.md"
    ]


def test_its_day_is_the_note_s(particles: Installed, folder: Path) -> None:
    ran = run(particles, folder, load_case("reader"), "move")
    days = {
        name: {one["day"] for one in json.loads(said)["statements"]}
        for name, said in ran.output.items()
        if name.startswith("recall home")
    }
    assert days == {
        "recall home after deposit reader-01.md": {"2026-09-01"},
        "recall home after deposit reader-02-moved.md": {"2026-10-01"},
        "recall home after consolidate": {"2026-10-01"},
    }


def test_a_question_takes_no_longer_than_a_verb_without_one(told: Told) -> None:
    told.next()
    told.recall("Where does the user live?")
    started = time.monotonic()
    for _ in range(5):
        told.recall("Where does the user live?")
    assert (time.monotonic() - started) / 5 < 2.0


def test_a_question_that_is_none(told: Told) -> None:
    for given in ({}, {"question": ""}, {"question": "x" * 9000}, {"question": "a", "top_k": 0}):
        reply = told.driver.ask("recall", **given)
        assert reply["error"]["type"] == "bad_request"
        assert reply["error"]["message"].startswith("recall needs")
