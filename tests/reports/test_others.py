"""What was published of a set beside ours, and that it is said to be of other questions."""

import pytest

from runner.published import OTHERS
from runner.reports.honesty import graded
from runner.reports.others import as_markdown, others
from runner.reports.results import page
from runner.reports.terminal import render
from runner.suites.memory_honesty import SETS, load_exam
from tests.reports._honesty import FAILED, report
from tests.reports._printed import Printable, printed
from tests.suites.memory_honesty._big import big, made
from tests.suites.memory_honesty._kit import exam
from tests.suites.memory_honesty._published import HELDOUT3

HEAD = "published, on other"


def text(*things: Printable) -> str:
    return "\n".join(printed(*things))


@pytest.mark.parametrize("name", SETS)
def test_every_set_fits_eighty_columns_uncut(name: str) -> None:
    said = text(others(name))
    assert all(len(line) <= 80 for line in said.splitlines())
    assert "…" not in said
    assert (OTHERS in said) is (name != "dev2")
    assert (HEAD in said) is (name != "dev2")


def test_figures_are_as_the_page_prints_them() -> None:
    said = " ".join(text(others("heldout3")).split())
    assert "KRouter 1.0.3 27% (37/139) [19–34] 46/80 50/60 52/60 ·" in said
    assert "KRouter 1.2.1 26% 47/80 · · 102/120" in said
    said = " ".join(text(others("heldout2")).split())
    assert "printed twice, with different figures" in said


def test_as_markdown_it_has_the_day_too() -> None:
    lines = list(as_markdown("heldout3"))
    assert OTHERS in lines[0]
    assert (
        "| KRouter 1.0.3 | 2026-10-14 | 27% (37 / 139) [19, 34] | 46 / 80 | 50 / 60 | 52 / 60 | – |"
    ) in lines
    assert "| BM25 + rules at 17 | 2026-10-12 | 1 / 17 | – | – | – | 16 / 20 |" in list(
        as_markdown("dev")
    )
    rows = [line for line in lines if line.startswith("|")]
    assert {row.count("|") for row in rows} == {8}
    assert list(as_markdown("dev2")) == []


def test_a_report_prints_them_below_its_own() -> None:
    said = text(render(report(exam("heldout"))))
    assert said.index("right - wrong") < said.index(HEAD)
    assert OTHERS in said
    assert HEAD not in text(render(report(exam("heldout"), ended=FAILED)))
    assert HEAD not in text(render(report(load_exam("dev2"))))


def test_the_page_has_them_under_each_set() -> None:
    asked = big(60, 60, 80)
    row = graded("bm25", asked, made(asked, HELDOUT3["KRouter"].marks))
    written = page([row], [])
    assert written.count(OTHERS) == 1
    assert written.index("## heldout3") < written.index("| KRouter 1.0.3 |")
