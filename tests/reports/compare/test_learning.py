"""Two reports of honesty learning: the weeks paired, and the lessons."""

from runner.reports.compare import FailOn, Way, compare, judge
from tests.reports._learning import report
from tests.reports.compare.conftest import beside, texts
from tests.suites.honesty_learning._kit import BACKUPS, LEAVE, learned, said

ASKED = "How many days of leave are there?"
RIGHT = {"night": learned(said(ASKED, LEAVE))}
WRONG = {"night": learned(said(ASKED, BACKUPS)), "second": {"w002": [BACKUPS]}}


def test_a_lesson_that_turned_wrong() -> None:
    good, bad = report(after=RIGHT), report(after=WRONG)
    found = beside(good, bad)
    assert texts(found, "lessons") == [
        ("worse", "w002", ASKED, f"{LEAVE} (right)", f"{BACKUPS} (wrong)")
    ]
    assert [row[1] for row in texts(found, "questions-after-week2")] == ["w002"]
    assert not judge(found, FailOn.WORSE).holds
    assert found.count(Way.BETTER) == 0
    mirrored = beside(bad, good)
    assert (mirrored.count(Way.WORSE), mirrored.count(Way.BETTER)) == (0, found.count(Way.WORSE))


def test_the_week_after_learning_alone_decides() -> None:
    found = compare(report(), report(before={"second": {"w002": [BACKUPS]}}))
    assert [one.what for one in found.findings if one.adjusted is not None] == []
    assert any("without learning" in one.what for one in found.findings)


def test_nothing_learned_is_better_than_something_wrong() -> None:
    found = compare(report(after={"night": WRONG["night"]}), report())
    assert [row[0] for row in texts(found, "lessons")] == ["better"]
    assert compare(report(after=RIGHT), report(after=RIGHT)).findings == ()
