"""Drawings made fit for a page: no style, no shared ids, no word of a stranger that acts."""

from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from runner.reports.site.figures._drawing import cut, drawing, spread, wide
from runner.reports.site.figures._inline import inline, place, shown
from runner.reports.site.figures._palette import INK, PAINTS, series

HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    ' width="10pt" height="10pt" viewBox="0 0 10 10">'
)
HOSTILE = "<script>alert(1)</script> $x^2$ @0@ \u202e\x1b[31m \ufffe 中文"


def made(inside: str, *texts: str, name: str = "one") -> str:
    drawn = f'<?xml version="1.0"?>{HEAD}{inside}</svg>'.encode()
    return inline(drawn, name=name, title="A & b", description="what <i>", texts=texts)


def test_style_becomes_attributes_in_the_colours_of_the_page() -> None:
    written = made(
        "<metadata>who</metadata><defs><style>*{stroke: red}</style></defs>"
        '<g id="figure_1"><path d="M 0 0.123456 \nL 1.06 -0.04 \nz\n"'
        f' style="fill: {series(0)}; stroke: {INK}; stroke-width: 1.5; stroke-dashoffset: 0"/></g>'
        '<text style="font-size: 9px; font-family: \'A\', sans-serif; text-anchor: end" x="1"'
        ' y="2.34567" transform="rotate(-0 1 2.3)">words</text>'
    )
    assert "style" not in written
    assert "who" not in written
    path, text = ET.fromstring(written)[2:]
    assert path.attrib == {
        "d": "M 0 0.1 L 1.1 0 z",
        "fill": "var(--series-1, #0072b2)",
        "stroke": "currentColor",
        "stroke-width": "1.5",
    }
    assert text.attrib == {"font-size": "9", "text-anchor": "end", "x": "1", "y": "2.35"}


def test_it_is_named_for_who_does_not_see_it() -> None:
    root = ET.fromstring(made(""))
    assert (root.get("role"), root.get("aria-labelledby")) == ("img", "one-title one-desc")
    assert {child.get("id"): child.text for child in root} == {
        "one-title": "A & b",
        "one-desc": "what <i>",
    }
    assert not {"width", "height"} & set(root.attrib)


def test_ids_are_the_figures_own_and_there_only_where_something_refers_to_them() -> None:
    inside = (
        '<g id="axes_1"><defs><path id="m1" d="M 0 0"/><path id="m2" d="M 0 0"/></defs>'
        '<use xlink:href="#m1" x="1" y="1"/></g>'
        '<defs><clipPath id="p1"><rect x="0"/></clipPath></defs>'
        '<path d="M 0 0" clip-path="url(#p1)"/>'
    )
    one, other = made(inside), made(inside, name="other")
    ids = [{el.get("id") for el in ET.fromstring(svg).iter()} - {None} for svg in (one, other)]
    assert ids[0] == {"one-title", "one-desc", "one-0", "one-1"}
    assert not ids[0] & ids[1]
    assert 'href="#one-0"' in one
    assert 'clip-path="url(#one-1)"' in one


@pytest.mark.parametrize("style", ["fill: #123456", "filter: url(http://example.org)"])
def test_what_a_page_has_no_word_for_stops_it(style: str) -> None:
    with pytest.raises(ValueError, match=r"colours|no word"):
        made(f'<path d="M 0 0" style="{style}"/>')


def test_words_of_strangers_are_text() -> None:
    written = made(f"<text>{place(0)}</text><text>{place(1)}</text>", HOSTILE, "@0@")
    one, other = ET.fromstring(written).iter("text")
    assert one.text == ("<script>alert(1)</script> $x^2$ @0@ <U+202E><U+001B>[31m <U+FFFE> 中文")
    assert (other.text, len(one)) == ("@0@", 0)
    assert "<script" not in written


def test_a_drawing_takes_any_words_and_leaves_no_setting_behind(
    recwarn: pytest.WarningsRecorder,
) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    with matplotlib.rc_context({"axes.grid": True, "lines.linewidth": 9.0, "font.size": 40.0}):
        drawn = _drawn()
    assert drawn == _drawn()
    assert dict(matplotlib.rcParams) == before
    assert not [one for one in recwarn if "lyph" in str(one.message)]
    [text] = ET.fromstring(drawn).iter("text")
    assert text.text == cut(shown(HOSTILE), 40)


def _drawn() -> str:
    with drawing(50) as page:
        axis = page.axes(0, 0, 100, 50)
        axis.plot([0, 1], [0, 1], color=series(1))
        page.say(10, 10, page.theirs(HOSTILE))
        return page.svg("one", "t", "d")


def test_series_differ_by_more_than_colour() -> None:
    from runner.reports.site.figures._palette import dash, marker

    assert len({(dash(n), marker(n)) for n in range(35)}) == 35
    assert len(set(PAINTS.values())) == len(PAINTS)


def test_neighbouring_series_differ_in_grey() -> None:
    def lightness(number: int) -> float:
        paint = PAINTS[series(number)].rpartition("#")[2]
        red, green, blue = (int(paint[at : at + 2], 16) for at in (0, 2, 4))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    greys = [lightness(number) for number in range(8)]
    assert all(abs(one - other) > 15 for one, other in pairwise(greys))


def test_labels_are_cut_by_how_wide_they_are() -> None:
    assert (wide("ab"), wide("中文")) == (2, 4)
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abcde…"
    assert cut("中文中文", 6) == "中文…"


def test_labels_keep_apart() -> None:
    assert spread([10, 11, 50], 10, 0, 100) == [10, 20, 50]
    assert spread([95, 96, 97], 10, 0, 100) == [80, 90, 100]
    assert spread([], 10, 0, 100) == []
