"""What the bench says of linkedparticles, against its lock, its tables and its wire."""

import re
import tomllib
from typing import Any

import pytest

from runner.errors import CannotStart, UsageError
from runner.gateway.tables import Tables
from runner.images import _source, upstream
from runner.images import versions as images_built
from runner.paths import fixtures, images
from runner.suites.trip_vs_move import Case, case_names, load_case
from runner.systems import catalog
from runner.systems.particles import reader, wire
from tests.systems.particles import _requests as ask

CONTEXT = images() / "particles"
VERSIONS = ("1.214.1", "1.192.2")
CASES = [(name, variant) for name in case_names() for variant in (None, *load_case(name).variants)]


def tables(case: Case) -> Tables:
    text = (fixtures() / "scripted" / "particles" / f"{case.script}.toml").read_text()
    return Tables.load([(case.script, text)], case.names)


def test_it_is_true_of_what_is_installed() -> None:
    system = catalog.load("particles")
    assert set(system.purposes) == wire.PURPOSES
    assert system.store == reader.FILE
    assert images_built("particles") == (system.version, *system.versions)


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_has_a_lock_of_its_own(version: str) -> None:
    assert catalog.load("particles", version).version == version
    lock = (CONTEXT / "locks" / f"{version}.txt").read_text()
    assert f"linkedparticles=={version} " in lock
    pinned = re.findall(r"^([a-z0-9-]+)==", lock, re.MULTILINE)
    assert not {"torch", "sentence-transformers", "huggingface-hub"} & set(pinned)
    assert not [name for name in pinned if name.startswith("nvidia")]


def test_no_other_version_can_be_had() -> None:
    with pytest.raises(UsageError, match=r"1\.0\.0"):
        catalog.load("particles", "1.0.0")
    one, other = (_source.recipe("particles", version=version) for version in VERSIONS)
    assert one == _source.recipe("particles")
    assert one.tag != other.tag
    assert (one.source, one.args.get("VERSION")) == (other.source, None)
    assert other.args["VERSION"] == VERSIONS[1]
    for name, version in (("particles", "1.0.0"), ("engine", VERSIONS[0])):
        with pytest.raises(UsageError, match="cannot be built"):
            _source.recipe(name, version=version)


def test_what_is_taken_out_of_it_is_held_to_the_same_digests() -> None:
    here = (fixtures() / "published" / "upstream.sha256").read_text()
    assert (CONTEXT / "upstream" / "upstream.sha256").read_text() == here
    assert len(upstream.digests()) == 9
    with pytest.raises(CannotStart, match="missing"):
        upstream.checked({})
    with pytest.raises(CannotStart, match="not the published runs'"):
        upstream.checked(dict.fromkeys(upstream.digests(), b""))


@pytest.mark.parametrize("flag", [True, False])
def test_its_options_are_truth_values(flag: bool) -> None:
    system = catalog.load("particles")
    assert system.settle({"same_slot_admits": flag})["same_slot_admits"] is flag
    assert system.settle({}) == {"same_slot_admits": True, "batches": False}


@pytest.mark.parametrize(("name", "variant"), CASES)
def test_every_note_is_answered_and_the_move_replaces_the_home(
    name: str, variant: str | None
) -> None:
    case = load_case(name, variant)
    answers = tables(case)
    told: list[str] = []
    for note in case.notes:
        body = ask.extraction(note.text, note.day.isoformat())
        entry = answers.find("extraction", wire.ParticlesWire().fields("extraction", body))
        assert entry is not None, note.name
        told += [claim["content"] for claim in entry.answer]
    move = told[-1]
    assert case.names["away"] in move
    for older in told[:-1]:
        for reading in (1, 2):
            assert _settled(answers, reading, older, move) == _settled(answers, 1, older, move)
    residence = next(text for text in told if text.startswith("The user lives in"))
    assert _settled(answers, 1, residence, move) == ("CHANGES", "YES")
    # The other way round it is no news.
    assert _settled(answers, 1, move, residence) == ("NONE", "NO")


def _settled(answers: Tables, reading: int, older: str, newer: str) -> tuple[Any, Any]:
    body = ask.update(reading, older, newer)
    entry = answers.find("semantic_lint", wire.ParticlesWire().fields("semantic_lint", body))
    assert entry is not None
    return entry.answer["slot"], entry.answer["verdict"]


def test_ids_of_a_table_are_its_own() -> None:
    for file in (fixtures() / "scripted" / "particles").glob("*.toml"):
        ids = [answer["id"] for answer in tomllib.loads(file.read_text())["answer"]]
        assert len(ids) == len(set(ids))
