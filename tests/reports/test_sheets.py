"""Every table of a report, of hostile words too: nothing that steers a terminal comes out."""

import csv
import gzip
import io
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from rich.cells import cell_len

from runner.commands._show import sheets_of_all
from runner.errors import BenchError
from runner.reports.files import load
from runner.reports.formats import csv_text, json_bytes, markdown, records
from runner.reports.schema import Report
from runner.reports.sheet import Cell, Column, Sheet
from runner.reports.sheets import sheets_of
from runner.reports.terminal import render
from tests.archive import _made
from tests.reports._honesty import report as of_honesty
from tests.reports._hostile import HOSTILE, hostile, places
from tests.reports._learning import report as of_learning
from tests.reports._printed import printed
from tests.suites.honesty_learning._kit import learned
from tests.suites.memory_honesty._kit import exam

BEFORE = Path(__file__).parent / "data" / "before-read-outs.json.gz"


def tripped(folder: Path) -> Report:
    path = folder / "before.json"
    path.write_bytes(gzip.decompress(BEFORE.read_bytes()))
    return load(path)


MADE: dict[str, Callable[[Path], Report]] = {
    "trip-vs-move": tripped,
    "update-gate": lambda folder: load(_made.gate(folder).path),
    "memory-honesty": lambda _: of_honesty(exam("dev")),
    "honesty-learning": lambda _: of_learning(after={"night": learned()}),
}


KEYS: dict[str, set[str]] = {
    "trip-vs-move": set(),
    "update-gate": set(),
    "memory-honesty": {
        "PageStatus.name", "RunSpec.id", "RunScore.run", "StepRecord.name", "StepRecord.verb",
        "StepRecord.result", "StepRecord.result keys", "StepRecord.error",
    },
    "honesty-learning": {"Lesson.vault"},
}  # fmt: skip
"""Words that others are looked up by, so that nothing is shown of a report in which they are not
what they have to be."""


def steered(text: str) -> set[str]:
    """Characters that are obeyed instead of shown: control and format characters."""
    return {one for one in text if unicodedata.category(one) in ("Cc", "Cf") and one not in "\n\t"}


@pytest.mark.slow
@pytest.mark.parametrize("suite", MADE)
def test_hostile_words_come_out_shown_and_never_obeyed(suite: str, tmp_path: Path) -> None:
    report = MADE[suite](tmp_path)
    assert set(places(report)) > KEYS[suite]
    bad = hostile(report, KEYS[suite])
    for width in (40, 80):
        lines = printed(render(bad), width=width)
        assert steered("\n".join(lines)) == set()
        assert max(map(cell_len, lines)) <= width
    assert "[red]x[/red]" in " ".join(" ".join(lines).split())
    assert "[link=http" in " ".join(" ".join(lines).split())
    sheets = sheets_of(bad)
    page = "\n".join(map(markdown, sheets))
    assert steered(page) == set()
    assert "<script>" not in page.replace("\\<", "")
    assert "://" not in page
    sheet = csv_text(sheets)
    assert steered(sheet) == set()
    for row in csv.reader(io.StringIO(sheet)):
        assert not row[3].startswith(("=", "@", "\t")), row
    told = json_bytes({one.name: records(one) for one in sheets})
    assert steered(told.decode()) == set()
    assert orjson.loads(told) == {one.name: records(one) for one in sheets}
    names = [one.name for one in sheets_of_all([bad, report, bad])]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)


NEEDED = [(suite, place) for suite, some in KEYS.items() for place in sorted(some)]


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "place"), NEEDED)
def test_no_word_is_left_out_that_need_not_be(suite: str, place: str, tmp_path: Path) -> None:
    report = MADE[suite](tmp_path)
    with pytest.raises((ValueError, LookupError, BenchError)):
        render(hostile(report, KEYS[suite] - {place}))


def one(text: str, value: Any = None) -> Sheet:
    return Sheet("a", text, (Column(text, key="a"),), ((Cell(text, value=value),),), (text,))


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"), ("+1+1", "'+1+1"), ("-1+1", "'-1+1"), ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"), ("\r=1", "'<U+000D>=1"), ("-1.5", "-1.5"), ("+3", "+3"),
        ("1e5", "1e5"), (" =1", "' =1"), ("a", "a"), ("", ""), ("·", ""),
    ],
)  # fmt: skip
def test_no_cell_is_a_formula(text: str, cell: str) -> None:
    assert list(csv.reader(io.StringIO(csv_text([one(text)])))) == [["a"], [cell]]


def test_markdown_is_a_table_of_just_its_cells() -> None:
    lines = markdown(one(HOSTILE)).splitlines()
    assert len(lines) == 7
    for line in lines[2:5:2]:
        assert line.replace("\\\\", "").replace("\\|", "").count("|") == 2
    assert "](" not in markdown(one("[x](javascript:alert(1))")).replace("\\](", "")


def test_several_sheets_are_one_table_in_long_form() -> None:
    made = csv_text([one("x", {"rate": 0.5, "low": None}), one("y", [1, 2])])
    rows = list(csv.DictReader(io.StringIO(made)))
    assert rows == [
        {"sheet": "a", "row": "1", "column": "a.rate", "value": "0.5"},
        {"sheet": "a", "row": "1", "column": "a", "value": "1 2"},
    ]


def test_a_narrow_terminal_is_told_cell_by_cell_and_chinese_is_twice_as_wide() -> None:
    columns = tuple(Column(name, numeric=name != "名") for name in ("名", "答对", "被拒绝", "费用"))
    row = tuple(map(Cell, ("路由器" * 4, "100/200 [43–57]", "46/80 [46–69]", "0.0123")))
    sheet = Sheet("a", "", columns, (row,))
    for width in (30, 40, 60, 80):
        lines = printed(sheet, width=width)
        assert max(map(cell_len, lines)) <= width
        assert "100/200 [43–57]" in " ".join(" ".join(lines).split())
        assert not any("…" in line for line in lines)
