"""The page of results: every system and set, failures too, and nothing of a held-out question."""

import re

import pytest

from runner.model import Ending, Outcome
from runner.reports.honesty import graded, row_of, under_rules
from runner.reports.results import page
from runner.suites.memory_honesty import Exam, load_exam
from tests.reports._honesty import FAILED, report
from tests.reports._hostile import hostile
from tests.reports._taken import call, took
from tests.reports.test_sheets import KEYS, steered
from tests.suites.memory_honesty._big import big, made
from tests.suites.memory_honesty._kit import (
    BACKUPS,
    LEAVE,
    OLD_BACKUPS,
    ROWS,
    answer,
    exam,
)
from tests.suites.memory_honesty._published import HELDOUT3

pytestmark = pytest.mark.slow


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def rows_of(written: str, label: str) -> list[list[str]]:
    return [cells(line) for line in written.splitlines() if line.startswith(f"| {label} |")]


def test_a_page_of_nothing() -> None:
    written = page([], [])
    assert written.startswith("# Memory honesty: results\n")
    assert "## Without a verdict" not in written
    assert written.endswith("\n")


def test_every_system_and_set_is_on_it() -> None:
    reports = [
        report(exam(name), {"q001": [OLD_BACKUPS], "q003": None, "q005": [BACKUPS]}, system=system)
        for name in ("dev", "heldout")
        for system in ("bm25", "oracle")
    ]
    written = page([row_of(one) for one in reports], reports)
    assert written.count("## dev (vault1)\n") == 1
    assert written.count("## heldout (vault1, held out)\n") == 1
    assert "6 questions: 2 correction, 2 current, 2 refuse; 6 pages; 5 may be cited." in written
    # Grades, grades by language, and what it took, of two sets.
    assert len(rows_of(written, "bm25")) == len(rows_of(written, "oracle")) == 6
    found, by_language = rows_of(written, "bm25")[:2]
    assert found == [
        "bm25", "50% (2 / 4) [0, 100]", "1 / 2", "1 / 2", "1 / 2", "1 / 4", "1",
        "+0.00", "-0.33", "-1.33", "0.333", "3",
    ]  # fmt: skip
    assert by_language == ["bm25", "1 / 3", "0 / 1", "1 / 1", "1 / 1"]
    assert written.count("- bm25 0.1.0, `sha256:1`") == 1
    assert "On 2026-12-01 by bench" in written


def test_what_it_took_and_what_differs_stand_below_the_grades() -> None:
    asked = load_exam("dev")
    report_ = took(asked, call(1), call(2), indexed={"of_several_files": 3})
    system = report_.system.model_copy(update={"name": "claude-mem", "version": "13.25.3"})
    made = report_.model_copy(update={"system": system})
    plain = report(asked)
    written = page([row_of(plain), row_of(made)], [plain, made])
    assert rows_of(written, "claude-mem")[1] == [
        "claude-mem", "30", "0.00", "2", "0.0200", "15", "29", "350", "3",
    ]  # fmt: skip
    assert "Calls, US$: scripted: made from the page's own text; simulated" in written
    assert "- **claude-mem**: version 13.25.3 here, 13.35.0 there; embedder" not in written
    assert "- **claude-mem**: version 13.25.3 here, 13.35.0 there; notes taken by no" in written
    assert "Runs of the same questions" not in written


def test_answers_under_rules_say_how_many_pages_were_asked_for() -> None:
    asked = exam("dev", depth=50)
    bare = graded("bare", asked, [answer(one.id, [OLD_BACKUPS]) for one in asked.asked()])
    written = page([bare, under_rules(bare, None)], [])
    assert (
        "5 may be cited, of 50 asked for: leaving out replaced ones empties no answer." in written
    )
    assert "bare: in 6 of 6 answers all pages were replaced ones, of 50 asked for;" in written
    assert len(rows_of(written, "bare + rules (replaced left out; no scores, so no floor)")) == 2


def test_tables_are_whole() -> None:
    """A row has as many cells as its head, whatever a system is called."""
    asked = big(60, 60, 80)
    rows = [
        graded(f"a | b {name}", asked, made(asked, one.marks)) for name, one in HELDOUT3.items()
    ]
    width = 0
    for line in page(rows, []).replace("\\|", "").splitlines():
        if not line.startswith("|"):
            width = 0
            continue
        width = width or line.count("|")
        assert line.count("|") == width, line


def test_the_unflattering_comes_first_and_in_words() -> None:
    asked = exam("dev")
    wrong = graded("worse", asked, [answer(one.id, [LEAVE], 1.0) for one in asked.asked()])
    silent = graded("silent", asked, [answer(one.id) for one in asked.asked()])
    better = row_of(report(asked, {"q005": [BACKUPS]}))
    written = page([silent, better, wrong], [])
    said = [line for line in written.splitlines() if line.startswith("- **")]
    assert [line.split("**")[1] for line in said] == ["worse", "bm25", "silent"]
    assert "cites a wrong page in 83% of its answers on dev (5 of 6: neighbours 0," in said[0]
    assert "replaced pages 0, others 5)" in said[0]
    assert said[2].endswith("answers nothing; it refuses 4 of 4 questions that a page answers.")
    assert rows_of(written, "silent")[0][1] == "– (0 / 0)"
    assert rows_of(written, "silent")[0][-2:] == ["–", "–"]


def test_a_system_is_told_of_by_its_worst_set() -> None:
    good, bad = report(exam("dev")), report(exam("heldout"), {"q005": [BACKUPS]})
    written = page([row_of(good), row_of(bad)], [good, bad])
    plainly = written.partition("## dev")[0]
    (line,) = [line for line in plainly.splitlines() if line.startswith("- **")]
    assert "on heldout (1 of 5: neighbours 1" in line


def test_runs_without_a_verdict_are_told_of() -> None:
    hostile = Ending(outcome=Outcome.ERRORED, kind="driver", detail="a | b\n## c \x1b[31m \u202e")
    reports = [
        report(exam("dev"), ended=FAILED),
        report(exam("dev"), system="oracle", ended=hostile),
    ]
    written = page([], reports)
    told = written.partition("## Without a verdict\n")[2]
    assert "- bm25, dev: degraded. degraded: 'How often?' found no index" in told
    assert "- oracle, dev: driver. a \\| b ## c \\<U+001B\\>[31m \\<U+202E\\>" in told
    assert "\n## c" not in written


def test_systems_minus_others_below_their_table() -> None:
    reports = [
        report(exam("dev"), {"q005": [BACKUPS]}),
        report(exam("dev"), {"q001": None}, system="router"),
    ]
    rows = [row_of(one) for one in reports]
    written = page(rows, reports, vs=["router", "nobody"], vs_matched=["router"])
    told = [line for line in written.splitlines() if " minus " in line and "| one" not in line]
    assert [cells(line.lstrip("| "))[0] for line in told] == [
        "bm25 minus router", "bm25 minus router at 3 answered",
    ]  # fmt: skip
    assert " minus " not in page(rows, reports).partition("## dev")[2].replace("one minus", "")


def test_a_system_without_scores_is_not_held_to_fewer_answers() -> None:
    ours, plain = (
        report(exam("dev"), {"q001": None}),
        report(exam("dev"), score=None, system="router"),
    )
    written = page(
        [row_of(ours), row_of(plain)], [ours, plain], vs=["router"], vs_matched=["router"]
    )
    assert "bm25 minus router |" in written
    assert "minus router at" not in written


def test_nothing_of_a_held_out_question_is_on_it() -> None:
    said = {"q001": [OLD_BACKUPS], "q005": [BACKUPS]}
    reports = [report(exam("heldout"), said), report(exam("heldout"), ended=FAILED)]
    written = page([row_of(reports[0])], reports)
    assert "- bm25, heldout: degraded." in written
    assert "How often" not in written
    asked = reports[0].case
    assert isinstance(asked, Exam)
    for row in ROWS:
        assert row["q"] not in written
        assert row["id"] not in written
    assert not any(one.name in written for one in asked.pages)


def test_names_in_chinese_stay_what_they_are() -> None:
    asked = exam("dev")
    row = graded("中文 \x1b系统", asked, [answer(one.id, one.gold[:1] or None, *[1.0] * len(
        one.gold[:1])) for one in asked.asked()])  # fmt: skip
    written = page([row], [])
    assert "**中文 \\<U+001B\\>系统**" in written
    assert "\x1b" not in written
    assert written.encode()


def test_hostile_words_are_no_markup() -> None:
    made = [report(exam("dev"), {"q001": None}, runs=2), report(exam("dev"), ended=FAILED)]
    keys = KEYS["memory-honesty"]
    reports = [hostile(one, keys) for one in made]
    written = page([row_of(reports[0])], reports, vs=[row_of(reports[0]).label])
    assert steered(written) == set()
    # In code nothing is markup but what ends it.
    written = re.sub(r"(?<!\\)`[^`]*(?<!\\)`", "", written)
    assert "<script>" not in written.replace("\\<", "")
    assert "http://evil" not in written
    assert "`a`" not in written.replace("\\`", "")
    assert not any(line.startswith(("=1", "alert")) for line in written.splitlines())
    width = 0
    for line in written.replace("\\\\", "").replace("\\|", "").splitlines():
        width = (width or line.count("|")) if line.startswith("|") else 0
        assert line.count("|") == width, line
