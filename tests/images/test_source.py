import shutil
from pathlib import Path

import pytest

from runner.errors import UsageError
from runner.images import _source

ROOT = Path(__file__).parents[2]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small checkout of its own."""
    shutil.copytree(ROOT / "images/base", tmp_path / "images/base")
    some = tmp_path / "images/some"
    some.mkdir()
    (some / "Dockerfile").write_text("FROM x\n")
    (some / "driver.py").write_text("print()\n")
    (tmp_path / "runner").mkdir()
    (tmp_path / "runner/a.py").write_text("A = 1\n")
    monkeypatch.setenv("BENCH_ROOT", str(tmp_path))
    return tmp_path


def test_the_same_files_elsewhere_have_the_same_digest(
    root: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = _source.recipe("some", base_id="sha256:1")
    other = tmp_path_factory.mktemp("other") / "deep"
    shutil.copytree(root, other)
    monkeypatch.setenv("BENCH_ROOT", str(other))
    there = _source.recipe("some", base_id="sha256:1")
    assert (there.source, there.digest, there.tag) == (here.source, here.digest, here.tag)
    assert here.tag == f"memory-bench/some:{here.digest[:12]}"


def test_whatever_can_change_an_image_changes_its_digest(root: Path) -> None:
    some = root / "images/some"
    seen = {_source.recipe("some").digest, _source.recipe("some", base_id="sha256:1").digest}
    (some / "driver.py").write_text("print(1)\n")
    seen.add(_source.recipe("some").digest)
    (some / "driver.py").chmod(0o755)
    seen.add(_source.recipe("some").digest)
    (some / "driver.py").rename(some / "main.py")
    seen.add(_source.recipe("some").digest)
    (some / "empty").write_text("")
    seen.add(_source.recipe("some").digest)
    assert len(seen) == 6


def test_two_files_are_not_one_with_both_contents(root: Path) -> None:
    some = root / "images/some"
    (some / "a").write_text("x")
    (some / "b").write_text("y")
    two = _source.recipe("some").digest
    (some / "a").write_text("xb\n- 1\ny")
    (some / "b").unlink()
    assert _source.recipe("some").digest != two


def test_byte_code_and_environments_do_not_count(root: Path) -> None:
    before = {name: _source.recipe(name).digest for name in ("some", "bench")}
    for folder in (root / "images/some/__pycache__", root / "runner/.venv"):
        folder.mkdir()
        (folder / "x").write_text("")
    (root / "runner/a.pyc").write_text("")
    assert {name: _source.recipe(name).digest for name in before} == before


def test_the_bench_counts_its_code_and_every_image(root: Path) -> None:
    seen = {_source.recipe("bench").digest}
    for part in ("runner/a.py", "images/some/driver.py", "pyproject.toml", "fixtures"):
        (root / part).write_text("changed\n")
        seen.add(_source.recipe("bench").digest)
    (root / "tests").mkdir()
    (root / "tests/test_a.py").write_text("")
    seen.add(_source.recipe("bench").digest)
    assert len(seen) == 5


def test_what_the_bench_counts_is_what_a_build_can_see() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    let_in = {line[1:] for line in lines if line.startswith("!")}
    assert let_in == set(_source._BENCH_PARTS)


def test_an_image_nobody_knows_is_named_with_those_that_are(root: Path) -> None:
    with pytest.raises(UsageError, match=r"'nothing'.*base, some, bench"):
        _source.recipe("nothing")


def test_the_release_is_pinned_in_one_place() -> None:
    settings = _source.settings()
    for file in ("Dockerfile", "compose.yaml"):
        assert settings["DEBIAN_IMAGE"] in (ROOT / file).read_text()
    # The epoch is stated in the Dockerfile for builds that Compose starts.
    assert f"SOURCE_DATE_EPOCH={settings['SOURCE_DATE_EPOCH']}" in (ROOT / "Dockerfile").read_text()
