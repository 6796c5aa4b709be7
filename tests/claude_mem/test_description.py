"""What the bench says of claude-mem, against its locks, its tables, its hooks and its wire."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runner.gateway.tables import Tables
from runner.paths import fixtures, images
from runner.runs.page_tables import remembering
from runner.suites.memory_honesty import load_vault
from runner.suites.trip_vs_move import Case, case_names, load_case
from runner.systems.catalog import load, names
from runner.systems.claude_mem.wire import ClaudeMemWire
from tests.claude_mem import _bodies as ask

CONTEXT = images() / "claude-mem"
CASES = [(name, variant) for name in case_names() for variant in (None, *load_case(name).variants)]
WIRE = ClaudeMemWire()


def lock() -> dict[str, Any]:
    packages: dict[str, Any] = json.loads((CONTEXT / "package-lock.json").read_text())["packages"]
    return packages


def answer(tables: Tables, body: dict[str, Any]) -> Any:
    """What a table answers to a request, as the model would have written it."""
    purpose = WIRE.purpose({}, body)
    entry = tables.find(purpose, WIRE.fields(purpose, body))
    assert entry is not None, tables.nearest(purpose, WIRE.fields(purpose, body))
    return entry.text if entry.text is not None else WIRE.reply(purpose, entry.answer)


# ---------------------------------------------------------------- what is installed


def test_it_is_measured_by_its_presets_and_not_handed_on() -> None:
    assert {"claude-mem", "claude-mem-session"} <= set(names())
    for name in ("claude-mem", "claude-mem-session"):
        system = load(name)
        assert (system.image, system.version) == ("claude-mem", "13.25.3")
        assert not system.redistributable
        assert "Claude Code" in system.restriction


def test_every_package_is_held_to_its_hash() -> None:
    asked = json.loads((CONTEXT / "package.json").read_text())["dependencies"]
    assert asked["claude-mem"] == load("claude-mem").version
    found = {name.removeprefix("node_modules/"): one for name, one in lock().items() if name}
    assert {name: found[name]["version"] for name in asked} == asked
    for name, one in found.items():
        assert one["integrity"].startswith("sha512-"), name
        assert not one.get("resolved"), name
    pinned = (CONTEXT / "requirements.lock").read_text()
    assert "chroma-mcp==0.2.6 " in pinned
    (pydantic,) = re.findall(r"^pydantic==(\S+)", pinned, re.MULTILINE)
    assert tuple(map(int, pydantic.split("."))) < (2, 12)
    assert pinned.count("--hash=sha256:") > 74


def test_hooks_are_made_to_be_waited_for(tmp_path: Path) -> None:
    script = CONTEXT / "wait_for_hooks.py"
    hook = {"type": "command", "command": "x", "timeout": 120}
    hooks = {
        "hooks": {"Stop": [{"hooks": [{**hook, "async": True}]}], "Setup": [{"hooks": [hook]}]}
    }
    file = tmp_path / "hooks.json"
    file.write_text(json.dumps(hooks))
    subprocess.run([sys.executable, script, file], check=True)
    made = json.loads(file.read_text())["hooks"]
    assert made == {"Stop": [{"hooks": [hook]}], "Setup": [{"hooks": [hook]}]}
    # With hooks that are waited for already, what is said of them here no longer holds.
    again = subprocess.run([sys.executable, script, file], check=False, capture_output=True)
    assert again.returncode == 1
    assert b"no hook is async" in again.stderr


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (("--python", "3.13", "--from", "other-mcp==1", "other-mcp", "--help"), 69),
        (("pip", "install", "x"), 69),
        ((), 69),
        # Not installed on this machine: it gets as far as that.
        (("--with", "protobuf<7", "--from", "chroma-mcp==0.2.6", "chroma-mcp", "--help"), 127),
    ],
)
def test_nothing_but_the_vector_store_is_run_in_the_place_of_uvx(
    asked: tuple[str, ...], status: int
) -> None:
    done = subprocess.run(
        ["sh", CONTEXT / "bin/uvx", *asked], check=False, capture_output=True, text=True
    )
    assert done.returncode == status
    assert ("chroma-mcp" in done.stderr) or status == 127


# ---------------------------------------------------------------- what is answered


@pytest.mark.parametrize(("name", "variant"), CASES)
def test_every_case_is_answered_in_every_variant(name: str, variant: str | None) -> None:
    case = load_case(name, variant)
    assert isinstance(case, Case)
    text = (fixtures() / "scripted" / "claude-mem" / f"{case.script}.toml").read_text()
    tables = Tables.load([(case.script, text)], case.names)
    assert answer(tables, ask.observer(ask.brief())).startswith("<skip_summary")
    for note in case.notes:
        said = answer(tables, ask.observer(ask.brief(), ask.observed(note.name, note.text)))
        assert f"<file>{ask.FOLDER}/{note.name}</file>" in said
        assert (case.home if note.name == case.home_note else case.away) in said
        assert not re.search(r"[{}]", said)
    assert answer(tables, ask.observer(ask.brief(), ask.SUMMARY)).startswith("<summary>")


@pytest.mark.parametrize("vault", ["vault1", "vault2", "vault3"])
def test_every_page_is_answered_in_either_mode(vault: str) -> None:
    system = load("claude-mem-session")
    assert system.ingestion is not None
    whole = load_vault(vault)
    by_hand = (fixtures() / "scripted/claude-mem/memory-honesty.toml").read_text()
    made = remembering(system.ingestion, whole, system.reading)
    tables = Tables.load([("by-hand", by_hand), ("pages", made)], {})
    pages = [page.name for page in whole.pages]
    for number, page in enumerate(whole.pages):
        noted = answer(tables, ask.observer(ask.brief(), ask.observed(page.name, page.text)))
        assert noted.count("<observation>") == 1
        assert f"<file>{ask.FOLDER}/{page.name}</file>" in noted
        used = answer(tables, ask.session(pages, pages[:number]))
        assert used.input == {"file_path": f"{ask.FOLDER}/{page.name}"}
    assert answer(tables, ask.session(pages, pages)) == "I have read all of them."
    assert answer(tables, ask.observer(ask.brief(), ask.SUMMARY)).startswith("<summary>")
