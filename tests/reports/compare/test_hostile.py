"""Words of stores, pages and questions stay words, whatever shows them."""

import json
import re
from pathlib import Path

from markdown_it import MarkdownIt
from rich.console import Console

from runner.model import Claim
from runner.plain import plain
from runner.reports import compare as comparing
from runner.reports import files
from runner.reports.compare import Comparison, compare, judge
from runner.reports.formats import json_bytes
from tests.reports._honesty import report as honest
from tests.reports.compare.test_trip import told
from tests.suites.memory_honesty._kit import LEAVE, ROWS, exam

WORDS = "<script>alert(1)</script>\x1b[2J\x9b1m\u202eback\u2066 | `x` [a](https://evil.example) &"


def shown(found: Comparison) -> dict[str, str]:
    """Everything that is printed of it, by the form it is printed in."""
    judged = judge(found)
    console = Console(width=200, file=None, no_color=True)
    with console.capture() as captured:
        console.print(comparing.table(found, judged))
    document = comparing.document(found, judged, code=1, alpha=0.05)
    return {
        "table": captured.get(),
        "markdown": comparing.page(found, judged),
        "csv": comparing.spreadsheet(found),
        "json": json_bytes(document).decode(),
    }


def see_tame(found: Comparison) -> dict[str, str]:
    told = shown(found)
    for name, text in told.items():
        assert plain(text) == text, name
        assert "alert(1)" in text, f"{name} leaves it out"
    page = MarkdownIt("commonmark").enable("table").render(told["markdown"])
    assert "alert(1)" in page
    assert [tag for tag in ("<script", "<a ", "<code", "<b>") if tag in page] == []
    for table in page.split("<table>")[1:]:
        rows = table.partition("</table>")[0].split("<tr>")[1:]
        assert len({len(re.findall("<t[hd]", row)) for row in rows}) == 1, "a cell broke out"
    json.loads(told["json"])
    return told


def test_what_a_store_holds(reader: Path) -> None:
    good = files.load(reader)
    claim = Claim(id="x", text=WORDS, status="ACTIVE", sources=("<b>\x1b[1m.md",))
    told_ = see_tame(compare(good, told(good, 1, claim)))
    assert "<U+001B>" in told_["table"]


def test_what_a_question_says() -> None:
    rows = ({**ROWS[0], "q": WORDS}, *ROWS[1:])
    asked = exam("dev", *rows)
    see_tame(compare(honest(asked), honest(asked, {"q001": [LEAVE]})))


def test_what_a_system_calls_itself(reader: Path) -> None:
    good = files.load(reader)
    system = good.system.model_copy(update={"version": WORDS})
    see_tame(compare(good, good.model_copy(update={"system": system})))
