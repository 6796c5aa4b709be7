"""basic-memory's image, alone: its versions and embedders, its answers beside its command line's,
its days, and what it does when something it needs is gone."""

import json
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from runner.images import ensure
from runner.model import StepRecord
from runner.suites.memory_honesty import answers, grades, load_exam, load_set, load_vault, steps
from runner.systems import catalog
from tests.containers._basic_memory import (
    BY_THE_SERVER,
    COMMAND_LINE,
    FLAGS,
    KILL,
    SANDBOX,
    Inhabited,
    Rows,
    index,
    rows,
)

pytestmark = [pytest.mark.containers, pytest.mark.all_images, pytest.mark.timeout(900)]

MOST_BYTES = 800_000_000
NEAR = 1e-6
PAGES = [{"name": page.name, "text": page.text} for page in load_vault("vault1").pages]
QUESTIONS = [question.q for question in load_set("dev").questions][:20]
ZH = [question for question in load_set("dev3").questions if question.lang == "zh"]

Start = Callable[..., Inhabited]


@pytest.fixture(scope="module")
def image() -> str:
    return ensure("basic-memory").config_digest


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[Inhabited] = []

    def run(image: str, *docker: str, **options: object) -> Inhabited:
        started.append(Inhabited(image, *docker, **options))
        return started[-1]

    yield run
    for container in started:
        container.close()


@pytest.fixture(scope="module")
def indexed(image: str) -> Iterator[Inhabited]:
    """One that has a whole vault, for tests that only look."""
    container = Inhabited(image)
    index(container, PAGES)
    yield container
    container.close()


# ---------------------------------------------------------------- what it answers


def test_it_says_what_its_description_says(indexed: Inhabited) -> None:
    described = indexed.ask("describe")["result"]
    system = catalog.load("basic-memory")
    assert (described["name"], described["version"]) == (system.name, system.version)
    assert described["licence"] == system.licence
    assert tuple(described["verbs"]) == system.verbs
    assert tuple(described["capabilities"]) == system.capabilities
    assert described["settings"]["python"].startswith("3.13.")
    assert "MiniLM" in described["encoder"]


def test_a_development_set(indexed: Inhabited) -> None:
    exam = load_exam("dev")
    records = []
    for step in steps(exam, "dev", 1):
        reply = {"ok": True, "result": {"pages": len(PAGES)}}
        if step.verb == "ask":
            reply = indexed.ask(step.verb, **step.payload)
        assert reply["ok"], reply
        told = {"name": step.name, "verb": step.verb, "result": reply["result"]}
        records.append(StepRecord(**told, seconds=0))
    given = answers(exam, records)
    # Without a floor every question is answered; with one set it would not be.
    assert all(answer.answered for answer in given)
    right = [grade for grade in grades(exam, given) if grade.behaved]
    assert 8 <= len(right) <= 20


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("search", FLAGS)
def test_twenty_questions_are_answered_as_by_the_command_line(
    indexed: Inhabited, search: str
) -> None:
    def asked(script: str, *flags: str) -> list[Rows]:
        said = indexed.run("python", "-c", script, *flags, given=QUESTIONS, search=search)
        return [rows(answer) for answer in json.loads(said)]

    server, command = asked(BY_THE_SERVER), asked(COMMAND_LINE, *FLAGS[search])
    assert len(server) == len(command) == 20
    for one, other in zip(server, command, strict=True):
        same(one, other)
    # Forking past the imports changes nothing: the program as it is says the same.
    place = next(place for place, found in enumerate(command) if found or place == 19)
    line = ("basic-memory", "tool", "search-notes", QUESTIONS[place], "--json", *FLAGS[search])
    same(rows(json.loads(indexed.run(*line, search=search))), command[place])
    if search == "default":
        for question, other in zip(QUESTIONS, command, strict=True):
            reply = indexed.ask("ask", question=question, top_k=10)
            pages = [(page["name"], page["score"]) for page in reply["result"]["pages"]]
            same(pages, other)


def same(one: Rows, other: Rows) -> None:
    """The same pages in the same order, with the same scores."""
    assert [name for name, _ in one] == [name for name, _ in other]
    assert [score for _, score in one] == pytest.approx([score for _, score in other], abs=NEAR)


@pytest.mark.parametrize("version", ["0.23.2", "0.22.1"])
def test_other_versions_index_and_answer(start: Start, version: str) -> None:
    container = start(ensure("basic-memory", version=version).config_digest)
    assert container.ask("describe")["result"]["version"] == version
    index(container, PAGES[:10])
    for page in PAGES[:3]:
        title = Path(page["name"]).stem
        found = container.ask("ask", question=title, top_k=3)["result"]
        assert found["pages"][0]["name"] == page["name"]
        assert not found["refused"]
    assert container.ask("snapshot")["ok"]


def test_the_multilingual_embedder_finds_chinese_pages(start: Start) -> None:
    container = start(ensure("basic-memory", model="e5").config_digest, search="vector")
    assert "multilingual-e5-small" in container.ask("describe")["result"]["encoder"]
    asked = [question for question in ZH if question.gold][:3]
    gold = {question.gold[0] for question in asked}
    vault = [
        {"name": page.name, "text": page.text}
        for page in load_vault("vault2").pages
        if not page.superseded and (page.name in gold or not page.name.isascii())
    ][:8]
    vault += [
        {"name": page.name, "text": page.text}
        for page in load_vault("vault2").pages
        if page.name in gold and page.name not in {one["name"] for one in vault}
    ]
    index(container, vault)
    firsts = [
        container.ask("ask", question=question.q, top_k=1)["result"]["pages"][0]["name"]
        for question in asked
    ]
    assert sum(first in question.gold for first, question in zip(firsts, asked, strict=True)) >= 2
    # Its server is gone: a search that fails is no refusal, and never becomes one of words alone.
    container.run("python", "-c", KILL, "basic_memory_driver.e5")
    reply = container.ask("ask", question=asked[0].q, top_k=1)
    assert (reply["ok"], reply["error"]["type"]) == (False, "degraded"), reply


# ---------------------------------------------------------------- what it does without


def test_without_its_embedder_it_does_not_start(image: str, start: Start) -> None:
    container = start(image, "--env=FASTEMBED_CACHE_PATH=/tmp/nothing")
    for verb, payload in (
        ("describe", {}),
        ("index", {"pages": PAGES[:2]}),
        ("ask", {"question": "backups", "top_k": 3}),
        ("deposit", {"name": "a.md", "text": "Tea at four.", "day": "2026-09-01"}),
    ):
        reply = container.ask(verb, **payload)
        assert (reply["ok"], reply["error"]["type"]) == (False, "degraded"), reply
    # By words alone it has no need of one.
    words = start(image, "--env=FASTEMBED_CACHE_PATH=/tmp/nothing", search="text")
    index(words, PAGES[:2])
    title = Path(PAGES[0]["name"]).stem
    assert words.ask("ask", question=title, top_k=1)["result"]["pages"]


def test_nothing_found_by_a_search_that_worked_is_a_refusal(indexed: Inhabited) -> None:
    reply = indexed.ask("ask", question="zyxwvut NOT zyxwvut", top_k=3)
    assert reply["ok"], reply
    assert (reply["result"]["refused"], reply["result"]["pages"]) == (True, [])


# ---------------------------------------------------------------- notes and days


@pytest.mark.parametrize("version", [None, "0.22.1"])
def test_notes_are_of_the_day_they_were_given(
    start: Start, tmp_path: Path, version: str | None
) -> None:
    container = start(
        ensure("basic-memory", version=version).config_digest, f"--volume={door(tmp_path)}"
    )
    for day, text in (("2026-09-01", "I live in Delhi."), ("2026-10-01", "I moved to Mumbai.")):
        at(tmp_path, day)
        reply = container.ask("deposit", name=f"note-{day}.md", day=day, text=text)
        assert reply["ok"], reply
        assert reply["result"]["taken"].startswith(day)
        assert reply["now"].startswith(day)
    assert container.ask("consolidate")["result"] == {"pages": 2}
    said = container.ask("recall", question="Where do I live?", top_k=2)["result"]["statements"]
    assert {(one["source"], one["day"]) for one in said} == {
        ("note-2026-09-01.md", "2026-09-01"),
        ("note-2026-10-01.md", "2026-10-01"),
    }
    assert "Delhi" in " ".join(one["text"] for one in said)
    assert container.ask("snapshot")["result"]["path"] == "/run/exchange/1"
    assert container.ask("stop")["ok"]
    assert container.let_go() == 0


def test_a_version_that_takes_the_files_time_says_so(start: Start, tmp_path: Path) -> None:
    image = ensure("basic-memory", version="0.23.2").config_digest
    container = start(image, f"--volume={door(tmp_path)}")
    at(tmp_path, "2026-09-01")
    reply = container.ask("deposit", name="a.md", day="2026-09-01", text="I live in Delhi.")
    assert (reply["ok"], reply["error"]["type"]) == (False, "degraded"), reply


def door(folder: Path) -> str:
    """A folder that is mounted where the clock is looked for."""
    (folder / "door").mkdir(mode=0o755, exist_ok=True)
    return f"{folder / 'door'}:/run/door:ro"


def at(folder: Path, day: str) -> None:
    """Set the clock to noon of a day, at once: somebody reads it all the time."""
    offset = datetime.fromisoformat(f"{day}T12:00:00+00:00") - datetime.now(UTC)
    fresh = folder / "door" / "clock.new"
    fresh.write_text(f"{offset / timedelta(seconds=1):+.3f}\n")
    fresh.rename(folder / "door" / "clock")


# ---------------------------------------------------------------- what is in it


def test_it_holds_no_tool_to_install_with_and_no_certificate_of_the_build(image: str) -> None:
    look = (
        "test ! -e /opt/basic-memory/bin/pip && test ! -e /dev/ca.crt &&"
        " test ! -w /opt/basic-memory && python -c 'import basic_memory_driver as d;"
        " print(d.__cached__)' && env | grep -ci -e cert -e proxy || true"
    )
    done = subprocess.run(
        ["docker", "run", "--rm", *SANDBOX, "--entrypoint=sh", image, "-c", look],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    cached, *rest = done.stdout.split()
    assert cached.endswith("__init__.cpython-313.pyc")
    assert rest == ["0"]


def test_it_is_no_larger_than_it_may_be(image: str) -> None:
    said = subprocess.run(
        ["docker", "image", "inspect", "--format", "{{.Size}}", image],
        capture_output=True,
        check=True,
    )
    assert int(said.stdout) < MOST_BYTES


def test_it_ends_when_its_input_does(image: str, start: Start) -> None:
    container = start(image)
    assert container.ask("describe")["ok"]
    assert container.let_go() == 0
