"""Who a report is about: told apart, and with no model where none was asked."""

from pathlib import Path

import pytest

from runner.model import Outcome
from runner.reports.schema import Report
from runner.reports.site._env import env
from runner.reports.site._overview import index
from runner.reports.site._page import Entry
from runner.reports.site._who import asks_model, model, told_apart
from tests.reports._honesty import report
from tests.suites.memory_honesty._kit import exam

PURPOSES = {"learning": "claude-sonnet-5-5"}


@pytest.fixture(scope="module")
def plain() -> Report:
    return report(exam("dev"))


def ended(made: Report, outcome: Outcome) -> Report:
    runs = tuple(
        run.model_copy(update={"ending": run.ending.model_copy(update={"outcome": outcome})})
        for run in made.runs
    )
    return made.model_copy(update={"runs": runs, "purposes": PURPOSES})


def entry(made: Report, name: str) -> Entry:
    return Entry(name, made, Path(f"{name}.json"), name)


def test_a_model_that_was_never_called_is_not_told(plain: Report) -> None:
    assert not asks_model(plain)
    assert model(plain) == "none"
    assert not asks_model(ended(plain, Outcome.PASSED))  # it could have, and did not
    assert asks_model(ended(plain, Outcome.ERRORED))  # it did not come so far
    assert model(ended(plain, Outcome.ERRORED)) == "claude-sonnet-5-5 (scripted)"


def test_no_two_reports_are_called_alike(plain: Report) -> None:
    other = plain.model_copy(update={"system": plain.system.model_copy(update={"version": "9.9"})})
    some = [entry(plain, "a"), entry(plain, "b"), entry(other, "c")]
    named = told_apart(some)
    assert len(set(named.values())) == 3
    version = plain.system.version
    assert named["a"] == f"dev: {plain.system.name} {version} (a.json)"
    assert named["c"] == f"dev: {plain.system.name} 9.9"
    page = index(some, env())
    for told in named.values():
        assert told in page
    table = page.split('id="t-comparability"')[1].split("</table>")[0]
    assert table.count("<tr>") == 2, "what is said of all three is said once"
