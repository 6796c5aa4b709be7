"""What memories took: to index, to answer, of money and of memory."""

from decimal import Decimal

import pytest
from rich.cells import cell_len

from runner.reports.honesty import Taken, effort, taken, takings
from runner.reports.honesty.taken import SEVERAL
from runner.reports.schema import Report
from runner.reports.sealing import close, open_
from tests.reports._honesty import FAILED, report
from tests.reports._printed import Printable, printed
from tests.reports._taken import call, took
from tests.suites.memory_honesty._kit import exam

pytestmark = pytest.mark.slow


def shown(*things: Printable) -> list[str]:
    """As printed, with runs of spaces as one."""
    lines = printed(*things)
    assert all(cell_len(line) <= 80 for line in lines)
    return [" ".join(line.split()) for line in lines]


def of(made: Report) -> Taken:
    found = taken(made)
    assert found is not None
    return found


def test_calls_are_those_before_the_first_question() -> None:
    made = took(
        exam("dev"), call(1, step=""), call(2), call(3, usd="0.02"), call(4, step="ask q001")
    )
    found = of(made)
    assert (found.calls, found.usd) == (3, Decimal("0.04"))
    assert (found.later, found.later_usd) == (1, Decimal("0.01"))
    assert found.pages == 6
    said = " ".join(shown(takings([found])))
    assert "router: 1 more calls while it answered, US$0.0100." in said


def test_times_are_those_of_the_steps() -> None:
    """One to six milliseconds for the questions: see the helper."""
    found = of(report(exam("dev")))
    assert (found.index_s, found.p50_ms, found.p95_ms) == (0.0, 3.0, 6.0)


def test_a_line_a_system_and_what_to_know_of_it() -> None:
    made = took(exam("dev"), call(1), call(2), indexed={SEVERAL: 7})
    plain = report(exam("dev"))
    said = shown(takings([of(plain), of(made)]))
    assert said[0] == "system pages index s calls US$ p50 ms p95 MB several"
    assert said[2:4] == ["bm25 6 0.00 0 · 3 6 · ·", "router 6 0.00 2 0.0200 3 6 350 7"]
    rest = " ".join(said[4:])
    assert "calls, US$: scripted: made from the page's own text; simulated, at list prices." in rest
    assert "MB: the kernel's high-water mark (memory.peak); files that the kernel keeps" in rest
    assert "several: notes of pages that name several files, of which the first" in rest


def test_money_that_was_spent_is_told_apart_from_money_that_was_not() -> None:
    made = took(exam("dev"), call(1), system="router")
    spend = made.spend.model_copy(update={"simulated": False})
    live = took(exam("dev"), call(1), system="oracle", scripted=False).model_copy(
        update={"spend": spend, "arm": "live"}
    )
    said = " ".join(shown(takings([of(made), of(live)])))
    assert "router: scripted: made from the page's own text; simulated, at list prices;" in said
    assert "oracle: live; spent, at list prices." in said


def test_memory_that_was_measured_in_two_ways_is_told_apart() -> None:
    sampled = [
        of(took(exam("dev"), system=name, how=f"largest of {n} samples (memory.current), 0.05 s"))
        for n, name in enumerate(("bm25", "oracle"), 7)
    ]
    said = " ".join(shown(takings([*sampled, of(took(exam("dev")))])))
    assert "MB: bm25, oracle: largest of samples; router: the kernel's high-water mark" in said
    assert "MB:" not in " ".join(shown(takings([of(took(exam("dev"), peak=None))])))


@pytest.mark.parametrize("several", [None, "3", 3.5, True, [3]])
def test_what_a_system_does_not_tell_or_tells_badly_is_not_told(several: object) -> None:
    found = of(took(exam("dev"), indexed={} if several is None else {SEVERAL: several}))
    assert found.several is None


def test_a_report_without_a_graded_run_took_nothing_that_counts() -> None:
    assert taken(report(exam("dev"), ended=FAILED)) is None
    assert effort([report(exam("dev"), ended=FAILED)]) == ()


def test_a_sealed_report_tells_the_same_once_it_is_opened() -> None:
    made = took(exam("heldout"), call(1), call(2, step="ask q001"))
    public, sealed = close(made, "answers")
    assert sealed is not None
    assert of(open_(public, sealed)) == of(made)
    assert public.runs[0].peak_memory_bytes == 350_400_000


def test_long_names_and_large_figures_fit() -> None:
    made = of(took(exam("dev"), *(call(n, usd="0.1234") for n in range(1, 400))))
    wide = Taken(
        **{name: getattr(made, name) for name in Taken.__slots__}
        | {"label": "a-memory-with-a-very-long-name-indeed", "index_s": 12345.6, "p95_ms": 98765.4}
    )
    assert any("12346" in line for line in shown(takings([wide])))
