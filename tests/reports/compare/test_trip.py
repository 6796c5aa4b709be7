"""Two reports of trip versus move: what was planted is found, and nothing else."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from runner.errors import UsageError
from runner.model import Claim, Outcome
from runner.reports import files
from runner.reports.compare import FailOn, Way, compare, judge
from runner.reports.rescore import rescore, verdict
from runner.reports.schema import Report
from runner.stats import fisher
from runner.suites.trip_vs_move import Case
from tests.reports.compare.conftest import beside, case_of, sheet, texts, ways


def told(report: Report, run: int, *claims: Claim, dropped: str = "") -> Report:
    """The report, with claims added to the final store of one run, or one left out; judged anew."""
    record = report.runs[run]
    last = record.snapshots[-1]
    kept = tuple(one for one in last.store.claims if not dropped or dropped not in one.text)
    store = last.store.model_copy(update={"claims": (*kept, *claims)})
    snapshots = (*record.snapshots[:-1], last.model_copy(update={"store": store}))
    runs = list(report.runs)
    runs[run] = record.model_copy(update={"snapshots": snapshots})
    again = rescore(report.model_copy(update={"runs": tuple(runs)}), report.checks_version)
    return again.model_copy(update={"verdict": verdict(again, again.runs, again.checks_version)})


def test_a_report_beside_itself_and_beside_another_of_the_same(homes: dict[str, Report]) -> None:
    for other in ("good", "again"):
        found = beside(homes["good"], homes[other])
        assert found.findings == ()
        assert (judge(found, FailOn.CHANGED).holds, found.unjudged) == (True, 0)
        assert texts(found, "outcomes")[0][:3] == (
            "move", "3 of 3 [29–100%]", "3 of 3 [29–100%]",
        )  # fmt: skip


def test_what_is_lost_is_found_and_what_is_gained_is_its_mirror(homes: dict[str, Report]) -> None:
    worse = beside(homes["good"], homes["homeless"])
    better = beside(homes["homeless"], homes["good"])
    assert ways(worse) == {Way.WORSE: 6, Way.BETTER: 0, Way.CHANGED: 2}
    assert ways(better) == {Way.WORSE: 0, Way.BETTER: 6, Way.CHANGED: 2}
    for one, other in zip(worse.findings, better.findings, strict=True):
        assert (one.what, one.before, one.after) == (
            other.what.replace("only in B", "only in A"), other.after, other.before,
        )  # fmt: skip
        assert one.p == other.p
    assert worse.findings[0].what == "move runs that passed"
    assert (worse.findings[0].before, worse.findings[0].after) == ("3 of 3", "0 of 3")
    assert worse.findings[0].p == fisher(3, 3, 0, 3)
    assert any("learns-nothing-of-the-home" in one for one in worse.loud)
    assert [row[0] for row in texts(better, "claims-move")] == ["only in B", "only in B"]


def test_a_few_runs_are_never_significant(homes: dict[str, Report]) -> None:
    """So what is lost counts by itself, unless a test is asked for."""
    found = beside(homes["good"], homes["homeless"])
    assert not judge(found).holds
    assert judge(found, FailOn.SIGNIFICANT).holds
    assert judge(found, FailOn.NEVER).holds
    assert any("the least p there can be is 0.1" in n for n in sheet(found, "outcomes").notes)


def test_a_claim_in_some_of_the_runs(homes: dict[str, Report]) -> None:
    good = homes["good"]
    more = Claim(id="x", text="The user\n keeps bees.", status="ACTIVE", sources=("reader-01.md",))
    other = told(good, 1, more)
    [row] = texts(compare(good, other), "claims-move")
    assert row == (
        "only in B", "The user keeps bees.", "reader-01.md", "in 0 of 3", "in 1 of 3: ACTIVE",
    )  # fmt: skip
    fewer = told(told(good, 0, more), 1, more)
    [row] = texts(compare(fewer, other), "claims-move")
    assert (row[0], row[3:]) == ("in fewer runs", ("in 2 of 3: ACTIVE", "in 1 of 3: ACTIVE"))
    until = more.model_copy(update={"valid_until": date(2026, 9, 8), "reason": "ends"})
    [row] = texts(compare(other, told(good, 1, until)), "claims-move")
    assert (row[0], row[4]) == ("otherwise", "in 1 of 3: ACTIVE (ends), until 2026-09-08")


def test_a_check_that_one_run_breaks(homes: dict[str, Report]) -> None:
    good = homes["good"]
    other = told(good, 0, dropped="moved to Mumbai")
    found = compare(good, other)
    lost = [one for one in found.findings if one.way is Way.WORSE]
    assert "move (iv) The move to Mumbai is kept" in [one.what for one in lost]
    assert {(one.before, one.after) for one in lost} >= {("3 of 3", "2 of 3")}


def test_two_versions_of_the_checks_are_made_one(mid_trip: Path) -> None:
    report = files.load(mid_trip)
    older = rescore(report, 2)
    for a, b in ((older, report), (report, older)):
        found = beside(a, b)
        assert found.findings == ()
        assert any(one.startswith("checks version is") for one in found.loud)
    with pytest.raises(UsageError, match="Checks version 9"):
        beside(report, report, version=9)


def test_a_case_file_that_changed_about_the_same_notes(homes: dict[str, Report]) -> None:
    good = homes["good"]
    case = replace(case_of(good, Case), sha256="1" * 64)
    found = compare(good, good.model_copy(update={"case": case}))
    assert found.findings == ()
    assert any(one.startswith("case file is") for one in found.loud)


def test_runs_without_a_verdict_count_nowhere_and_are_told(homes: dict[str, Report]) -> None:
    good = homes["good"]
    ended = good.runs[0].ending.model_copy(
        update={"outcome": Outcome.INCOMPLETE, "kind": "ceiling"}
    )
    first = good.runs[0].model_copy(update={"ending": ended, "checks": (), "observations": ()})
    half = good.model_copy(update={"runs": (first, *good.runs[1:4])})
    found = compare(good, half)
    assert found.unjudged == 2
    assert "In B, 2 of 5 runs have no verdict: 1 incomplete (ceiling), 1 not run." in found.loud
    none = good.model_copy(update={"runs": (first,)})
    assert (compare(good, none).unjudged, compare(good, none).findings) == (5, ())
    with pytest.raises(UsageError, match="No run of A came to a verdict"):
        compare(none, good)
