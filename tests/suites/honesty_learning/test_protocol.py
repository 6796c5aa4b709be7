import pytest

from runner.errors import UsageError
from runner.suites.honesty_learning import LEARN, step_name, steps
from tests.suites.honesty_learning._kit import ROWS, lesson
from tests.suites.memory_honesty._kit import vault


def test_before_asks_one_week_and_after_both_with_a_night_between() -> None:
    asked = lesson()
    before, after = (steps(asked, kind, 1, vault()) for kind in ("before", "after"))
    assert [step.verb for step in before] == ["index", *["ask"] * 5]
    assert [step.verb for step in after] == ["index", *["ask"] * 5, "learn", *["ask"] * 5]
    assert before[0] == after[0]
    assert before[1:] == after[7:]
    assert after[6].name == LEARN
    assert after[6].payload == {}


def test_a_system_is_told_pages_and_wordings_alone() -> None:
    pages, *rest = steps(lesson(top_k=3), "after", 1, vault())
    assert set(pages.payload) == {"pages"}
    asked = {step.name: step.payload for step in rest if step.verb == "ask"}
    assert asked == {
        step_name(week, row["id"]): {"question": row[f"week{week}"], "top_k": 3}
        for week in (1, 2)
        for row in ROWS
    }


def test_an_order_tells_nothing_and_is_the_same_everywhere() -> None:
    asked = lesson()
    names = [step.name for step in steps(asked, "after", 1, vault())]
    assert names == [step.name for step in steps(asked, "after", 1, vault())]
    assert names != [step.name for step in steps(asked, "after", 2, vault())]
    first = [name.split()[-1] for name in names[1:6]]
    second = [name.split()[-1] for name in names[7:]]
    assert sorted(first) == sorted(second) == [row["id"] for row in ROWS]
    assert first != second


def test_what_cannot_be_asked() -> None:
    with pytest.raises(UsageError, match="no kind 'during'"):
        steps(lesson(), "during", 1, vault())
    with pytest.raises(UsageError, match="no run 0"):
        steps(lesson(), "before", 0, vault())
    with pytest.raises(UsageError, match="not the one"):
        steps(lesson(), "before", 1, vault("prose"))
