"""What the pages say of systems, reports and figures is so."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel

from runner.errors import DriverError
from runner.gateway.wire.rules import Between, FieldRule, LeftOut, PurposeRule, WireRules
from runner.model import Claim, ImageTable, Outcome
from runner.paths import root
from runner.runs.endings import ending_of
from runner.systems import outside
from runner.systems.system import Export, Ingesting, Option, Preset, System

DOCS = root() / "docs"
OWN = (DOCS / "add-your-own-system.md").read_text()
FOUND = {"folder", "model", "home", "described", "reader"}
"""Fields of a system that its folder must not say."""


def table(heading: str) -> list[list[str]]:
    """The rows of the first table behind a line that begins so."""
    behind = OWN[OWN.index(f"\n{heading}") :].split("\n| ", 1)[1]
    lines = ("| " + behind).partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def named(heading: str) -> list[str]:
    return [row[0].strip("` ") for row in table(heading)]


@pytest.mark.parametrize(
    ("heading", "model"),
    [
        ("## 3. system.toml", System),
        ("### `[options.NAME]`", Option),
        ("### `[presets.NAME]`", Preset),
        ("### `[ingesting]`", Ingesting),
        ("### `[image]`", ImageTable),
        ("### `[export]`", Export),
        ("A claim:", Claim),
        ("### `[wire]`", WireRules),
        ("### `[[wire.purpose]]`", PurposeRule),
        ("### `[[wire.field]]`", FieldRule),
        ("### `[wire.left_out]`", LeftOut),
        ("### `[[wire.left_out.between]]`", Between),
    ],
)
def test_every_field_is_told_and_no_other(heading: str, model: type[BaseModel]) -> None:
    fields = [field.alias or name for name, field in model.model_fields.items()]
    hidden = FOUND if model is System else set()
    assert sorted(named(heading)) == sorted(set(fields) - hidden)


def test_every_verb_and_every_error_is_told() -> None:
    assert sorted(named("A request has")) == sorted(outside.VERBS)
    for kind, _, ends in table("### Errors to answer with"):
        if kind != "`gateway_refused`":
            ending = ending_of(DriverError(kind.strip("`"), "of a test"))
            assert f"{ending.outcome.value}, {ending.kind}" == ends


def test_the_example_answers_as_the_page_has_it(tmp_path: Path) -> None:
    block = OWN[OWN.index("### Try it by hand") :].split("```sh\n")[1].split("```")[0]
    script = block.replace("/tmp/try", str(tmp_path)).replace("python3", sys.executable)
    done = subprocess.run(
        ["sh", "-ec", script], cwd=root(), capture_output=True, text=True, check=True
    )
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert [reply["id"] for reply in replies] == [1, 2, 3, 4, 5, 6]
    assert all(reply["ok"] for reply in replies)
    assert replies[3]["result"] == {"retired": 1}
    assert Path(replies[4]["result"]["path"], "notes.jsonl").is_file()


def test_the_example_is_as_short_as_is_said() -> None:
    assert len((root() / "examples/notebook/driver.py").read_text().splitlines()) < 150


def test_each_function_that_computes_a_figure_is_there() -> None:
    page = (DOCS / "figures.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ") and "figure |" not in line]
    assert len(rows) > 40
    for row in rows:
        found = re.findall(r"`(runner[\w.]*):(\w+)`", row)
        assert found, f"no function: {row}"
        for module, name in found:
            assert hasattr(importlib.import_module(module), name), f"{module}:{name}"


def test_every_outcome_is_told() -> None:
    page = (DOCS / "how-to-read-a-report.md").read_text()
    assert all(f"\n| {outcome.value} |" in page for outcome in Outcome)


@pytest.mark.parametrize(
    "name", ["add-your-own-system.md", "how-to-read-a-report.md", "figures.md"]
)
def test_links_and_options_lead_somewhere(name: str) -> None:
    page = (DOCS / name).read_text()
    for target in re.findall(r"\]\(([^)#]+)\)", page):
        assert (DOCS / target).exists(), target
    commands = (DOCS / "commands.md").read_text()
    for option in set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page)) - {"--rm"}:
        assert option in commands, option
