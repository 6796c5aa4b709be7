"""``bench images`` as far as no engine is needed, and what ``bench systems`` says of images."""

from pathlib import Path

import pytest

from runner import paths
from runner.systems import catalog
from tests.commands.conftest import Bench


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["build"], "NAME"),
        (["build", "nothing"], "There is no image 'nothing'. There are: base,"),
        (["build", "router", "--version", "9"], "router cannot be built of version '9'."),
        (["build", "router", "nothing"], "no image 'nothing'"),
        (["build", "router", "--model", "huge"], "router cannot be built with model 'huge'."),
        (["build", "particles", "--version", "9"], "There are: 1.214.1, 1.192.2."),
        (["build", "dense"], "dense is a system, not an image. It runs from another's: bench"),
        (["list", "--format", "xml"], "xml"),
        (["burn"], "burn"),
    ],
)
def test_what_cannot_be_is_said_before_an_engine_is_looked_for(
    bench: Bench, args: list[str], says: str
) -> None:
    done = bench("images", *args)
    assert done.code == 2
    assert says in " ".join(done.err.replace("next: ", "").split())
    assert done.out == ""


@pytest.mark.parametrize(
    "args", [[], ["list"], ["list", "--format", "json"], ["build", "router"], ["prune", "--yes"]]
)
def test_without_an_engine_it_says_so(bench: Bench, args: list[str]) -> None:
    done = bench("images", *args)
    assert done.code == 6
    assert "no-engine.sock" in done.err.replace("\n", "")


def test_a_system_says_what_its_image_is(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "root" / "images" / "engine"
    folder.mkdir(parents=True)
    text = (paths.images() / "engine" / catalog.FILE).read_text()
    (folder / catalog.FILE).write_text(
        f"{text}\n[image]\nmodels = ['small', 'large']\nredistributable = false\n"
        "why = 'its licence forbids it'\n"
        "[presets.engine]\ntitle = 'E'\nabout = 'One.'\ncapabilities = ['claims']\n"
        "[presets.other]\ntitle = 'O'\nabout = 'Two.'\ncapabilities = ['claims']\n"
        "model = 'large'\n"
    )
    monkeypatch.setenv("BENCH_ROOT", str(tmp_path / "root"))
    done = bench("systems")
    assert done.code == 0
    assert "runs from the image: engine with small in it" in done.out
    assert "runs from the image: engine with large in it" in done.out
    assert done.out.count("its image is not redistributable: its licence forbids it") == 2


def test_a_system_of_several_versions_names_them(bench: Bench) -> None:
    assert "other versions (--system-version): 1.192.2" in bench("systems").out
