"""Two reports of memory honesty: the same questions, paired."""

import pytest
from scipy.stats import binomtest

from runner.reports import compare as comparing
from runner.reports import sealing
from runner.reports.compare import FailOn, Way, compare, judge
from runner.reports.formats import json_bytes
from runner.reports.schema import Report
from runner.suites.memory_honesty import Exam
from tests.reports._honesty import FAILED
from tests.reports._honesty import report as honest
from tests.reports.compare._made import kept
from tests.reports.compare.conftest import beside, sheet, texts, ways
from tests.suites.memory_honesty._kit import BACKUPS, FILES, LEAVE, OLD_BACKUPS, ROWS, exam


def by(report: Report) -> dict[str, tuple[bool, str | None]]:
    """What it did with each question, worked out apart from the code that is tried."""
    case = report.case
    assert isinstance(case, Exam)
    gold = {one.id: (one.kind, one.gold) for one in case.questions}
    found = {}
    for step in report.runs[0].steps[1:]:
        question = step.name.removeprefix("ask ")
        pages = step.result["pages"]
        assert isinstance(pages, list)
        cited = None if step.result["refused"] or not pages else str(pages[0]["name"])  # type: ignore[index, call-overload]
        kind, right = gold[question]
        found[question] = (cited is None if kind == "refuse" else cited in right, cited)
    return found


@pytest.mark.slow
def test_kept_answers_of_two_real_systems() -> None:
    a, b = kept("bm25"), kept("router")
    found = beside(a, b)
    before, after = by(a), by(b)
    lost = sum(before[one][0] and not after[one][0] for one in before)
    gained = sum(after[one][0] and not before[one][0] for one in before)
    assert lost
    assert gained
    row = sheet(found, "tests").rows[0]
    assert [cell.value for cell in row[1:3]] == [lost, gained]
    assert row[3].value == pytest.approx(binomtest(lost, lost + gained).pvalue, rel=1e-12)
    turns = sheet(found, "transitions")
    assert sum(int(str(cell.value)) for row in turns.rows for cell in row[1:]) == len(before)
    otherwise = {one for one in before if before[one][1] != after[one][1]}
    assert {row[1] for row in texts(found, "questions")} >= otherwise

    mirrored = beside(b, a)
    assert [cell.value for cell in sheet(mirrored, "tests").rows[0][1:3]] == [gained, lost]
    assert ways(found)[Way.WORSE] + ways(found)[Way.BETTER] == (
        ways(mirrored)[Way.WORSE] + ways(mirrored)[Way.BETTER]
    )
    for one, other in zip(
        sheet(found, "differences").rows, sheet(mirrored, "differences").rows, strict=True
    ):
        here, there = one[1].value, other[1].value
        assert isinstance(here, dict)
        assert isinstance(there, dict)
        assert here == {"value": -there["value"], "low": -there["high"], "high": -there["low"]} or (  # type: ignore[operator]
            here["value"] == there["value"] == 0
        )
    assert beside(a, a).findings == ()


def test_a_planted_regression() -> None:
    good = honest(exam("dev"))
    bad = honest(exam("dev"), {"q001": [OLD_BACKUPS], "q004": None})
    found = beside(good, bad)
    assert not judge(found, FailOn.WORSE).holds
    assert judge(found).holds, "two of six are no more than chance"
    assert [(row[0], row[1], row[4], row[5]) for row in texts(found, "questions")] == [
        ("worse", "q001", f"right: {BACKUPS}", f"stale: {OLD_BACKUPS}"),
        ("worse", "q004", f"right: {LEAVE}", "false refusal"),
    ]
    assert judge(beside(bad, good), FailOn.WORSE).holds


def test_to_say_nothing_is_better_than_to_be_wrong() -> None:
    wrong, silent = (honest(exam("dev"), {"q003": said}) for said in ([LEAVE], None))
    found = compare(wrong, silent)
    assert [row[0] for row in texts(found, "questions")] == ["better"]
    assert judge(found, FailOn.WORSE).holds
    assert not judge(compare(silent, wrong), FailOn.WORSE).holds


def test_what_moves_by_itself_is_told_beside() -> None:
    found = compare(honest(exam("dev"), runs=2), honest(exam("dev"), {"q003": [LEAVE]}, runs=2))
    assert texts(found, "moved") == [
        ("A and B, the first run of each", "2", "1"),
        ("the runs of A", "2", "0"),
        ("the runs of B", "2", "0"),
    ]


def test_of_a_held_out_set_no_question_is_told() -> None:
    good = honest(exam("heldout"))
    bad = honest(exam("heldout"), {"q001": [OLD_BACKUPS], "q004": None})
    found = beside(good, bad)
    judged = judge(found, FailOn.WORSE)
    assert not judged.holds
    assert found.findings[-1].after == "2"
    whole = json_bytes(comparing.document(found, judged, code=1, alpha=0.05)).decode()
    whole += comparing.page(found, judged) + comparing.spreadsheet(found)
    secrets = {str(row["id"]) for row in ROWS} | {str(row["q"]) for row in ROWS} | set(FILES)
    assert [one for one in secrets if one in whole] == []


def test_a_held_out_report_that_was_written_and_read(tmp_path: object) -> None:
    report = honest(exam("heldout"))
    public, sealed = sealing.close(report, "x.sealed.gz")
    assert sealed is not None
    opened = sealing.open_(public, sealed)
    assert compare(report, opened).findings == ()


def test_a_search_that_failed_is_no_refusal() -> None:
    found = compare(honest(exam("dev")), honest(exam("dev"), ended=FAILED))
    assert (found.unjudged, found.findings, found.sheets) == (1, (), ())
