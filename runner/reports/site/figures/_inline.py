"""A drawing made fit to stand inside a page.

What matplotlib writes is a document of its own, with a style sheet, style attributes, ids that two
drawings share, and sizes in points. A page under a strict content policy takes none of that. The
drawing is parsed, never searched for patterns: style becomes presentation attributes, ids are
numbered below the figure's own name, coordinates are rounded, and words of strangers, for which
the drawing holds numbers, become text.
"""

import re
import unicodedata
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from markupsafe import Markup

from runner.plain import plain
from runner.reports.site.figures._palette import PAINTS

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_LOST = frozenset({f"{_SVG}style", f"{_SVG}metadata"})
_NUMBER = re.compile(r"-?\d+\.\d+")
_PLACE = re.compile(r"@(\d+)@")
_URL = re.compile(r"url\(#([^)]+)\)")
_KEPT = frozenset({
    "fill", "fill-opacity", "font-size", "font-weight", "opacity", "stroke", "stroke-dasharray",
    "stroke-linecap", "stroke-linejoin", "stroke-opacity", "stroke-width", "text-anchor",
})  # fmt: skip
_DROPPED = frozenset({"font-family", "font-style", "stroke-dashoffset"})
"""The page's own fonts are used; a dash begins where its line does."""


def place(number: int) -> str:
    """What stands in a drawing for the stranger's text of that number."""
    return f"@{number}@"


def inline(
    drawn: bytes, *, name: str, title: str, description: str, texts: Sequence[str] = ()
) -> Markup:
    """An SVG document as an element of a page.

    Args:
        drawn: the document, as matplotlib wrote it, in the colours of ``PAINTS`` alone.
        name: goes before every id.
        title: what it is called.
        description: what it shows.
        texts: strangers' words, for which the drawing holds a ``place``.

    Raises:
        ValueError: a colour or a style that a page has no word for.
    """
    root = ET.fromstring(drawn)  # noqa: S314 (our own drawing, without entities)
    ids = {
        one: f"{name}-{number}"
        for number, one in enumerate(dict.fromkeys(filter(None, map(_aimed_at, root.iter()))))
    }
    made = ET.Element("svg", _frame(root, name))
    for tag, text in (("title", title), ("desc", description)):
        ET.SubElement(made, tag, {"id": f"{name}-{tag}"}).text = shown(text)
    _fill(made, root, ids, texts)
    return Markup(ET.tostring(made, encoding="unicode"))  # noqa: S704 (serialised, not pasted)


def shown(text: str) -> str:
    """A stranger's text as it may stand in XML: nothing that acts, and nothing XML forbids."""
    return "".join(
        f"<U+{ord(char):04X}>" if unicodedata.category(char) == "Cn" else char
        for char in plain(" ".join(text.split()))
    )


def _frame(root: ET.Element, name: str) -> dict[str, str]:
    return {
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-labelledby": f"{name}-title {name}-desc",
        "class": "figure",
        "fill": "currentColor",
        "stroke-linejoin": "round",
    }


def _aimed_at(element: ET.Element) -> str | None:
    """The id an element refers to."""
    if (href := element.get(_HREF)) is not None:
        return href.removeprefix("#")
    found = _URL.fullmatch(element.get("clip-path", ""))
    return found[1] if found else None


def _fill(made: ET.Element, source: ET.Element, ids: dict[str, str], texts: Sequence[str]) -> None:
    for child in source:
        if child.tag in _LOST:
            continue
        attributes = _attributes(child, ids)
        if child.tag in (f"{_SVG}g", f"{_SVG}defs") and not (attributes or _defines(child, ids)):
            _fill(made, child, ids, texts)  # a group of nothing but an id
            continue
        new = ET.SubElement(made, child.tag.removeprefix(_SVG), attributes)
        if child.tag == f"{_SVG}text":
            new.text = _text(child.text or "", texts)
        _fill(new, child, ids, texts)


def _defines(element: ET.Element, ids: dict[str, str]) -> bool:
    return element.tag == f"{_SVG}defs" and any(child.get("id") in ids for child in element)


def _text(text: str, texts: Sequence[str]) -> str:
    found = _PLACE.fullmatch(text)
    return shown(texts[int(found[1])]) if found else text


def _attributes(element: ET.Element, ids: dict[str, str]) -> dict[str, str]:
    made: dict[str, str] = {}
    for key, value in element.attrib.items():
        if key == "id":
            if value in ids:
                made["id"] = ids[value]
        elif key == _HREF:
            made["href"] = f"#{ids[value.removeprefix('#')]}"
        elif key == "clip-path":
            made[key] = f"url(#{ids[_aimed_at(element) or '']})"
        elif key == "style":
            made |= _presented(value)
        elif key == "d":
            made[key] = _path(value)
        elif key == "transform":
            if not value.startswith("rotate(-0 "):
                made[key] = _rounded(value, 2)
        else:
            made[key] = _rounded(value, 2)
    return made


def _presented(style: str) -> dict[str, str]:
    """Declarations as presentation attributes, with the page's colours."""
    made = {}
    for declaration in filter(None, map(str.strip, style.split(";"))):
        key, _, value = (part.strip() for part in declaration.partition(":"))
        if key in _DROPPED:
            continue
        if key not in _KEPT:
            raise ValueError(f"a page has no word for the style {declaration!r}")
        if key in ("fill", "stroke") and value != "none":
            if value not in PAINTS:
                raise ValueError(f"{value} is none of a figure's colours")
            value = PAINTS[value]
        made[key] = value.removesuffix("px")
    return made


def _path(d: str) -> str:
    """A path with one decimal, which is a tenth of what a screen shows of it."""
    return _rounded(" ".join(d.split()), 1)


def _rounded(text: str, places: int) -> str:
    def short(found: re.Match[str]) -> str:
        number = f"{float(found[0]):.{places}f}".rstrip("0").rstrip(".")
        return "0" if number == "-0" else number

    return _NUMBER.sub(short, text)
