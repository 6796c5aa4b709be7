import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from page_router import driver as module
from page_router.driver import Driver
from page_router.parameters import Parameters

from runner.paths import root
from runner.suites.memory_honesty import load_vault
from runner.systems import catalog
from tests.engine._provider import Answer, Failure, Provider
from tests.router.conftest import asking

MakeDriver = Callable[..., Driver]
PAGES = [
    {"name": "Ops/Backups.md", "text": "# Database backups\n\nFull copies are kept for 35 days.\n"},
    {"name": "Ops/Dumps.md", "text": "# Nightly dumps\n\n> Replaced by [B](Backups.md)\n"},
    {"name": "People/Leave.md", "text": "# Parental leave\n\n24 weeks on full pay.\n"},
]
QUOTE = "Full copies are kept for 35 days."
WEAK = "snapshots of the copies?"


def test_it_says_what_its_description_says(driver: MakeDriver) -> None:
    described = asking(driver())("describe")["result"]
    system = catalog.load("router")
    assert described["name"] == system.name
    assert described["version"] == system.version
    assert described["licence"] == system.licence
    assert tuple(described["verbs"]) == system.verbs == module.VERBS
    assert tuple(described["capabilities"]) == system.capabilities
    assert described["encoder"] is None
    assert described["settings"]["parameters"] == Parameters().as_json()
    assert set(described["settings"]["options"]) == set(system.options)
    plain = asking(driver(settings=""))("describe")["result"]["settings"]
    assert plain["options"] == {name: option.default for name, option in system.options.items()}


def test_pages_are_taken_and_asked(driver: MakeDriver) -> None:
    ask = asking(driver())
    assert ask("index", pages=PAGES)["result"] == {"pages": 3, "replaced": 1}
    found = ask("ask", question="How long are database backups kept?", top_k=5)["result"]
    assert found["pages"][0]["name"] == "Ops/Backups.md"
    assert found["pages"][0]["score"] == found["receipt"]["score"] >= found["receipt"]["floor"]
    assert found["refused"] is False
    assert found["receipt"]["replaced"][0]["page"] == "Ops/Dumps.md"
    one = ask("ask", question="backups leave", top_k=1)["result"]
    assert len(one["pages"]) == 1


def test_a_refusal_names_no_page_and_says_why(driver: MakeDriver) -> None:
    ask = asking(driver())
    ask("index", pages=PAGES)
    found = ask("ask", question="How long do we keep Kafka topics?", top_k=5)["result"]
    assert (found["pages"], found["refused"]) == ([], True)
    assert found["receipt"]["unknown"] == ["kafka", "topics"]


def test_the_floor_can_be_set(driver: MakeDriver) -> None:
    ask = asking(driver(floor=0))
    ask("index", pages=PAGES)
    assert ask("ask", question="Kafka topics kept")["result"]["refused"] is False
    # A page that has nothing of it is no answer, wherever the floor is.
    assert ask("ask", question="Kafka topics")["result"]["refused"] is True


def test_a_whole_vault_is_counted(driver: MakeDriver) -> None:
    pages = [{"name": page.name, "text": page.text} for page in load_vault("vault2").pages]
    assert asking(driver())("index", pages=pages)["result"] == {"pages": 60, "replaced": 20}


@pytest.mark.parametrize("verb", ["ask", "learn"])
def test_nothing_indexed_is_an_error_and_no_refusal(driver: MakeDriver, verb: str) -> None:
    reply = asking(driver())(verb, question="backups?")
    assert reply["ok"] is False
    assert reply["error"]["type"] == "degraded"
    assert "no pages are indexed" in reply["error"]["message"]


@pytest.mark.parametrize(
    ("verb", "payload", "words"),
    [
        ("index", {}, "a list with at least one"),
        ("index", {"pages": []}, "a list with at least one"),
        ("index", {"pages": {}}, "a list with at least one"),
        ("index", {"pages": ["a"]}, "page 1 has no name"),
        ("index", {"pages": [{"name": " ", "text": ""}]}, "page 1 has no name"),
        ("index", {"pages": [{"name": "a.md"}]}, "page 1 (a.md) has no text"),
        ("index", {"pages": [*PAGES, PAGES[0]]}, "Ops/Backups.md is there twice"),
        ("index", {"pages": [{"name": "a.md", "text": "\ud800"}]}, "not Unicode"),
        ("ask", {}, "a question has"),
        ("ask", {"question": " "}, "a question has"),
        ("ask", {"question": 4}, "a question has"),
        ("ask", {"question": "a" * 10_001}, "a question has"),
        ("ask", {"question": "a", "top_k": 0}, "top_k"),
        ("ask", {"question": "a", "top_k": True}, "top_k"),
        ("ask", {"question": "a", "top_k": "5"}, "top_k"),
        ("learn", {"log": {}}, "learn takes a log"),
        ("learn", {"log": ["a"]}, "learn takes a log"),
        ("learn", {"log": [{"answered": False}]}, "a question has"),
        ("divine", {}, "unknown verb 'divine'"),
    ],
)
def test_a_wrong_request_is_named(
    driver: MakeDriver, verb: str, payload: dict[str, Any], words: str
) -> None:
    ask = asking(driver())
    ask("index", pages=PAGES)
    reply = ask(verb, **payload)
    assert (reply["ok"], reply["error"]["type"]) == (False, "bad_request")
    assert words in reply["error"]["message"]
    assert ask("ask", question="database backups")["result"]["refused"] is False


@pytest.mark.parametrize("verb", ["deposit", "consolidate", "probe"])
def test_other_verbs_of_the_protocol_are_unsupported(driver: MakeDriver, verb: str) -> None:
    assert asking(driver())(verb)["error"]["type"] == "unsupported"


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b"{}", b'{"id": true}', b"\xff", b"[" * 9999])
def test_a_line_that_is_no_request_has_no_id(driver: MakeDriver, line: bytes) -> None:
    reply = driver().answer(line)
    assert (reply["id"], reply["error"]["type"]) == (None, "bad_request")


@pytest.mark.parametrize(
    "settings",
    [
        "[]",
        "{",
        '{"modle": "m"}',
        '{"model": ""}',
        '{"pins": {"update": "m"}}',
        '{"options": {"flor": 1}}',
        '{"options": {"floor": 2}}',
        '{"options": {"floor": true}}',
        '{"options": {"floor": NaN}}',
        '{"options": {"proof": 1}}',
        '{"options": {"attempts": 0}}',
        '{"options": {"attempts": 1.5}}',
        '{"options": {"timeout_s": -1}}',
    ],
)
def test_wrong_settings_are_an_error_of_every_verb(driver: MakeDriver, settings: str) -> None:
    ask = asking(driver(settings=settings))
    for verb, payload in (("describe", {}), ("index", {"pages": PAGES})):
        assert ask(verb, **payload)["error"]["type"] == "bad_request"


def test_a_router_that_starts_again_has_its_pages_and_what_it_learned(
    driver: MakeDriver, provider: Provider
) -> None:
    first = driver()
    ask = asking(first)
    ask("index", pages=PAGES)
    assert ask("ask", question=WEAK)["result"]["refused"]
    provider.script = lambda asked: {"page": "p1", "quote": QUOTE}
    learned = ask("learn")["result"]
    assert learned["learned"] == [{"question": WEAK, "page": "Ops/Backups.md", "quote": QUOTE}]
    assert (learned["looked_at"], learned["asked"], learned["calls"]) == (1, 1, {"learning": 1})
    for asks in (ask, asking(driver())):
        found = asks("ask", question="where are the snapshots")["result"]
        assert found["pages"][0]["name"] == "Ops/Backups.md"
        assert found["receipt"]["matched"]["snapshot"] == ["trigger"]
    # The pages anew: what was learned stays.
    ask("index", pages=PAGES[:1])
    assert ask("ask", question="where are the snapshots")["result"]["refused"] is False


def test_the_log_is_private_and_read_once(
    driver: MakeDriver, provider: Provider, tmp_path: Path
) -> None:
    ask = asking(driver())
    ask("index", pages=PAGES)
    ask("ask", question=WEAK)
    log = tmp_path / ".page-router" / "asked.jsonl"
    (line,) = log.read_text().splitlines()
    assert json.loads(line)["question"] == WEAK
    folder = Path(ask("snapshot")["result"]["path"])
    assert [file.name for file in folder.iterdir()] == ["router.db"]
    assert b"snapshots of the copies" not in (folder / "router.db").read_bytes()
    provider.script = lambda asked: {"page": None, "quote": ""}
    assert ask("learn")["result"]["declined"] == 1
    assert ask("learn")["result"]["looked_at"] == 0
    given = ask("learn", log=[{"question": WEAK, "answered": False}])
    assert given["result"]["declined"] == 1


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Failure(500), "provider"),
        (Failure(403, headers={"x-should-retry": "false"}), "gateway_refused"),
        ("no json", "unparseable_reply"),
        (Answer("{}", "max_tokens"), "unparseable_reply"),
    ],
)
def test_a_failed_night_teaches_nothing_and_keeps_the_log(
    driver: MakeDriver, provider: Provider, reply: Any, kind: str
) -> None:
    ask = asking(driver())
    ask("index", pages=PAGES)
    for question in (WEAK, "zebra copies"):
        ask("ask", question=question)
    good = {"page": "p1", "quote": QUOTE}
    provider.script = lambda asked: good if asked.document["question"] == WEAK else reply
    failed = ask("learn")
    assert (failed["ok"], failed["error"]["type"]) == (False, kind)
    assert ask("ask", question="where are the snapshots")["result"]["refused"]
    provider.script = lambda asked: good
    assert len(ask("learn")["result"]["learned"]) == 2


def test_the_proof_can_be_left_out(driver: MakeDriver, provider: Provider) -> None:
    provider.script = lambda asked: {"page": "p1", "quote": "made up by somebody here"}
    for proof, learned in ((True, 0), (False, 1)):
        ask = asking(driver(proof=proof))
        ask("index", pages=PAGES)
        done = ask("learn", log=[{"question": WEAK}])["result"]
        assert (len(done["learned"]), len(done["unproved"])) == (learned, 1 - learned)
        assert done["proof"] is proof


def test_learning_needs_a_model(driver: MakeDriver) -> None:
    ask = asking(driver(settings="{}"))
    ask("index", pages=PAGES)
    assert ask("learn", log=[{"question": WEAK}])["error"]["type"] == "bad_request"
    assert ask("ask", question="database backups")["ok"]


def test_a_store_that_is_not_what_was_put_in_is_degraded(
    driver: MakeDriver, tmp_path: Path
) -> None:
    ask = asking(driver())
    ask("index", pages=PAGES)
    file = tmp_path / ".page-router" / "router.db"
    with sqlite3.connect(file) as db:
        db.execute("UPDATE pages SET text = 'other' WHERE seq = 1")
    assert asking(driver())("ask", question="backups")["error"]["type"] == "degraded"
    with sqlite3.connect(file) as db:
        db.execute("PRAGMA user_version = 9")
    assert asking(driver())("ask", question="backups")["error"]["type"] == "degraded"


def test_a_file_that_is_no_store_is_degraded(driver: MakeDriver, tmp_path: Path) -> None:
    folder = tmp_path / ".page-router"
    folder.mkdir()
    (folder / "router.db").write_bytes(b"no database" * 1000)
    assert asking(driver())("index", pages=PAGES)["error"]["type"] == "degraded"


def test_an_exchange_that_cannot_be_written_is_an_error(driver: MakeDriver, tmp_path: Path) -> None:
    ask = asking(driver())
    (tmp_path / "exchange").rmdir()
    assert ask("snapshot")["error"]["type"] == "internal"


@pytest.mark.parametrize("last", ["stop", "describe"])
def test_it_serves_lines_until_it_is_stopped_or_its_input_ends(tmp_path: Path, last: str) -> None:
    lines = [{"id": 1, "verb": "index", "pages": PAGES}, {"id": 2, "verb": last}]
    done = subprocess.Popen(
        [sys.executable, "-m", "page_router"],
        env={"HOME": str(tmp_path), "PYTHONPATH": str(root() / "images" / "router")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert done.stdin is not None
    assert done.stdout is not None
    with done, done.stdin, done.stdout:
        done.stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        done.stdin.flush()
        replies = [json.loads(done.stdout.readline()) for _ in lines]
        if last == "stop":
            assert done.wait(10) == 0
        done.stdin.close()
        assert done.wait(10) == 0
    assert [reply["ok"] for reply in replies] == [True, True]
    assert set(replies[0]) == {"id", "ok", "result", "now", "ms"}


def test_only_the_standard_library_is_used() -> None:
    names: set[str] = set()
    for file in (root() / "images" / "router" / "page_router").glob("*.py"):
        for line in file.read_text().splitlines():
            words = line.split()
            if line.startswith(("import ", "from ")):
                names.add(words[1].split(".")[0])
    assert names - {"page_router"} <= set(sys.stdlib_module_names)
