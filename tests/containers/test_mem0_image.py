"""mem0's image, alone: what is in it, and its driver under the sandbox's own conditions."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from runner.images import ensure
from runner.systems import catalog
from tests.containers.test_engine_image import SANDBOX, Container
from tests.mem0._door import Door
from tests.standin.upstream import How

pytestmark = [pytest.mark.containers, pytest.mark.all_images]

MOST_BYTES = 700_000_000
ENV = (
    "--env=HOME=/home/bench",
    "--env=ANTHROPIC_API_KEY=none",
    "--env=ANTHROPIC_BASE_URL=http://127.0.0.1:8080",
)
Start = Callable[..., Container]
HOME, AWAY = "The user lives in Delhi.", "The user moved to Mumbai."
PAGES = [
    {"name": "Ops/Backups.md", "text": "# Database backups\n\nKept for 35 days.\n"},
    {"name": "People/Leave.md", "text": "# Parental leave\n\n24 weeks on full pay.\n"},
]


@pytest.fixture(scope="module")
def image() -> str:
    return ensure("mem0").config_digest


@pytest.fixture
def start(image: str) -> Iterator[Start]:
    started: list[Container] = []

    def run(*options: str, **set_: Any) -> Container:
        settings = json.dumps({"model": "m-1", "options": set_})
        started.append(Container(image, *ENV, f"--env=BENCH_SETTINGS={settings}", *options))
        return started[-1]

    yield run
    for container in started:
        container.close()


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    door = Door(tmp_path / "door")
    yield door
    door.close()


def memories(*texts: Any) -> str:
    return json.dumps({"memory": [{"id": str(n), "text": text} for n, text in enumerate(texts)]})


def mounted(door: Door) -> str:
    return f"--volume={door.folder}:/run/door:ro"


def inside(image: str, script: str, *options: str) -> str:
    command = ["docker", "run", "--rm", *SANDBOX, *options, "--entrypoint=sh", image, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---------------------------------------------------------------- what it is


def test_it_says_what_its_description_says(start: Start) -> None:
    described = start().ask("describe")["result"]
    system = catalog.load("mem0")
    assert (described["name"], described["version"]) == (system.name, system.version)
    assert described["licence"] == system.licence
    assert tuple(described["verbs"]) == system.verbs
    assert tuple(described["capabilities"]) == system.capabilities
    assert described["encoder"].startswith("all-MiniLM-L6-v2, float32, ONNX")
    settings = described["settings"]
    assert settings["options"] == system.settle({})
    assert settings["python"].startswith("3.13.")
    assert settings["linguist"].startswith("none")


def test_it_holds_what_it_needs_and_is_quiet(image: str) -> None:
    said = inside(
        image,
        "test ! -e /opt/mem0/bin/pip && test ! -e /dev/ca.crt && test ! -w /opt/mem0 &&"
        " python -c 'import mem0_driver; print(mem0_driver.__cached__)' &&"
        " python -c 'from mem0.memory import telemetry as t;"
        " print(t.MEM0_TELEMETRY, t.client_telemetry.posthog, t._get_oss_telemetry().posthog)' &&"
        " env | grep -ci -e cert -e proxy || true",
        "--env=HOME=/home/bench",
    )
    cached, telemetry, rest = said.splitlines()
    assert cached.endswith("__init__.cpython-313.pyc")
    assert telemetry == "False None None"
    assert rest == "0"
    size = subprocess.run(
        ["docker", "image", "inspect", "--format", "{{.Size}}", image],
        capture_output=True,
        check=True,
    )
    assert int(size.stdout) < MOST_BYTES


@pytest.mark.parametrize(
    ("missing", "says"),
    [
        ("--env=FASTEMBED_CACHE_PATH=/nonexistent", "does not open"),
        ("--tmpfs=/opt/mem0/hub/models--Qdrant--bm25", "BM25"),
    ],
)
def test_without_either_half_of_its_search_it_is_degraded(
    start: Start, missing: str, says: str
) -> None:
    container = start(missing)
    for _ in range(2):
        error = container.ask("describe")["error"]
        assert error["type"] == "degraded"
        assert says in error["message"]


def test_it_stops_when_its_input_ends(start: Start) -> None:
    container = start()
    assert container.ask("describe")["ok"]
    begun = time.monotonic()
    assert container.let_go() == 0
    assert time.monotonic() - begun < 5


# ---------------------------------------------------------------- what it remembers


def test_notes_on_days_of_their_own(image: str, start: Start, door: Door, tmp_path: Path) -> None:
    container = start(mounted(door))
    for name, day, said in (
        ("reader-01.md", "2026-09-01", (HOME, "The user is in Mumbai for a week.")),
        ("reader-02-moved.md", "2026-10-01", (AWAY, HOME, AWAY)),
    ):
        noon = datetime.fromisoformat(f"{day}T12:00:00+00:00")
        offset = (noon - datetime.now(UTC)).total_seconds()
        (door.folder / "clock").write_text(f"{offset:+.3f}\n")
        door.upstream.then(How(text=memories(*said)))
        reply = container.ask("deposit", name=name, day=day, text=f"A note of {day}.")
        assert reply["ok"], reply
        assert abs(datetime.fromisoformat(reply["now"]) - noon) < timedelta(minutes=1)
    # Word for word what it holds, and what it has just heard, is dropped; and told.
    assert reply["result"] == {"memories": 1, "said": 3, "duplicates": 2, "warnings": []}
    body = door.upstream.seen[-1].document
    turn = body["messages"][0]["content"]
    assert "## Observation Date\n2026-10-01" in turn
    assert HOME in turn
    assert (body["model"], body["max_tokens"]) == ("m-1", 2000)
    assert "stream" not in body
    assert container.ask("consolidate")["result"]["done"].startswith("nothing")

    for _ in range(2):
        told = container.ask("recall", question="Where does the user live?", top_k=5)["result"]
        found = {each["text"]: (each["day"], each["source"]) for each in told["statements"]}
        assert found[HOME] == ("2026-09-01", "reader-01.md")
        assert found[AWAY] == ("2026-10-01", "reader-02-moved.md")
        scores = [each["score"] for each in told["statements"]]
        assert scores == sorted(scores, reverse=True)
    assert len(container.ask("recall", question="Mumbai", top_k=1)["result"]["statements"]) == 1
    # A memory asks no model to find something.
    assert len(door.upstream.seen) == 2
    assert container.ask("snapshot")["result"]["path"] == "/run/exchange/1"
    assert container.ask("snapshot")["result"]["path"] == "/run/exchange/2"
    assert container.ask("stop")["ok"]
    assert container.let_go() == 0


def test_pages_are_found_by_what_they_said(start: Start, door: Door) -> None:
    container = start(mounted(door))
    door.upstream.then(
        How(text=memories("Backups are kept for 35 days.", "Backups lie in London.")),
        How(text=f"Here it is:\n```json\n{memories('Parental leave is 24 weeks.')}\n```"),
    )
    told = container.ask("index", pages=PAGES)["result"]
    assert told == {
        "pages": 2,
        "remembered": 2,
        "memories": 3,
        "said": 3,
        "duplicates": 0,
        "warnings": [],
    }
    asked = container.ask("ask", question="How long are backups kept?", top_k=5)["result"]
    assert asked["refused"] is False
    # Two memories of a page are one citation, with the better one's score.
    assert [page["name"] for page in asked["pages"]][:1] == ["Ops/Backups.md"]
    assert len(asked["pages"]) == len({page["name"] for page in asked["pages"]})
    assert asked["pages"][0]["score"] > 0.3
    assert asked["receipt"]["memory"] == "Backups are kept for 35 days."
    assert 0 < asked["receipt"]["semantic"] <= 1
    again = container.ask("ask", question="How long are backups kept?", top_k=1)["result"]
    assert again["pages"] == asked["pages"][:1]
    error = container.ask("index", pages=PAGES)["error"]
    assert (error["type"], "asked once" in error["message"]) == ("bad_request", True)


def test_a_search_that_finds_nothing_is_a_refusal(start: Start, door: Door) -> None:
    container = start(mounted(door), threshold=1.0)
    door.upstream.usual = How(text=memories("Backups are kept for 35 days."))
    container.ask("index", pages=PAGES[:1])
    asked = container.ask("ask", question="Who is on call?", top_k=5)["result"]
    assert asked == {"pages": [], "refused": True, "receipt": {"memories": 0}}


def test_without_a_model_a_text_is_a_memory(start: Start, door: Door) -> None:
    container = start(mounted(door), infer=False)
    assert container.ask("index", pages=PAGES)["result"]["memories"] == 2
    told = container.ask("recall", question="How long is parental leave?", top_k=1)["result"]
    assert told["statements"][0]["text"] == PAGES[1]["text"]
    assert door.upstream.seen == []


# ---------------------------------------------------------------- what must not pass in silence


def test_nothing_to_remember_is_told(start: Start, door: Door) -> None:
    container = start(mounted(door))
    door.upstream.then(How(text='{"memory": []}'), How(text=memories("Leave is 24 weeks.")))
    told = container.ask("index", pages=PAGES)["result"]
    assert (told["pages"], told["remembered"]) == (2, 1)
    [warning] = told["warnings"]
    assert "nothing to remember of 1 of 2 texts" in warning
    assert warning.endswith("left no memory: Ops/Backups.md.")
    door.upstream.then(How(text='{"memory": []}'))
    told = container.ask("deposit", name="a.md", text="Hello.")["result"]
    assert (told["memories"], told["said"], told["duplicates"]) == (0, 0, 0)
    assert "of 1 of 1 texts" in told["warnings"][0]


def test_a_page_that_is_lost_as_a_duplicate_is_an_error(start: Start, door: Door) -> None:
    container = start(mounted(door))
    door.upstream.usual = How(text=memories("The office is in Pune."))
    error = container.ask("index", pages=PAGES)["error"]
    assert error["type"] == "degraded"
    assert error["message"].startswith("People/Leave.md: nothing of it is kept")


REFUSED = How(403, "permission_error", headers=(("x-should-retry", "false"),))
WRONG: list[tuple[How, int, str, str]] = [
    (How(529, "overloaded_error"), 3, "provider", "HTTP 529"),
    (How(400, "invalid_request_error"), 1, "provider", "HTTP 400"),
    (REFUSED, 1, "gateway_refused", "HTTP 403"),
    (How(text=memories("A."), cut_after=60), 3, "provider", "Connection error"),
    (How(body=b"<html>"), 1, "provider", "no message"),
    (How(body=b"{}"), 1, "provider", "no message"),
    (How(text=memories("A."), stop_reason="refusal"), 1, "unparseable_reply", "declined"),
    (How(text=memories("A."), stop_reason="max_tokens"), 1, "unparseable_reply", "cut short"),
    (How(text="I cannot help with that."), 1, "unparseable_reply", "not JSON"),
    (How(text='{"memory": [{"text": "A'), 1, "unparseable_reply", "not JSON"),
    (How(text=" "), 1, "unparseable_reply", "no text"),
    (How(text="[]"), 1, "unparseable_reply", "no list"),
    (How(text='{"facts": ["A."]}'), 1, "unparseable_reply", "no list"),
    (How(text='{"memory": ["A."]}'), 1, "unparseable_reply", "has no text"),
    (How(text='{"memory": [{"text": "A."}, {"fact": "B."}]}'), 1, "unparseable_reply", "memory 2"),
    (How(text='{"memory": null}'), 1, "unparseable_reply", "no list"),
]


def test_a_model_that_fails_is_an_error_on_every_way_in(start: Start, door: Door) -> None:
    container = start(mounted(door))
    for how, tries, kind, says in WRONG:
        before = len(door.upstream.seen)
        door.upstream.then(*[how] * tries)
        reply = container.ask("deposit", name="a.md", text="I live in Delhi.")
        assert not reply["ok"], how
        assert reply["error"]["type"] == kind, (how, reply)
        assert says in reply["error"]["message"], (how, reply)
        assert len(door.upstream.seen) - before == tries
    # It goes on: the next answer that is one is taken.
    door.upstream.then(How(text=memories(HOME)))
    assert container.ask("deposit", name="a.md", text="I live in Delhi.")["ok"]


@pytest.mark.parametrize(("how", "tries", "kind", "says"), [WRONG[0], WRONG[2], WRONG[6], WRONG[8]])
def test_one_page_that_fails_is_an_index_that_fails(
    start: Start, door: Door, how: How, tries: int, kind: str, says: str
) -> None:
    container = start(mounted(door))
    door.upstream.then(How(text=memories("Backups are kept for 35 days.")), *[how] * tries)
    error = container.ask("index", pages=PAGES)["error"]
    assert error["type"] == kind
    assert says in error["message"]
