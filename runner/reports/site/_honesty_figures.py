"""The pictures of the honesty suite: of a set with all its systems, and of one report."""

from collections.abc import Iterator, Mapping, Sequence

from runner.reports.honesty import Row
from runner.reports.site._honesty_sides import Side
from runner.reports.site.figures import (
    Figure,
    Group,
    Line,
    Panel,
    Share,
    Worth,
    forest,
    outcomes,
    prices,
    risk_coverage,
)
from runner.suites.memory_honesty import RATES, Estimate, Mark, Metrics, Result, Tally

Known = Sequence[tuple[str, Result]]
"""Labels with what they come to."""

TITLES: Mapping[str, str] = {
    "wrong_rate": "wrong citations",
    "behaved": "right or rightly refused",
    "coverage": "coverage",
    "neighbours_refused": "neighbours refused",
    "answerable_right": "answerable right",
    "false_refusals": "false refusals",
    "corrections_right": "corrections right",
    "current_right": "current right",
}
"""Rates in words."""
LESS = frozenset({"wrong_rate", "false_refusals"})
"""Rates of which less is better."""
_MAIN = (
    "wrong_rate",
    "neighbours_refused",
    "false_refusals",
    "corrections_right",
    "current_right",
    "coverage",
)
_KINDS = {
    "correction": "corrections: right",
    "current": "current: right",
    "refuse": "to refuse: refused",
}
_LANGS = {"en": "in English", "zh": "in Chinese"}


def of_set(found: Known) -> Iterator[Figure]:
    """Every picture that compares the systems of a set."""
    labels = [label for label, _ in found]
    results = [result for _, result in found]
    yield forest(
        "rates",
        "Rates with 95% intervals",
        "A field for each rate and a line for each system: the dot is the rate, the bar the"
        " interval from resampled questions, each kind keeping its number. Systems are in the"
        " order of their names, which is no ranking.",
        labels,
        [_panel(name, [(one.intervals.all, one.metrics) for one in results]) for name in _MAIN],
    )
    lines = [
        Line(label, one.curve, number)
        for number, (label, one) in enumerate(found)
        if one.curve is not None
    ]
    without = [label for label, one in found if one.curve is None]
    if any(line.curve.points for line in lines):
        yield risk_coverage(
            "risk-coverage",
            "Risk over coverage",
            "For each system that tells how sure it is, a line of how often it is wrong when it"
            " answers only the questions it is surest of, from few on the left to all it answers."
            " A line that stays low to the far right is that of a system that knows what it knows.",
            lines,
            without=without,
        )
    yield prices(
        "prices",
        "What the answers are worth as wrong ones get dearer",
        "For each system a straight line: right citations minus wrong ones times what one costs,"
        " over all questions. On the left a wrong citation costs nothing, on the right five right"
        " ones. Where two lines cross, the better choice changes. A line that leaves below is worth"
        " less than nothing by then; the table tells how much.",
        [Worth(label, one.metrics.right, one.metrics.wrong, one.metrics.n) for label, one in found],
    )
    yield outcomes(
        "outcomes",
        "What became of the questions",
        "For each system a bar as long as there are questions, in parts by what became of them.",
        [Group(label, counts(one.metrics)) for label, one in found],
        first="system",
    )
    yield from _parts(labels, results)


def _parts(labels: Sequence[str], results: Sequence[Result]) -> Iterator[Figure]:
    kinds = list(dict.fromkeys(kind for one in results for kind in one.metrics.by_kind))
    yield forest(
        "by-kind",
        "The right thing done, by kind of question",
        "A field for each kind of question and a line for each system: how often the right page"
        " was cited first, or the question refused where no page answers it.",
        labels,
        [
            Panel(
                _KINDS[kind],
                tuple(
                    _share("behaved", one.intervals.by_kind.get(kind), one.metrics.by_kind[kind])
                    if kind in one.metrics.by_kind
                    else None
                    for one in results
                ),
            )
            for kind in kinds
        ],
    )
    langs = list(dict.fromkeys(lang for one in results for lang in one.metrics.by_language))
    if len(langs) < 2:
        return
    panels = []
    for lang in langs:
        parts = [
            (one.intervals.by_language.get(lang, {}), one.metrics.by_language.get(lang))
            for one in results
        ]
        for name in ("wrong_rate", "answerable_right", "neighbours_refused"):
            shares = tuple(
                None if tally is None else _share(name, estimates, tally)
                for estimates, tally in parts
            )
            panels.append(Panel(f"{TITLES[name]}, {lang}", shares))
    yield forest(
        "by-language",
        "By language of the question",
        "A row of fields for each language: wrong citations, of which fewer are better, the right"
        " page for questions that have one, and neighbours refused. A line for each system.",
        labels,
        panels,
    )


def of_report(side: Side) -> Iterator[Figure]:
    """Every picture of one report; none where no run was graded."""
    result = side.result
    if result is None:
        return
    metrics, told = result.metrics, result.intervals
    parts: list[tuple[str, Mapping[str, Estimate], Tally]] = [("all", told.all, metrics)]
    parts += [(kind, told.by_kind[kind], tally) for kind, tally in metrics.by_kind.items()]
    if len(metrics.by_language) > 1:
        parts += [
            (_LANGS[lang], told.by_language[lang], tally)
            for lang, tally in metrics.by_language.items()
        ]
    # Corrections and current questions have lines of their own, where behaved is right.
    names = [name for name in TITLES if name not in ("corrections_right", "current_right")]
    yield forest(
        "rates",
        "Rates with 95% intervals",
        "A field for each rate; in each a line for all questions, for every kind, and for every"
        " language. The dot is the rate, the bar its interval from resampled questions.",
        [label for label, _, _ in parts],
        [_panel(name, [(one, tally) for _, one, tally in parts]) for name in names],
        first="of",
    )
    yield outcomes(
        "outcomes",
        "What became of the questions",
        "A bar for all questions, for every kind and every language, as long as there are"
        " questions, in parts by what became of them.",
        [Group(label, counts(tally)) for label, _, tally in parts],
        first="of",
    )
    if result.curve is not None and result.curve.points:
        yield risk_coverage(
            "risk-coverage",
            "Risk over coverage",
            "How often it is wrong when it answers only the questions it is surest of, from few on"
            " the left to all it answers.",
            [Line(side.label, result.curve)],
        )


def of_rules(given: Row | Result, ruled: Row, label: str) -> Figure:
    """Answers as they were given, and under rules that anyone's can be given."""
    before = given.result if isinstance(given, Row) else given
    both = (before, ruled.result)
    return forest(
        "rules",
        "With replaced pages left out, and a floor",
        "A field for each rate; the filled dot is the system as it answered, the open one the same"
        " answers under the rules.",
        [label, "under the rules"],
        [_panel(name, [(one.intervals.all, one.metrics) for one in both]) for name in _MAIN],
        first="answers",
        hollow=(1,),
    )


def counts(tally: Tally) -> dict[Mark, int]:
    """A tally by what became of its questions."""
    return {
        Mark.RIGHT: tally.right,
        Mark.REFUSED: tally.neighbours_refused.hits,
        Mark.STALE: tally.stale,
        Mark.NEIGHBOUR: tally.neighbour_cited,
        Mark.UNRELATED: tally.unrelated,
        Mark.FALSE_REFUSAL: tally.false_refusals.hits,
    }


def _panel(name: str, parts: Sequence[tuple[Mapping[str, Estimate], Metrics | Tally]]) -> Panel:
    shares = tuple(_share(name, estimates, tally) for estimates, tally in parts)
    return Panel(TITLES[name], shares, less=name in LESS)


def _share(name: str, estimates: Mapping[str, Estimate] | None, tally: Tally) -> Share | None:
    estimate = (estimates or {}).get(name)
    if estimate is None:
        return None
    return Share(estimate.value, estimate.low, estimate.high, *of_what(name, tally))


def of_what(name: str, tally: Tally) -> tuple[int, int]:
    """What a rate is a count of: so many of so many."""
    rate = RATES[name]
    if rate.over not in ("answered", "n"):
        count = getattr(tally, name)
        return count.hits, count.of
    hits = {
        "wrong_rate": tally.wrong,
        "behaved": tally.behaved,
        "coverage": tally.answered,
    }
    return hits[name], tally.answered if rate.over == "answered" else tally.n
