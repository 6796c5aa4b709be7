"""Pages in, questions asked: by the engine's own server, and through the door like all else."""

import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runner.gateway.config import TableSource
from runner.suites.trip_vs_move import load_case
from tests.particles._relay import relay
from tests.particles._run import Door, DriverBox, Installed, gateway, scripted
from tests.particles._upstream import Standing, standing
from tests.particles.test_lifeline import group
from tests.standin.upstream import How

pytestmark = [pytest.mark.particles, pytest.mark.timeout(300)]

PAGES = [
    {"name": "p001.md", "text": "The deploy runs every Monday.\n"},
    {"name": "p002.md", "text": "The database is backed up at night.\n"},
    {"name": "p 003.md", "text": "Rita keeps the keys of the office.\n"},
]
TABLE = """
schema = 1
about = "Reads each page as the one claim it is, and answers what it is asked."
[[answer]]
id = "deploy"
match = { task = "extraction", "note.text" = "*deploy runs*" }
reply = [{ content = "The deploy runs every Monday.", confidence_value = 0.95 }]
usage = { input = 500, output = 50 }
[[answer]]
id = "backup"
match = { task = "extraction", "note.text" = "*backed up*" }
reply = [{ content = "The database is backed up at night.", confidence_value = 0.95 }]
usage = { input = 500, output = 50 }
[[answer]]
id = "keys"
match = { task = "extraction", "note.text" = "*keys of the office*" }
reply = [{ content = "Rita keeps the keys of the office.", confidence_value = 0.95 }]
usage = { input = 500, output = 50 }
[[answer]]
id = "question-on-the-deploy"
match = { task = "answer", question = "*deploy*", "claims.0.text" = "The deploy runs*Monday." }
text = "It runs every Monday."
usage = { input = 300, output = 20 }
[[answer]]
id = "question-beside-the-deploy"
match = { task = "answer", question = "*database*" }
text = "NO_RELEVANT_KNOWLEDGE\\nNothing is said of that."
usage = { input = 300, output = 20 }
[[answer]]
id = "no-contradiction"
match = { task = "contradiction" }
reply = { reason = "they are about two things", verdict = "NO" }
usage = { input = 300, output = 20 }
"""


class Asked:
    """A driver with pages in it, behind a gateway that answers out of the table."""

    def __init__(self, driver: DriverBox, door: Door) -> None:
        self.driver = driver
        self.door = door

    def ask(self, question: str, top_k: int = 5) -> dict[str, Any]:
        self.door.ask("step", name=question)
        return self.driver.result("ask", question=question, top_k=top_k)

    def purposes(self, step: str) -> list[str]:
        return [call.purpose for call in self.door.calls() if call.step == step]


@pytest.fixture(scope="module")
def asked(particles: Installed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    folder = tmp_path_factory.mktemp("asked")
    source = TableSource(
        name="pages", content=TABLE, sha256=hashlib.sha256(TABLE.encode()).hexdigest()
    )
    config = scripted(load_case("reader"), tables=(source,), names={})
    with gateway(folder, config) as door, relay(door.socket) as port:
        door.ask("clock", offset_s=0.0)
        driver = DriverBox(particles, folder, port, door.clock, {}, {})
        try:
            made = Asked(driver, door)
            door.ask("step", name="index")
            indexed = driver.result("index", pages=PAGES)
            assert indexed == {"pages": 3, "claims": {"ACTIVE": 3}}
            yield made
        finally:
            driver.close()


def test_each_page_is_read_once(asked: Asked) -> None:
    assert asked.purposes("index").count("extraction") == len(PAGES)


def test_an_answer_names_its_pages_best_first(asked: Asked) -> None:
    said = asked.ask("When does the deploy run?")
    assert said["pages"][0] == {"name": "p001.md", "score": 1.0}
    assert [page["name"] for page in said["pages"]][1:] != ["p001.md"]
    assert said["refused"] is False
    receipt = said["receipt"]
    assert receipt["relevance"]["max_similarity"] > receipt["relevance"]["floor"]
    assert len(receipt["claims"]) == 3
    assert receipt["answer"] == "It runs every Monday."
    assert asked.purposes("When does the deploy run?") == ["query_response"]
    names = {page["name"] for page in asked.ask("When does the deploy run?", 3)["pages"]}
    assert names == {page["name"] for page in PAGES}


def test_a_question_it_holds_nothing_near_to_needs_no_model(asked: Asked) -> None:
    said = asked.ask("Which pope wrote the longest encyclical of Avignon?")
    assert said["refused"] is True
    assert said["receipt"]["relevance"]["below_floor"] is True
    assert asked.purposes("Which pope wrote the longest encyclical of Avignon?") == []


def test_the_model_may_decline(asked: Asked) -> None:
    said = asked.ask("Who bought the database?")
    assert said["refused"] is True
    assert said["receipt"]["relevance"]["below_floor"] is False


def test_the_server_is_kept_and_warm(asked: Asked) -> None:
    asked.ask("When does the deploy run?")
    started = time.monotonic()
    for _ in range(5):
        asked.ask("When does the deploy run?")
    assert (time.monotonic() - started) / 5 < 1.0
    assert len(group(asked.driver.process.pid)) == 1


def test_a_question_that_is_none(asked: Asked) -> None:
    for given in ({}, {"question": ""}, {"question": "x" * 9000}, {"question": "a", "top_k": 0}):
        assert asked.driver.ask("ask", **given)["error"]["type"] == "bad_request"
    assert asked.driver.ask("index", pages="all")["error"]["type"] == "bad_request"
    page = {"name": "../p.md", "text": "a"}
    assert asked.driver.ask("index", pages=[page])["error"]["type"] == "bad_request"


def test_it_ends_with_the_driver(particles: Installed, folder: Path) -> None:
    for how in ("stop", "close", "kill"):
        home = folder / how
        home.mkdir()
        driver = DriverBox(particles, home, 9, home / "clock", {}, {"LD_PRELOAD": ""})
        assert driver.result("ask", question="Who?", top_k=1)["pages"] == []
        (server,) = group(driver.process.pid)
        if how == "stop":
            driver.result("stop")
        elif how == "close":
            assert driver.process.stdin is not None
            driver.process.stdin.close()
        else:
            driver.process.kill()
        driver.process.wait(10)
        for _ in range(100):
            if not _alive(server):
                break
            time.sleep(0.02)
        else:
            os.kill(server, 9)
            raise AssertionError(f"the server lives on after {how}")
        driver.close()


@pytest.fixture(scope="module")
def upstream() -> Iterator[Standing]:
    with standing() as made:
        yield made


def test_an_answer_that_failed_is_no_answer(
    particles: Installed, upstream: Standing, folder: Path
) -> None:
    driver = DriverBox(particles, folder, upstream.port, folder / "clock", {}, {"LD_PRELOAD": ""})
    try:
        claim = '[{"content": "The deploy runs every Monday.", "confidence_value": 0.95}]'
        upstream.answer(How(text=claim))
        driver.result("index", pages=PAGES[:1])
        failed = How(status=529, kind="overloaded_error", headers=(("x-should-retry", "false"),))
        refused = How(text="No.", stop_reason="refusal")
        for how in (failed, refused):
            upstream.answer(how)
            reply = driver.ask("ask", question="When does the deploy run?", top_k=3)
            assert reply["error"]["type"] == "provider", reply
        upstream.answer(How(text="On Mondays."))
        assert driver.result("ask", question="When does the deploy run?", top_k=3)["pages"]
    finally:
        driver.close()


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
