"""Two reports of the update gate, pair by pair."""

from scipy.stats import binomtest

from runner.reports.compare import FailOn, Way, compare, judge
from tests.reports.compare._made import ENDED, gated
from tests.reports.compare.conftest import beside, sheet, texts, ways
from tests.suites.update_gate._tables import KEEPS, RETIRES, WITH_CONTRADICTION

DEV = "development"
PLANTED = {
    (DEV, 1): {"d04": KEEPS, "d07": KEEPS},
    (DEV, 2): {"d04": KEEPS, "d01": RETIRES},
}
"""d04 is an update missed in two of three samples, d07 in one; d01 a control retired in one."""


def test_pairs_that_turned_are_found_and_mirrored() -> None:
    good, bad = gated(), gated(PLANTED)
    worse, better = beside(good, bad), beside(bad, good)
    assert ways(worse) == {Way.WORSE: 4, Way.BETTER: 0, Way.CHANGED: 1}
    assert ways(better) == {Way.WORSE: 0, Way.BETTER: 4, Way.CHANGED: 1}
    rows = {row[1]: (row[0], *row[4:]) for row in texts(worse, "pairs")}
    assert rows == {
        "development d01": ("worse", "0 of 3, right", "1 of 3, wrong"),
        "development d04": ("worse", "3 of 3, right", "1 of 3, wrong"),
        "development d07": ("changed", "3 of 3, right", "2 of 3, right"),
    }
    assert not judge(worse).holds
    assert judge(better).holds
    assert judge(worse, FailOn.SIGNIFICANT).holds


def test_the_tests_are_over_pairs_and_not_over_samples() -> None:
    cells = next(row for row in sheet(compare(gated(), gated(PLANTED)), "rules").rows)
    alone, more = cells[4].value, cells[5].value
    assert alone == {"a": 2, "b": 0, "p": binomtest(0, 2).pvalue}
    assert more == {"a": 3, "b": 0, "p": binomtest(0, 3).pvalue}


def test_many_pairs_are_significant() -> None:
    lost = ("d04", "d07", "d10", "d13", "d15", "d20")
    bad = gated({(DEV, index): dict.fromkeys(lost, KEEPS) for index in (1, 2, 3)})
    found = compare(gated(), bad)
    first = found.findings[0]
    assert (first.p, first.adjusted) == (binomtest(0, 6).pvalue, binomtest(0, 6).pvalue)
    assert not judge(found, FailOn.SIGNIFICANT).holds
    assert judge(found, FailOn.SIGNIFICANT, alpha=0.01).holds


def test_a_rule_that_is_not_in_force_makes_nothing_worse() -> None:
    """A contradiction that was seen beside a change moves the rule before 1.187 alone."""
    seen = gated({(DEV, index): {"d04": WITH_CONTRADICTION} for index in (1, 2, 3)})
    found = compare(gated(), seen)
    assert found.findings == ()
    assert [row[3] for row in texts(found, "pairs")] == ["before-1.187"]


def test_the_same_is_the_same() -> None:
    assert compare(gated(PLANTED), gated(PLANTED)).findings == ()


def test_a_sample_without_a_verdict_is_no_keep() -> None:
    found = beside(gated(), gated(ended={(DEV, 3): ENDED}))
    assert found.unjudged == 1
    assert found.findings == ()
