"""What a figure draws, read back from its SVG: marks and scales, in the page's units."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from runner.reports.site.figures import Figure

_PATH = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Mark:
    """One mark of a series."""

    x: float
    y: float
    fill: str
    stroke: str


@dataclass(frozen=True)
class Scale:
    """A straight scale through two ticks."""

    at: float
    value: float
    per: float

    def __call__(self, place: float) -> float:
        return self.value + (place - self.at) * self.per


def tree(figure: Figure) -> ET.Element:
    return ET.fromstring(figure.svg)


def texts(figure: Figure) -> list[ET.Element]:
    return list(tree(figure).iter("text"))


def said(figure: Figure) -> list[str]:
    return [one.text or "" for one in texts(figure)]


def marks(figure: Figure, paint: str = "") -> list[Mark]:
    """Marks in the order they were drawn, of one colour of the page."""
    return [
        Mark(float(one.attrib["x"]), float(one.attrib["y"]), one.get("fill", ""), stroke)
        for one in tree(figure).iter("use")
        if paint in (stroke := one.get("stroke", ""))
    ]


def scale(ticks: Iterable[tuple[float, float]]) -> Scale:
    """The scale of some ticks: where they are, and what they stand for; all of them lie on it."""
    told = list(ticks)
    (at, value), (end, last) = told[0], told[-1]
    made = Scale(at, value, (last - value) / (end - at))
    assert all(abs(made(place) - known) < 0.002 * abs(last - value) for place, known in told)
    return made


def lines(figure: Figure, axis: str) -> list[float]:
    """Where the lines of a grid lie that cross an axis, in ascending order."""
    found = set()
    for one in tree(figure).iter("path"):
        if "--figure-grid" in one.get("stroke", ""):
            x, y, until, down = (float(number) for number in _PATH.findall(one.attrib["d"]))
            if (x == until) == (axis == "x"):
                found.add(x if axis == "x" else y)
            assert x == until or y == down
    return sorted(found)


def boxes(figure: Figure, paint: str) -> list[tuple[float, float, float, float]]:
    """Closed paths in a colour: left, right, upper and lower edge."""
    found = []
    for one in tree(figure).iter("path"):
        if paint in one.get("stroke", "") and one.attrib["d"].rstrip().endswith("z"):
            numbers = [float(number) for number in _PATH.findall(one.attrib["d"])]
            xs, ys = numbers[0::2], numbers[1::2]
            found.append((min(xs), max(xs), min(ys), max(ys)))
    return found


def bars(figure: Figure) -> list[tuple[float, float, float]]:
    """Level lines in ink, such as intervals: left, right, height on the page."""
    found = []
    for one in tree(figure).iter("path"):
        if one.get("stroke") == "currentColor" and one.get("fill") == "none":
            numbers = [float(number) for number in _PATH.findall(one.attrib["d"])]
            if len(numbers) == 4 and numbers[1] == numbers[3]:
                found.append((numbers[0], numbers[2], numbers[1]))
    return found
