"""Every figure from real reports: well-formed, the same each time, and true to its table."""

import subprocess
import sys
from collections import Counter
from xml.etree import ElementTree as ET

import pytest

from runner.model import RunRecord
from runner.reports.files import load
from runner.reports.honesty import graded
from runner.reports.sheet import Sheet
from runner.reports.site.figures import (
    Figure,
    Group,
    Line,
    Panel,
    Share,
    Worth,
    exact,
    forest,
    outcomes,
    prices,
    risk_coverage,
    rules,
    store,
    timeline,
)
from runner.suites.memory_honesty import Mark, Result
from runner.suites.update_gate import score
from tests.reports.site.figures._read import bars, boxes, lines, marks, said, scale, texts, tree
from tests.suites.memory_honesty._kit import BACKUPS, LEAVE, OLD_BACKUPS, RELEASE, answer, exam
from tests.suites.update_gate._tables import RETIRES, gate, protocol

HOSTILE = "<script>alert(1)</script>"
SERIES = "var(--series-"


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    """Two systems' answers to the little set, one of them with a hostile name."""
    asked = exam("dev")
    first = [
        answer("q001", [OLD_BACKUPS], 0.9), answer("q002", [RELEASE], 0.8),
        answer("q003", [LEAVE], 0.3), answer("q004", [LEAVE], 0.7),
        answer("q005", [BACKUPS], 0.6), answer("q006"),
    ]  # fmt: skip
    second = [
        answer("q001", [BACKUPS], 0.5), answer("q002"), answer("q003"),
        answer("q004", [LEAVE], 0.4), answer("q005"), answer("q006"),
    ]  # fmt: skip
    return {
        "one": graded("one", asked, first).result,
        HOSTILE: graded(HOSTILE, asked, second).result,
    }


@pytest.fixture(scope="module")
def run(originals: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    path = tmp_path_factory.mktemp("figures") / "reader.json"
    path.write_bytes(originals["reader"])
    return load(path).runs[0]


SHARES = (Share(0.25, 0.1, 0.5, 1, 4), Share(None), Share(0.875, 0.75, 1.0, 7, 8))


def a_forest() -> Figure:
    panels = [Panel("first", SHARES, less=True), Panel("second", (None, *SHARES[:2]))]
    return forest("a-forest", "A forest", "what", ["one", "中文", HOSTILE], panels, hollow=(2,))


def a_curve(results: dict[str, Result]) -> Figure:
    lines = [
        Line(label, one.curve, number)
        for number, (label, one) in enumerate(results.items())
        if one.curve is not None
    ]
    assert len(lines) == 2
    return risk_coverage("a-curve", "A curve", "what", lines, without=["mute"])


def a_price(results: dict[str, Result]) -> Figure:
    worths = [
        Worth(label, one.metrics.right, one.metrics.wrong, one.metrics.n)
        for label, one in results.items()
    ]
    return prices("a-price", "A price", "what", worths)


GROUPS = (
    Group("one", {Mark.RIGHT: 5, Mark.STALE: 3, Mark.FALSE_REFUSAL: 2}),
    Group(HOSTILE, {Mark.NEIGHBOUR: 1, Mark.REFUSED: 6}),
    Group("none", {}),
)


def a_bar() -> Figure:
    return outcomes("a-bar", "A bar", "what", GROUPS)


def all_of(results: dict[str, Result], run: RunRecord) -> list[Figure]:
    return [
        a_forest(), a_curve(results), a_price(results), a_bar(), timeline("a-time", run),
        store("a-store", run), rules("a-rule", score(gate(), protocol(gate(), {"c1": RETIRES}))),
    ]  # fmt: skip


@pytest.mark.slow
def test_every_figure_is_fit_for_a_page(results: dict[str, Result], run: RunRecord) -> None:
    made = all_of(results, run)
    assert [one.svg for one in made] == [one.svg for one in all_of(results, run)]
    ids: Counter[str] = Counter()
    for one in made:
        root = ET.fromstring(one.svg)
        for element in root.iter():
            assert element.tag not in ("style", "script", "foreignObject", "image", "a")
            assert not [key for key in element.attrib if key == "style" or key.startswith("on")]
            ids.update(filter(None, [element.get("id")]))
            href = element.get("href")
            assert href is None or href.startswith(f"#{one.name}-")
        assert root.get("viewBox", "").startswith("0 0 760 ")
        assert "<script" not in one.svg
        assert "http" not in one.svg
        assert len(one.svg) < 40_000
        assert one.table.rows
        assert one.title
        assert one.description
    assert set(ids.values()) == {1}
    assert HOSTILE in said(made[0])


def test_a_figure_of_nothing_is_still_one(run: RunRecord) -> None:
    empty = run.model_copy(update={"steps": (), "snapshots": (), "calls": ()})
    for one in (timeline("t", empty), store("s", empty), outcomes("o", "o", "d", [])):
        assert tree(one).get("role") == "img"
        assert one.table.rows == ()
    with pytest.raises(ValueError, match="2 rates for 1 lines"):
        forest("f", "f", "d", ["one"], [Panel("p", SHARES[:2])])
    with pytest.raises(ValueError, match="no name for a figure"):
        forest("F g", "f", "d", ["one"], [Panel("p", SHARES[:1])])


@pytest.mark.slow
def test_nothing_loads_matplotlib_before_a_figure_is_made() -> None:
    code = "import sys, runner.reports.site.figures; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def near(one: float, other: float) -> bool:
    return abs(one - other) < 0.002


def test_a_forest_draws_its_table() -> None:
    one = a_forest()
    zero = [float(text.attrib["x"]) for text in texts(one) if text.text == "0%"]
    full = [float(text.attrib["x"]) for text in texts(one) if text.text == "100%"]
    # Half a field apart: the figures beside a field are no ticks.
    zero = [x for x in zero if any(abs(x - other) > 1 for other in full)]
    drawn = marks(one, SERIES)
    heights = sorted({mark.y for mark in marks(one, SERIES)})
    for number, (left, right) in enumerate(zip(zero, full, strict=True)):
        across = scale([(left, 0.0), (right, 1.0)])
        mine = [mark for mark in drawn if left - 1 <= mark.x <= right + 1]
        cells = [row[1 + number].value for row in one.table.rows]
        told = [cell for cell in cells if isinstance(cell, dict) and cell["rate"] is not None]
        assert len(mine) == len(told) > 0
        for mark, cell in zip(sorted(mine, key=lambda mark: mark.y), told, strict=True):
            assert near(across(mark.x), float(str(cell["rate"])))
            [bar] = [
                (across(low), across(high))
                for low, high, y in bars(one)
                if abs(y - mark.y) < 0.2 and left - 1 <= low <= right + 1
            ]
            assert near(bar[0], float(str(cell["low"])))
            assert near(bar[1], float(str(cell["high"])))
    assert len(heights) == 3
    assert [mark.fill.startswith("var(--figure-paper") for mark in drawn].count(True) == 1
    assert one.table.rows[0][1].text == "25.0% [10.0–50.0] 1/4"
    assert [row[2].text for row in one.table.rows] == ["not told", "25.0% [10.0–50.0] 1/4", "none"]
    assert "first (less is better)" in said(one)


def in_series(figure: Figure, number: int) -> list[tuple[float, float]]:
    """Marks of a series but for the one before its label."""
    return [(mark.x, mark.y) for mark in marks(figure, f"{SERIES}{number},")][:-1]


def test_curves_draw_their_table(results: dict[str, Result]) -> None:
    one = a_curve(results)
    quarters = [0.0, 0.25, 0.5, 0.75, 1.0]
    across = scale(zip(lines(one, "x"), quarters, strict=True))
    up = scale(zip(lines(one, "y"), quarters[::-1], strict=True))
    for number, row in enumerate(one.table.rows, 1):
        told = [
            (at / 10, cell.value) for at, cell in enumerate(row[1:11], 1) if cell.value is not None
        ]
        drawn = in_series(one, number)
        assert len(drawn) == len(told) > 0
        for (x, y), (share, rate) in zip(drawn, told, strict=True):
            assert near(across(x), share)
            assert near(up(y), float(str(rate)))
    assert "No scores, so no curve: mute." in one.table.notes
    assert {"one", cut_name()} <= set(said(one))


def cut_name() -> str:
    return HOSTILE if len(HOSTILE) <= 28 else f"{HOSTILE[:27]}…"


def test_prices_draw_their_table(results: dict[str, Result]) -> None:
    one = a_price(results)
    up = scale(zip(lines(one, "y"), (1.0, 0.5, 0.0, -0.5, -1.0), strict=True))
    across = scale(zip(lines(one, "x"), map(float, range(6)), strict=True))
    for number, row in enumerate(one.table.rows, 1):
        told = {
            weight: float(str(cell.value)) for weight, cell in zip((1, 2, 5), row[4:], strict=True)
        }
        drawn = in_series(one, number)
        assert len(drawn) == sum(value >= -1 for value in told.values())
        for x, y in drawn:
            assert abs(told[round(across(x))] - up(y)) < 0.005
    # Three wrong of six: at five right ones each it is below the picture, and in the table.
    assert one.table.rows[0][-1].text == "−2.17"


def test_bars_are_as_long_as_their_counts() -> None:
    one = a_bar()
    across = scale(zip(lines(one, "x"), map(float, range(0, 11, 2)), strict=True))
    colours = {Mark.RIGHT: 3, Mark.REFUSED: 1, Mark.STALE: 2, Mark.NEIGHBOUR: 6, Mark.UNRELATED: 4,
               Mark.FALSE_REFUSAL: 7}  # fmt: skip
    for mark, number in colours.items():
        told = [group.counts[mark] for group in GROUPS if mark in group.counts]
        drawn = [
            across(right) - across(left)
            for left, right, top, bottom in boxes(one, f"{SERIES}{number},")
            if bottom - top > 10
        ]
        assert drawn == pytest.approx(told, abs=0.02)
    assert [cell.value for cell in one.table.rows[0][1:]] == [10, 5, 0, 3, 0, 0, 2]


def test_a_timeline_draws_its_table(run: RunRecord) -> None:
    one = timeline("t", run)
    assert [cell.value for cell in column(one.table, "number")] == [*range(1, len(run.steps) + 1)]
    calls = [int(str(cell.value)) for cell in column(one.table, "calls")]
    assert sum(calls) == len(run.calls) > 0
    total = column(one.table, "usd_so_far")[-1].value
    assert str(total) == str(run.cost_usd)
    heights = [bottom - top for _, _, top, bottom in boxes(one, f"{SERIES}1,")]
    assert [round(height / max(heights) * max(calls)) for height in heights] == calls
    spent = [mark.y for mark in marks(one, f"{SERIES}6,")]
    totals = [float(str(cell.value)) for cell in column(one.table, "usd_so_far")]
    assert len(spent) == len(totals)
    rises = [spent[0] - y for y in spent]
    shares = [(one_ - totals[0]) / (totals[-1] - totals[0]) for one_ in totals]
    assert [rise / rises[-1] for rise in rises] == pytest.approx(shares, abs=0.01)
    days = [step.day.isoformat() for step in run.steps if step.day is not None]
    assert [text[:10] for text in said(one) if text[:4] == days[0][:4]] == [*dict.fromkeys(days)]


def test_the_ceiling_is_drawn_above_the_money(run: RunRecord) -> None:
    spec = run.spec.model_copy(update={"max_usd": run.cost_usd * 2})
    one = timeline("t", run.model_copy(update={"spec": spec}))
    [ceiling] = bars(one)
    assert ceiling[2] < min(mark.y for mark in marks(one, f"{SERIES}6,"))
    assert "ceiling as a broken line" in one.description


def test_a_store_draws_its_table(run: RunRecord) -> None:
    one = store("s", run)
    for number, line in ((3, "active"), (2, "retired"), (1, "restated")):
        told = [int(str(cell.value)) for cell in column(one.table, line)]
        drawn = in_series(one, number)
        assert len(drawn) == len(told) == len(run.snapshots)
        rises = [drawn[0][1] - y for _, y in drawn]
        unit = max(map(abs, rises), default=0) / (max(told) - min(told) or 1)
        assert [round(rise / (unit or 1)) for rise in rises] == [n - told[0] for n in told]
    assert any(str(cell.value) != "0" for cell in column(one.table, "active"))


def test_the_rules_of_the_gate_come_with_exact_intervals() -> None:
    one = rules("r", score(gate(), protocol(gate(), {"c1": RETIRES})))
    assert [row[0].text for row in one.table.rows] == [
        "development: production", "development: changes-only", "development: before-1.187",
    ]  # fmt: skip
    assert one.table.rows[0][2].value == {
        "hits": 1, "of": 6, "rate": 1 / 6, "low": exact(1, 6).low, "high": exact(1, 6).high,
    }  # fmt: skip
    assert exact(0, 0) == Share(None, hits=0, of=0)


def column(sheet: Sheet, key: str) -> list:  # type: ignore[type-arg]
    [at] = [n for n, one in enumerate(sheet.columns) if key in (one.key, one.name)]
    return [row[at] for row in sheet.rows]
