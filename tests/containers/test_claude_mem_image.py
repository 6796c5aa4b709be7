"""claude-mem's image, alone: what is in it, and its driver under the sandbox's own conditions."""

import json
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from runner.gateway.tables import Tables
from runner.images import ensure, labels
from runner.paths import fixtures
from runner.runs.page_tables import remembering
from runner.runs.sandbox import Engine
from runner.suites.memory_honesty import load_vault
from runner.systems import catalog
from runner.systems.claude_mem.wire import ClaudeMemWire
from tests.containers.test_engine_image import SANDBOX, Container
from tests.mem0._door import Door
from tests.standin.upstream import How

pytestmark = [pytest.mark.containers, pytest.mark.all_images]

MOST_BYTES = 1_200_000_000
ENV = (
    "--env=HOME=/home/bench",
    "--env=ANTHROPIC_API_KEY=none",
    "--env=ANTHROPIC_BASE_URL=http://127.0.0.1:8080",
    # As in the sandbox: no shared memory, and programs may lie in the home.
    "--ipc=none",
    "--tmpfs=/home/bench:uid=10001,mode=0700,exec,size=512m",
    "--tmpfs=/tmp:exec,size=256m",
    "--memory=2g",
    "--pids-limit=512",
)
Start = Callable[..., Container]
VAULT = load_vault("vault1")
PAGES = [{"name": page.name, "text": page.text} for page in VAULT.pages[:6]]
NAMES = [page["name"] for page in PAGES]
SKIP = '<skip_summary reason="nothing yet" />'
SUMMARY = "<summary><request>r</request><learned>l</learned></summary>"


@pytest.fixture(scope="module")
def image() -> str:
    return ensure("claude-mem").config_digest


@pytest.fixture
def start(image: str) -> Iterator[Start]:
    started: list[Container] = []

    def run(*options: str, **set_: Any) -> Container:
        settings = json.dumps({"model": "claude-sonnet-5-5", "options": set_})
        # The home of the last of two mounts is the one that counts.
        started.append(Container(image, *ENV, f"--env=BENCH_SETTINGS={settings}", *options))
        return started[-1]

    yield run
    for container in started:
        container.close()


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    """A model that takes notes of pages, as the bench's scripted one does."""
    door = Door(tmp_path / "door")
    door.upstream.wire = ClaudeMemWire()
    by_hand = (fixtures() / "scripted/claude-mem/memory-honesty.toml").read_text()
    made = remembering("observation", VAULT, "session")
    door.upstream.tables = Tables.load([("by-hand", by_hand), ("pages", made)], {})
    yield door
    door.close()


def mounted(door: Door) -> str:
    return f"--volume={door.folder}:/run/door:ro"


def observation(title: str, *facts: str, files: tuple[str, ...] = ()) -> str:
    said = "".join(f"<fact>{fact}</fact>" for fact in facts)
    read = "".join(f"<file>{file}</file>" for file in files)
    return (
        f"<observation><type>discovery</type><title>{title}</title><facts>{said}</facts>"
        f"<narrative>{' '.join(facts)}</narrative><files_read>{read}</files_read></observation>"
    )


def set_clock(door: Door, now: datetime) -> None:
    """Move the clock in one go, as the gateway does: half a file would end who reads it."""
    part = door.folder / "clock.part"
    part.write_text(f"{(now - datetime.now(UTC)).total_seconds():+.3f}\n")
    part.replace(door.folder / "clock")


def inside(image: str, script: str, *options: str) -> str:
    command = ["docker", "run", "--rm", *SANDBOX, *options, "--entrypoint=sh", image, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def asked(door: Door) -> list[str]:
    """What each model call was for."""
    wire = ClaudeMemWire()
    seen = [each for each in door.upstream.seen if each.method == "POST"]
    return [wire.purpose(each.headers, each.document) for each in seen]


# ---------------------------------------------------------------- what it is


def test_it_says_what_its_description_says(start: Start) -> None:
    described = start().ask("describe")["result"]
    system = catalog.load("claude-mem")
    assert (described["name"], described["version"]) == (system.name, system.version)
    assert described["licence"] == system.licence
    assert tuple(described["verbs"]) == system.verbs
    assert tuple(described["capabilities"]) == system.capabilities
    assert described["encoder"].startswith("all-MiniLM-L6-v2 (onnx, sha256 ")
    settings = described["settings"]
    assert settings["options"] == system.settle({})
    assert (settings["claude_code"], settings["bun"]) == ("2.1.197", "1.4.5")
    assert settings["claude_mem"]["CLAUDE_MEM_MODEL"] == "claude-sonnet-5-5"


def test_it_holds_what_it_needs_and_is_marked(image: str, engine: Engine) -> None:
    said = inside(
        image,
        "test ! -e /opt/claude-mem/chroma/bin/pip && test ! -e /dev/ca.crt &&"
        " ! command -v npm && test ! -w /opt/claude-mem && ls /opt/claude-mem/node_modules/@oven"
        " && /opt/claude-mem/chroma/bin/python3 -c 'import chroma_mcp.server'"
        " && env | grep -ci -e cert -e proxy -e token -e key; cat /usr/share/memory-bench/*.json",
    )
    first, none, *listed = said.splitlines()
    assert first.startswith("bun-linux-")
    assert none == "0"
    packages = {row["name"]: row["version"] for row in json.loads("\n".join(listed))}
    assert packages["claude-mem"] == "13.25.3"
    assert packages["@anthropic-ai/claude-code"] == "2.1.197"
    assert packages["chroma-mcp"] == "0.2.6"
    assert "nodejs" in packages
    found = engine.call("GET", f"/images/{image}/json")
    assert found["Size"] < MOST_BYTES
    assert found["Config"]["Labels"][labels.REDISTRIBUTION].startswith("no: It holds Claude Code")


def test_it_stops_when_its_input_ends(start: Start, door: Door) -> None:
    container = start(mounted(door))
    assert container.ask("describe")["ok"]
    begun = time.monotonic()
    assert container.let_go() == 0
    assert time.monotonic() - begun < 5


def test_a_login_in_its_environment_is_refused(start: Start, door: Door) -> None:
    container = start("--env=CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat", mounted(door))
    for verb in ("describe", "consolidate"):
        error = container.ask(verb)["error"]
        assert error["type"] == "bad_request"
        assert "CLAUDE_CODE_OAUTH_TOKEN" in error["message"]
    assert door.upstream.seen == []


def test_without_its_encoder_it_is_degraded(start: Start) -> None:
    error = start("--tmpfs=/opt/claude-mem/onnx_models").ask("describe")["error"]
    assert (error["type"], "encoder" in error["message"]) == ("degraded", True)


# ---------------------------------------------------------------- pages


@pytest.mark.parametrize(
    ("mode", "wanted"),
    [
        ("endpoints", {"briefing": 2, "observation": 6, "summary": 2}),
        ("session", {"briefing": 2, "observation": 6, "summary": 2, "session": 8}),
    ],
)
def test_every_page_is_noted_and_found(
    start: Start, door: Door, mode: str, wanted: dict[str, int]
) -> None:
    container = start(mounted(door), mode=mode, session_pages=3)
    told = container.ask("index", pages=PAGES)
    assert told["ok"], told
    assert told["result"] == {
        "pages": 6,
        "observations": 6,
        "of_several_files": 0,
        "of_no_file": 0,
        "sessions": 2,
        "summaries": 2,
    }
    calls = asked(door)
    assert {purpose: calls.count(purpose) for purpose in dict.fromkeys(calls)} == wanted
    for page in VAULT.pages[:6]:
        found = container.ask("ask", question=page.title, top_k=2)["result"]
        names = [each["name"] for each in found["pages"]]
        assert page.name in names
        assert len(names) == len(set(names)) == 2
        assert {each["score"] for each in found["pages"]} == {None}
        assert found["refused"] is False
        assert found["receipt"]["of_several_files"] == 0
    (first,) = container.ask("recall", question=VAULT.pages[0].title, top_k=1)["result"][
        "statements"
    ]
    assert first["source"] in NAMES
    assert first["day"] == datetime.now(UTC).date().isoformat()
    # Asking asks no model.
    assert asked(door) == calls
    assert container.ask("snapshot")["result"]["path"] == "/run/exchange/1"
    error = container.ask("index", pages=PAGES)["error"]
    assert (error["type"], "asked once" in error["message"]) == ("bad_request", True)


def test_of_several_files_the_first_is_cited_and_they_are_counted(start: Start, door: Door) -> None:
    first, second = NAMES[:2]
    both = (f"/home/bench/vault/{second}", "/home/bench/vault/other.md")
    door.upstream.then(
        How(text=SKIP),
        How(text=observation("Kestrels", "A kestrel hovers.", files=both)),
        How(text=observation("Owls", "An owl hoots.")),
        How(text=SUMMARY),
    )
    container = start(mounted(door))
    told = container.ask("index", pages=PAGES[:2])["result"]
    assert (told["observations"], told["of_several_files"]) == (2, 1)
    assert told["warnings"] == [
        "1 of 2 observations name several files: the first of them is cited first"
    ]
    found = container.ask("ask", question="Which bird hovers?", top_k=5)["result"]
    # The page that was read, then what the note names beside it; a file of nobody's is left out.
    assert [each["name"] for each in found["pages"]] == [first, second]
    assert found["receipt"]["files"] == [first, second, "other.md"]
    assert found["receipt"]["of_several_files"] == 1


# ---------------------------------------------------------------- notes on their days


def test_notes_on_days_of_their_own(start: Start, door: Door) -> None:
    container = start(mounted(door))
    home, away = "The user lives in Delhi.", "The user moved to Mumbai."
    for name, day, said in (
        ("reader-01.md", "2026-09-01", home),
        ("reader-02-moved.md", "2026-10-01", away),
        ("reader-03.md", "2027-02-01", "The user has a cat."),
    ):
        noon = datetime.fromisoformat(f"{day}T12:00:00+00:00")
        set_clock(door, noon)
        door.upstream.then(How(text=SKIP), How(text=observation(name, said)), How(text=SUMMARY))
        reply = container.ask("deposit", name=name, day=day, text=f"A note of {day}.\n")
        assert reply["ok"], reply
        assert reply["result"] == {"observations": 1, "summaries": 1}
        assert abs(datetime.fromisoformat(reply["now"]) - noon) < timedelta(minutes=2)
    assert container.ask("consolidate")["result"] == {"observations": 3, "summaries": 3}
    told = container.ask("recall", question="Where does the user live?", top_k=5)["result"]
    days = {one["source"]: (one["day"], one["text"]) for one in told["statements"]}
    # bun, which wrote them down, saw each note's day; and what is older than 90 days is found.
    assert {name: day for name, (day, _) in days.items()} == {
        "reader-01.md": "2026-09-01",
        "reader-02-moved.md": "2026-10-01",
        "reader-03.md": "2027-02-01",
    }
    assert home in days["reader-01.md"][1]
    assert len(container.ask("recall", question="Mumbai", top_k=1)["result"]["statements"]) == 1
    # Claude Code, which asked, saw it too.
    dated = [each.body.decode() for each in door.upstream.seen if each.method == "POST"]
    for number, day in enumerate(("2026-09-01", "2026-10-01", "2027-02-01")):
        for body in dated[3 * number : 3 * number + 3]:
            assert f"Today's date is {day}." in body
    assert asked(door) == ["briefing", "observation", "summary"] * 3
    assert container.ask("stop")["ok"]
    assert container.let_go() == 0


def test_node_sees_the_day_too(image: str, door: Door) -> None:
    set_clock(door, datetime(2026, 9, 1, 12, tzinfo=UTC))
    ask = "console.log(new Date().toISOString())"
    script = f"bench-start node -e '{ask}' && bench-start /opt/claude-mem/bin/bun -e '{ask}'"
    said = inside(image, script, mounted(door), *ENV)
    assert [line[:10] for line in said.split()] == ["2026-09-01", "2026-09-01"]


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("how", "kind", "says"),
    [
        ({"text": "I will skip this page."}, "unparseable_reply", "skip this page"),
        ({"text": SKIP}, "degraded", "noted nothing of"),
        ({"text": "I cannot.", "stop_reason": "refusal"}, "unparseable_reply", "I cannot."),
        ({"text": "<observation></observation>"}, "unparseable_reply", "is lost"),
        ({"status": 529, "kind": "overloaded_error", "message": "full"}, "provider", "API Error"),
        ({"status": 403, "message": "no such answer"}, "gateway_refused", "no such answer"),
        ({"status": 400, "message": "malformed"}, "provider", "malformed"),
    ],
)
def test_a_page_without_its_note_is_an_error(
    start: Start, door: Door, how: dict[str, Any], kind: str, says: str
) -> None:
    container = start(mounted(door), retries=1, page_deadline_s=60)
    door.upstream.then(How(text=SKIP), How(text=observation("Fine", "It is fine.")))
    door.upstream.usual = How(**how)
    error = container.ask("index", pages=PAGES[:2])["error"]
    assert error["type"] == kind, error
    assert says in error["message"]
    assert NAMES[1] in error["message"]
    # Half of it is no memory to ask, and no refusal.
    after = container.ask("ask", question="Is it fine?", top_k=5)["error"]
    assert after["type"] == "degraded"


def test_a_provider_that_never_answers_is_no_empty_memory(start: Start, door: Door) -> None:
    container = start(mounted(door), page_deadline_s=3)
    door.upstream.usual = How(first_byte_s=60, text=SKIP)
    error = container.ask("index", pages=PAGES[:1])["error"]
    assert (error["type"], "within 3 s" in error["message"]) == ("degraded", True)


def test_a_session_whose_model_fails_is_told(start: Start, door: Door) -> None:
    container = start(mounted(door), mode="session", retries=1)
    door.upstream.usual = How(status=529, kind="overloaded_error", message="full")
    error = container.ask("index", pages=PAGES[:1])["error"]
    assert (error["type"], "API Error" in error["message"]) == ("provider", True)


def test_a_search_without_its_vectors_is_no_answer(image: str, start: Start, door: Door) -> None:
    name = f"memory-bench-test-{uuid.uuid4().hex[:12]}"
    container = start(mounted(door), f"--name={name}")
    assert container.ask("index", pages=PAGES[:1])["ok"]
    broken = "chmod 000 /home/bench/.claude-mem/chroma/chroma.sqlite3; pkill -f bin/[c]hroma-mcp"
    subprocess.run(["docker", "exec", name, "sh", "-c", broken], check=True)
    reply = container.ask("ask", question="Who is on call?", top_k=5)
    assert reply["error"]["type"] == "degraded"
    assert "vectors" in reply["error"]["message"]


def test_nothing_put_in_is_nothing_to_ask(start: Start) -> None:
    container = start()
    for verb in ("ask", "recall"):
        error = container.ask(verb, question="Anything?", top_k=5)["error"]
        assert (error["type"], "put in first" in error["message"]) == ("degraded", True)
