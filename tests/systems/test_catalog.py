import dataclasses
from pathlib import Path

import pytest
from memory_engine import LICENCE, NAME, __version__
from memory_engine.driver import CAPABILITIES, VERBS
from memory_engine.settings import PURPOSES, Options
from memory_engine.store import FILE

from runner import paths
from runner.errors import UsageError
from runner.gateway.wire import load_wire
from runner.systems import catalog
from runner.systems.engine.wire import EngineWire


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root of its own, with the engine's description to be spoilt."""
    text = (paths.images() / "engine" / catalog.FILE).read_text()
    made = tmp_path / "images" / "engine"
    made.mkdir(parents=True)
    (made / catalog.FILE).write_text(text)
    monkeypatch.setenv("BENCH_ROOT", str(tmp_path))
    return made


def test_every_system_there_is_can_be_loaded() -> None:
    assert "engine" in catalog.names()
    assert [system.name for system in catalog.load_all()] == list(catalog.names())
    for system in catalog.load_all():
        load_wire(system.wire)


def test_the_description_is_true_of_the_engine() -> None:
    system = catalog.load("engine")
    assert (system.name, system.version, system.licence) == (NAME, __version__, LICENCE)
    assert system.verbs == VERBS
    assert system.capabilities == CAPABILITIES
    assert tuple(system.purposes) == PURPOSES
    assert system.store == FILE
    own = {field.name: getattr(Options(), field.name) for field in dataclasses.fields(Options)}
    assert {**own, "max_tokens": dict(own["max_tokens"])} == system.settle({})
    assert isinstance(load_wire(system.wire), EngineWire)


def test_the_engines_reader_is_found(tmp_path: Path) -> None:
    from memory_engine.store import Store

    Store(tmp_path).close()
    assert catalog.load("engine").read(tmp_path).claims == ()


def test_options_are_settled_over_the_systems_own() -> None:
    system = catalog.load("engine")
    settled = system.settle({"same_slot_admits": False, "backoff_max_s": 5})
    assert settled["same_slot_admits"] is False
    assert settled["probes_per_claim"] == 40
    with pytest.raises(UsageError, match="takes no option sam_slot"):
        system.settle({"sam_slot": True})
    for wrong in ({"same_slot_admits": 1}, {"probes_per_claim": True}, {"max_tokens": 5}):
        with pytest.raises(UsageError, match="engine takes a"):
            system.settle(wrong)


def test_an_unknown_system_is_named_beside_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no system 'engin'\. There are: .*engine"):
        catalog.load("engin")
    with pytest.raises(UsageError):
        catalog.load("../engine")


@pytest.mark.parametrize(
    ("was", "made"),
    [
        ('name = "engine"', 'name = "other"'),
        ("schema = 1", "schema = 2"),
        ("schema = 1", "schema = 1\nextra = 1"),
        ('capabilities = ["claims",', 'capabilities = ["telepathy",'),
        ('reader = "runner.systems.engine', 'reader = "os'),
        ('wire = "runner.systems.engine.wire:EngineWire"', 'wire = "runner.systems.engine.wire"'),
        ("default = 40", 'default = "forty"'),
        ('title = "Memory engine"', "title = "),
    ],
)
def test_a_description_that_is_wrong_says_which_file(folder: Path, was: str, made: str) -> None:
    file = folder / catalog.FILE
    text = file.read_text()
    assert was in text
    file.write_text(text.replace(was, made))
    with pytest.raises(UsageError, match=r"system\.toml"):
        catalog.load("engine")


def test_a_folder_without_a_description_is_no_system(folder: Path) -> None:
    (folder / catalog.FILE).unlink()
    assert catalog.names() == ()
    with pytest.raises(UsageError, match="There are: none"):
        catalog.load("engine")


PRESETS = """
[image]
models = ["small", "large"]
redistributable = false
why = "its licence forbids it"

[presets.engine]
title = "Engine + small"
about = "The image's own."
capabilities = ["claims"]

[presets.engine-large]
title = "Engine + large"
about = "Another."
capabilities = ["claims"]
model = "large"
"""


def test_a_preset_may_bear_its_folders_name_and_choose_a_model(folder: Path) -> None:
    file = folder / catalog.FILE
    file.write_text(file.read_text() + PRESETS)
    assert catalog.names() == ("engine", "engine-large")
    usual, large = catalog.load_all()
    assert (usual.name, usual.image, usual.title) == ("engine", "engine", "Engine + small")
    assert (large.name, large.image, large.title) == ("engine-large", "engine", "Engine + large")
    assert (usual.model, large.model) == ("small", "large")
    assert not large.redistributable
    assert large.restriction == "its licence forbids it"


def test_a_system_with_one_image_names_no_model() -> None:
    system = catalog.load("engine")
    assert (system.model, system.redistributable, system.restriction) == (None, True, "")


@pytest.mark.parametrize(
    ("was", "made"),
    [
        ('model = "large"', 'model = "huge"'),
        ('why = "its licence forbids it"', ""),
        ("[image]", 'x = 1\n[image]\nfolder = "other"'),
    ],
)
def test_a_wrong_word_on_the_image_says_which_file(folder: Path, was: str, made: str) -> None:
    file = folder / catalog.FILE
    assert was in PRESETS
    file.write_text(file.read_text() + PRESETS.replace(was, made))
    with pytest.raises(UsageError, match=r"system\.toml"):
        catalog.names()


@pytest.mark.parametrize("line", ['folder = "other"', 'model = "small"'])
def test_what_a_preset_sets_is_not_said_of_a_system(folder: Path, line: str) -> None:
    file = folder / catalog.FILE
    file.write_text(f"{line}\n{file.read_text()}")
    with pytest.raises(UsageError, match="is not said there"):
        catalog.load("engine")
