"""``--system-dir``: a system of somebody's own, for one command and no longer."""

import os
import shutil
from pathlib import Path

from runner.paths import SYSTEM_DIR, root
from tests.commands.conftest import Bench

EXAMPLE = root() / "examples" / "notebook"


def test_it_is_listed_for_one_command(bench: Bench) -> None:
    done = bench("systems", "--system-dir", EXAMPLE)
    assert done.code == 0
    assert "notebook" in done.out
    assert SYSTEM_DIR not in os.environ
    assert "notebook" not in bench("systems").out


def test_it_is_what_is_measured_where_nobody_says(bench: Bench) -> None:
    done = bench("--system-dir", EXAMPLE, "--arm", "scripted", "--estimate")
    assert (done.code, done.err) == (0, "")
    assert "Nothing is asked of a model." in done.out
    # No engine answers here, so this is how far it gets.
    assert bench("--system-dir", EXAMPLE, "--arm", "scripted").code == 6
    assert bench("honesty", "--system-dir", EXAMPLE).code == 6


def test_what_it_cannot_do_is_said_before_anything_starts(bench: Bench) -> None:
    done = bench("update-gate", "--system-dir", EXAMPLE, "--arm", "scripted")
    assert done.code == 2
    assert "notebook does not probe" in done.err
    done = bench("honesty-learn", "--system-dir", EXAMPLE)
    assert done.code == 2
    assert "notebook does not learn" in done.err


def test_several_have_to_be_named(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(EXAMPLE, folder)
    preset = 'title = "T"\nabout = "A"\ncapabilities = ["claims"]\noptions = { floor = 0.9 }\n'
    with (folder / "system.toml").open("a") as file:
        file.write(f"\n[presets.strict]\n{preset}\n[presets.stricter]\n{preset}")
    done = bench("--system-dir", folder, "--arm", "scripted", "--estimate")
    assert done.code == 2
    assert "Name one of them: strict, stricter." in done.err
    one = ("--system", "strict", "--arm", "scripted", "--estimate")
    assert bench("--system-dir", folder, *one).code == 0


def test_a_folder_that_is_none(bench: Bench, tmp_path: Path) -> None:
    for command in (["systems"], ["--arm", "scripted"], ["images", "build", "x"]):
        done = bench(*command, "--system-dir", tmp_path / "nowhere")
        assert done.code == 2, command
        assert "holds no system" in done.err
