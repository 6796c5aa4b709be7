"""What the documentation says of the program is what the program does."""

import re
import subprocess
import sys

import pytest

from runner import errors, images
from runner.commands import names
from runner.paths import root

README = (root() / "README.md").read_text()


@pytest.mark.slow
def test_pages_made_from_the_program_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/make_docs.py", "--check"],
        cwd=root(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", names())
def test_every_command_has_a_heading(name: str) -> None:
    assert f"## bench {name}\n" in (root() / "docs" / "commands.md").read_text()


def test_every_exit_code_is_in_the_readme() -> None:
    codes = {
        str(kind.exit_code)
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.BenchError)
    }
    table = README.partition("## Exit codes")[2]
    documented = {
        code.strip()
        for row in re.findall(r"^\| ([0-9, ]+) \|", table, re.MULTILINE)
        for code in row.split(",")
    }
    assert codes <= documented
    assert {"0", "1", "130", "143"} <= documented


def test_options_that_the_readme_shows_exist() -> None:
    commands = (root() / "docs" / "commands.md").read_text()
    shown = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README))
    of_others = {"--rm", "--reverse"}
    assert {option for option in shown - of_others if option not in commands} == set()


def test_links_lead_somewhere() -> None:
    for page in ("README.md", "ARCHITECTURE.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", (root() / page).read_text()):
            assert (root() / target).exists(), f"{page} links to {target}"


def test_every_image_was_built_two_times() -> None:
    page = (root() / "docs" / "reproducibility.md").read_text()
    rows = set(re.findall(r"^\| ([a-z0-9-]+) \|", page, re.MULTILINE))
    assert rows - {"image"} == {*images.names()}
