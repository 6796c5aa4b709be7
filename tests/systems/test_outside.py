"""A system in a folder of somebody's own: its data is taken, and nothing else."""

import shutil
from pathlib import Path

import pytest

from runner import images, paths
from runner.errors import UnreadableStore, UsageError
from runner.gateway.wire.rules import WireRules
from runner.systems import catalog, outside

EXAMPLE = paths.root() / "examples" / "notebook"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example, to be spoilt, as ``--system-dir`` names it."""
    made = tmp_path / "anywhere"
    shutil.copytree(EXAMPLE, made)
    monkeypatch.setenv(paths.SYSTEM_DIR, str(made))
    return made


def change(folder: Path, old: str, new: str) -> None:
    file = folder / outside.FILE
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_the_example_is_a_system_beside_the_bench_s_own(folder: Path) -> None:
    assert "notebook" in catalog.names()
    assert "engine" in catalog.names()
    system = catalog.load("notebook")
    assert (system.outside, system.exports, system.reader) == (True, True, None)
    assert (system.home, system.image) == (folder, "notebook")
    assert isinstance(system.wire, WireRules)
    assert outside.described(system).keys() == {"systems/notebook/system.toml"}
    assert outside.described(catalog.load("engine")) == {}
    with pytest.raises(UnreadableStore, match="reads its store itself"):
        system.read(folder)


def test_without_the_option_there_is_none() -> None:
    assert catalog.brought() is None
    with pytest.raises(UsageError, match="no system 'notebook'"):
        catalog.load("notebook")
    assert "notebook" not in images.names()


def test_its_image_is_built_of_its_folder(folder: Path) -> None:
    assert "notebook" in images.names()
    assert images.place("notebook") == folder
    before = images.source("notebook")
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref")
    assert images.source("notebook") == before
    (folder / "driver.py").write_text("pass")
    assert images.source("notebook") != before
    # What a link leads to is not read: it may be anything on this machine.
    (folder / "link").symlink_to("/")
    linked = images.source("notebook")
    (folder / "link").unlink()
    (folder / "link").symlink_to("/etc")
    assert images.source("notebook") != linked


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "notebook"', 'name = "engine"', "is taken"),
        ('name = "notebook"', 'name = "bm25"', "is taken"),
        ('name = "notebook"', 'name = "base"', "is taken"),
        ('name = "notebook"', 'name = "../x"', "is no name"),
        ('store = "notes.jsonl"', 'store = "x"\nreader = "os:system"', "sets reader"),
        ('store = "notes.jsonl"', 'store = "x"\nwire = "os:system"', "table of rules"),
        ('store = "notes.jsonl"', 'store = "x"\nhome = "/"', "sets home"),
        ('store = "notes.jsonl"', 'store = "x"\nsecret = 1', "secret: Extra inputs"),
        ('version = "1.0.0"', 'version = "1 0"', "is no version"),
        ('title = "Notebook"', 'title = "Note\\u001b[31mbook"', "is no line"),
        ('title = "Notebook"', 'title = "Note\\u202ebook"', "is no line"),
        (' "export",', "", "has to say"),
        (' "snapshot",', "", "answers snapshot"),
        ('"stop"]', '"stop", "delete"]', "is no verb"),
        ("[purposes]", '[purposes]\nextraction = "x"', "tells a call of any"),
        ("[purposes]", '[wire]\npurposes = ["x"]\n[purposes]', "wire.purposes"),
        (
            "[purposes]",
            '[[wire.purpose]]\npurpose = "x"\ntext = ["y"]\n[purposes]',
            "none of .purposes.",
        ),
        ('"claims",', '"psychic",', "capabilities"),
        ("schema = 1", "schema = 2", "schema"),
        ("default = 0.6", 'default = "low"', "default of floor"),
        ("schema = 1", "schema = ", "is no TOML"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, old: str, new: str, said: str) -> None:
    change(folder, old, new)
    with pytest.raises(UsageError, match=said):
        catalog.brought()


def test_a_folder_that_is_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "Dockerfile").unlink()
    with pytest.raises(UsageError, match="has no Dockerfile"):
        catalog.brought()
    (folder / outside.FILE).write_bytes(b"x = 1\n" * 100_000)
    with pytest.raises(UsageError, match="more than"):
        catalog.brought()
    (folder / outside.FILE).write_bytes(b"\xff")
    with pytest.raises(UsageError, match="cannot be read"):
        catalog.brought()
    (folder / outside.FILE).unlink()
    with pytest.raises(UsageError, match="holds no system"):
        catalog.brought()


def test_a_system_of_the_bench_still_names_its_own_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "images" / "engine"
    own.mkdir(parents=True)
    text = (paths.images() / "engine" / outside.FILE).read_text()
    wire = 'wire = "runner.systems.engine.wire:EngineWire"'
    (own / outside.FILE).write_text(text.replace(wire, ""))
    monkeypatch.setenv("BENCH_ROOT", str(tmp_path))
    with pytest.raises(UsageError, match="the wire is not runner"):
        catalog.load("engine")


def test_an_archive_s_own_account_of_it_is_enough(tmp_path: Path) -> None:
    (tmp_path / outside.FILE).write_bytes((EXAMPLE / outside.FILE).read_bytes())
    assert catalog.archived(tmp_path, "notebook", "1.0.0").home == tmp_path
    with pytest.raises(UsageError, match="version '2'"):
        catalog.archived(tmp_path, "notebook", "2")
    with pytest.raises(UsageError, match="no system 'engine'"):
        catalog.archived(tmp_path, "engine", "1.0.0")
