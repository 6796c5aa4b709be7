from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from runner.errors import AlteredReport, UsageError
from runner.faults import load_fault
from runner.model import Escape, Outcome
from runner.reports import files
from runner.reports.rescore import rescore, verify
from runner.reports.schema import Report
from tests._trip import verdict_of
from tests.reports.conftest import produced

Document = dict[str, Any]
Forge = Callable[[Path, Callable[[Document], object]], None]


def test_a_report_is_what_its_rows_come_to(reader: Path, mid_trip: Path) -> None:
    for path in (reader, mid_trip):
        report = files.load(path)
        verify(report)
        assert rescore(report, report.checks_version) == report


@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_version_is_computed_again_from_the_rows_alone(mid_trip: Path, version: int) -> None:
    """What a run carries of its checks is thrown away first, so that nothing can be copied."""
    report = files.load(mid_trip)
    bare = report.model_copy(
        update={
            "verdict": None,
            "runs": tuple(
                run.model_copy(update={"checks": (), "observations": ()}) for run in report.runs
            ),
        }
    )
    again = rescore(bare, version)
    assert [run.checks for run in again.runs] == [run.checks for run in report.runs]
    assert [run.observations for run in again.runs] == [run.observations for run in report.runs]
    assert again.checks_version == version
    assert again.verdict is not None
    assert (
        verdict_of(again).tally("move").passed,
        verdict_of(again).tally("trip-alone").passed,
    ) == (3, 2)
    assert verdict_of(again).bar_met is (None if version == 1 else True)


def test_another_version_can_come_to_another_verdict(tmp_path: Path) -> None:
    """A home that was never known passes version 2, and fails version 3 as vacuous."""
    fault = load_fault("learns-nothing-of-the-home")
    report = produced(tmp_path / "boxes", tmp_path / "report.json", fault=fault)
    assert {run.ending.kind for run in report.runs if run.spec.kind == "move"} == {"vacuous"}
    older = rescore(report, 2)
    assert {run.ending.outcome for run in older.runs if run.spec.kind == "move"} == {Outcome.PASSED}
    files.save(older, tmp_path / "older.json")
    verify(files.load(tmp_path / "older.json"))
    assert rescore(older, 3) == report


def test_a_version_the_case_does_not_know(reader: Path) -> None:
    for version in (0, 1, 4):
        with pytest.raises(UsageError, match="2, 3"):
            rescore(files.load(reader), version)


def test_a_run_without_a_verdict_is_given_none(reader: Path) -> None:
    report = files.load(reader)
    ended = report.runs[0].ending.model_copy(
        update={"outcome": Outcome.INCOMPLETE, "kind": "ceiling"}
    )
    first = report.runs[0].model_copy(update={"ending": ended, "checks": (), "observations": ()})
    half = report.model_copy(update={"runs": (first, *report.runs[1:])})
    again = rescore(half, 2)
    assert again.runs[0].ending == ended
    assert again.verdict is not None
    assert verdict_of(again).tally("move").counted == 2
    assert verdict_of(again).bar_met is None


# ---------------------------------------------------------------- forgeries


def claims(document: Document, run: int, snapshot: int = -1) -> list[Document]:
    found: list[Document] = document["runs"][run]["snapshots"][snapshot]["store"]["claims"]
    return found


FORGERIES: dict[str, tuple[Callable[[Document], object], str]] = {
    "a verdict": (lambda d: d["verdict"].update(bar_met=None), "verdict"),
    "a tally": (lambda d: d["verdict"]["tallies"][0].update(planned=2), "verdict"),
    "an outcome": (lambda d: d["runs"][1]["ending"].update(outcome="failed"), r"runs\[1\].ending"),
    "a check": (
        lambda d: d["runs"][0]["checks"][1]["checks"][2].update(passed=False),
        r"runs\[0\].checks",
    ),
    "evidence": (
        lambda d: d["runs"][0]["checks"][0]["checks"][3].update(evidence=["made up"]),
        r"runs\[0\].checks",
    ),
    "a version of the checks that is left out": (
        lambda d: d["runs"][0]["checks"].pop(0),
        r"runs\[0\].checks",
    ),
    "an observation": (
        lambda d: d["runs"][4]["observations"][0].update(value=[]),
        r"runs\[4\].observations",
    ),
    "a claim made active": (
        lambda d: [c.update(status="ACTIVE", reason=None) for c in claims(d, 0)],
        r"runs\[0\].checks",
    ),
    "a claim taken away": (lambda d: claims(d, 3).clear(), r"runs\[3\].checks"),
    "the home that was known before": (lambda d: claims(d, 2, 0).clear(), r"runs\[2\].checks"),
    "what a call cost": (
        lambda d: d["runs"][0]["calls"][2].update(cost_usd="0.0001"),
        r"runs\[0\].calls\[2\].cost_usd",
    ),
    "what a call took": (
        lambda d: d["runs"][0]["calls"][2]["usage"].update(output=1),
        r"runs\[0\].calls\[2\].cost_usd",
    ),
    "a price": (
        lambda d: d["runs"][3]["gateway"]["prices"]["claude-sonnet-5-5"].update(output="1"),
        r"runs\[3\].calls\[0\].cost_usd",
    ),
    "a call that is left out": (
        lambda d: d["runs"][0]["calls"].pop(),
        r"runs\[0\].(usage|cost_usd) is not what",
    ),
    "what a run cost": (lambda d: d["runs"][0].update(cost_usd="0"), r"runs\[0\].cost_usd"),
    "what all of it cost": (lambda d: d["spend"].update(cost_usd="0"), "spend.cost_usd"),
    "the model that answered": (
        lambda d: d["runs"][0]["calls"][5].update(served_model="claude-haiku-4-5"),
        r"runs\[0\].ending is not what the served model of its calls\[5\]",
    ),
    "no model that answered": (
        lambda d: d["runs"][0]["calls"][5].update(served_model=None),
        r"runs\[0\].ending is not what the served model",
    ),
    "a way out that was found": (
        lambda d: d["runs"][2].update(
            escapes=[Escape(probe="dns", target="x", result="escaped").model_dump()]
        ),
        r"runs\[2\].ending is not what its escapes\[0\]",
    ),
    "a note": (
        lambda d: d["case"]["notes"][0].update(text="Something else.\n"),
        r"case \(notes/reader-01.md\) is not what the fixtures",
    ),
    "a word the checks look for": (
        lambda d: d["case"]["words"].update(residence=["nothing"]),
        "case is not what the file of the same digest",
    ),
    "a case of another file": (lambda d: d["case"].update(sha256="0" * 64), r"case \(cases/"),
    "a mixture": (lambda d: d.update(mixed=True), "mixed"),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_a_forgery_with_digests_made_anew_is_refused(reader: Path, forge: Forge, what: str) -> None:
    how, says = FORGERIES[what]
    forge(reader, how)
    report = files.load(reader)
    with pytest.raises(AlteredReport, match=says):
        verify(report)


def test_a_failure_cannot_be_turned_into_a_pass(tmp_path: Path, forge: Forge) -> None:
    path = tmp_path / "failed.json"
    produced(tmp_path / "boxes", path, options={"same_slot_admits": False})

    def whitewash(document: Document) -> None:
        for run in document["runs"]:
            run["ending"] = {"outcome": "passed", "kind": "checks", "detail": ""}
            for result in run["checks"]:
                result["passed"] = True
                for check in result["checks"]:
                    check["passed"] = True

    verify(files.load(path))
    forge(path, whitewash)
    with pytest.raises(AlteredReport, match=r"runs\[0\]\.checks"):
        verify(files.load(path))


def test_a_dated_or_listed_name_of_the_asked_model_is_fine(reader: Path, forge: Forge) -> None:
    forge(
        reader,
        lambda d: d["runs"][0]["calls"][0].update(served_model="claude-sonnet-5-5-20260901"),
    )
    verify(files.load(reader))


def test_money_is_exact(reader: Path) -> None:
    report: Report = files.load(reader)
    assert report.spend.cost_usd == sum((run.cost_usd for run in report.runs), Decimal(0))
    assert isinstance(report.spend.cost_usd, Decimal)
