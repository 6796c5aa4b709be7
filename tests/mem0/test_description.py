"""What the bench says of mem0, against its lock, its tables and its wire."""

import json
import tomllib
from pathlib import Path

import pytest

from runner.gateway.tables import Tables
from runner.paths import fixtures, images
from runner.suites.trip_vs_move import MOVE, Case, case_names, load_case, steps
from runner.systems import catalog
from runner.systems.mem0 import reader, wire
from tests.mem0._requests import request

CONTEXT = images() / "mem0"
CASES = [(name, variant) for name in case_names() for variant in (None, *load_case(name).variants)]


def tables(case: Case) -> Tables:
    text = (fixtures() / "scripted" / "mem0" / f"{case.script}.toml").read_text()
    return Tables.load([(case.script, text)], case.names)


def test_it_is_true_of_what_is_installed() -> None:
    system = catalog.load("mem0")
    assert set(system.purposes) == wire.PURPOSES
    assert system.ingestion == wire.EXTRACTION
    assert Path(reader.POINTS).parts[0] == system.store
    assert f"mem0ai=={system.version} \\" in (CONTEXT / "requirements.lock").read_text()
    assert "+ MiniLM" in system.title
    assert "claims" not in system.capabilities
    assert "statements" in system.capabilities


@pytest.mark.parametrize("package", ["torch", "spacy", "sentence-transformers", "transformers"])
def test_nothing_is_installed_that_would_fetch_a_model(package: str) -> None:
    lock = (CONTEXT / "requirements.lock").read_text()
    assert not any(line.startswith(f"{package}==") for line in lock.splitlines())


@pytest.mark.parametrize("lock", ["requirements.lock", "words.lock"])
def test_every_package_is_held_by_hash(lock: str) -> None:
    wanted = [
        line for line in (CONTEXT / lock).read_text().splitlines() if line and line[0].isalnum()
    ]
    assert wanted
    assert all("==" in line and line.endswith("\\") for line in wanted)


@pytest.mark.parametrize(("name", "variant"), CASES)
def test_every_note_of_every_variant_is_answered(name: str, variant: str | None) -> None:
    case = load_case(name, variant)
    spoken, system = tables(case), wire.Mem0Wire()
    for step in steps(case, MOVE):
        if step.verb != "deposit":
            continue
        assert step.day is not None
        for day in (step.day.isoformat(), "2031-01-01"):
            asked = system.fields(wire.EXTRACTION, request(step.payload["text"], day=day))
            entry = spoken.find(wire.EXTRACTION, asked)
            assert entry is not None, (step.name, day)
            memories = json.loads(system.reply(wire.EXTRACTION, entry.answer))["memory"]
            assert memories
            # Only on the note's own day does a statement take its day along.
            assert not (entry.id.endswith("no-such-day") and day == step.day.isoformat())


@pytest.mark.parametrize("name", case_names())
def test_a_plain_note_says_what_the_note_says(name: str) -> None:
    """No help and no sabotage: what the other systems' scripted models take out of it, too."""
    case = load_case(name)
    with (fixtures() / "scripted" / "engine" / f"{case.script}.toml").open("rb") as opened:
        theirs = str(tomllib.load(opened))
    ours = [
        said.rstrip(".")
        for entry in tables(case)._entries
        for said in entry.wanted and entry.answer["statements"]
        if "no-such-day" not in entry.id
    ]
    filled = theirs
    for placeholder, word in case.names.items():
        filled = filled.replace(f"{{{placeholder}}}", word)
    filled = filled.replace("\\'", "'")
    assert [said for said in ours if said not in filled] == []
