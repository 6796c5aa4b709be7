"""The page about pull requests: every command in it is one of the program's, and its workflow's
comparison does what the page says when it is run."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from runner.commands import app
from runner.model import Outcome
from runner.paths import root
from runner.reports import files
from runner.reports.compare import DEFAULTS, FailOn
from tests.reports.compare._made import gated
from tests.suites.update_gate._tables import RETIRES

PAGE = (root() / "docs" / "continuous-integration.md").read_text("utf-8")
WORKFLOW = PAGE.partition("```yaml\n")[2].partition("```")[0]
STARTS = ("bench ", "measure ", "bench/scripts/bench ", "docker compose run --rm bench ")
ENDS = {"||", "|", ">>", ">", "&&", ";"}


def scripts() -> dict[str, str]:
    """What the workflow's steps run, by their names; a parser of all of YAML is no dependency."""
    found: dict[str, str] = {}
    name, inside, block = "", -1, ""
    for line in WORKFLOW.splitlines():
        indent = len(line) - len(line.lstrip())
        if inside >= 0 and (not line.strip() or indent > inside):
            block += f"{line[inside + 2 :]}\n"
            continue
        if inside >= 0:
            found[name], inside, block = block, -1, ""
        if titled := re.match(r" *- name: (.+)", line):
            name = titled[1]
        elif line.strip() == "run: |":
            inside = indent
    return found


def commands() -> list[list[str]]:
    """Every command line of the bench on the page, without the program's own name."""
    shown = PAGE.replace("\\\n", " ")
    lines = [line.strip() for line in shown.splitlines()]
    lines += re.findall(r"`(docker compose run[^`]+)`", shown.replace("\n", " "))
    found = []
    for line in lines:
        for start in STARTS:
            if line.startswith(start):
                words = shlex.split(line.removeprefix(start), comments=True)
                end = next((at for at, word in enumerate(words) if word in ENDS), len(words))
                found.append(words[:end])
    return found


def test_there_are_commands_to_look_at() -> None:
    names = [words[0] for words in commands()]
    assert names.count("compare") >= 6
    assert {"trip-vs-move", "update-gate", "honesty", "--arm"} <= set(names)
    assert list(scripts()) == ["Measure", "Fetch what it is held to", "Compare"]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_is_one_of_the_program(words: list[str]) -> None:
    """Parsed as it would be, and not run."""
    if words[0].startswith("-"):
        words = ["trip-vs-move", *words]
    group = typer.main.get_command(app)
    context = group.make_context("bench", [words[0]], resilient_parsing=True)
    command = group.get_command(context, words[0])  # type: ignore[attr-defined]
    assert command is not None
    command.make_context(words[0], words[1:], parent=context)


def test_the_workflow_is_laid_out_as_yaml_is() -> None:
    assert "\t" not in WORKFLOW
    for line in WORKFLOW.splitlines():
        assert (len(line) - len(line.lstrip())) % 2 == 0, line
    for name, script in scripts().items():
        done = subprocess.run(
            ["bash", "-n"], input=script, text=True, capture_output=True, check=False
        )
        assert done.returncode == 0, f"{name}: {done.stderr}"


def test_the_page_tells_the_defaults() -> None:
    table = PAGE.partition("| value | what ends with 1 |")[2].partition("\n\n")[0]
    told = {
        row.split("|")[1].strip(" `"): row.split("|")[3].strip() for row in table.splitlines()[2:]
    }
    assert {FailOn(value) for value in told} == set(FailOn)
    for suite, value in DEFAULTS.items():
        assert suite in told[value.value].split(", ")


@pytest.mark.slow
@pytest.mark.parametrize(("change", "code"), [("none", 0), ("worse", 1), ("no verdict", 5)])
def test_the_comparison_of_the_workflow_ends_as_the_page_says(
    tmp_path: Path, change: str, code: int
) -> None:
    """Its own script, on real reports, by the real program."""
    shim = tmp_path / "bench" / "scripts" / "bench"
    shim.parent.mkdir(parents=True)
    bench = Path(sys.executable).with_name("bench")
    shim.write_text(f'#!/bin/sh\nexec {bench} "$@"\n')
    shim.chmod(0o755)
    for folder in ("base", "new"):
        (tmp_path / folder).mkdir()
    good = gated(sets=("development",))
    files.save(good, tmp_path / "base" / "gate.json")
    files.save(good, tmp_path / "new" / "unheard-of.json")
    new = good
    if change == "worse":
        new = gated({("development", 1): {"d01": RETIRES}}, sets=("development",))
    elif change == "no verdict":
        ended = good.runs[0].ending.model_copy(update={"outcome": Outcome.ERRORED})
        new = gated(ended={("development", 1): ended}, sets=("development",))
    files.save(new, tmp_path / "new" / "gate.json")
    summary = tmp_path / "summary.md"
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run(
        [bash, "-e", "-c", scripts()["Compare"]],
        cwd=tmp_path, env={**os.environ, "GITHUB_STEP_SUMMARY": str(summary)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    told = summary.read_text("utf-8")
    assert "There is nothing to hold unheard-of.json to." in told
    assert told.startswith("## update-gate: ")
