"""What grades come to, in counts and rates: over all questions, by kind and by language."""

from collections.abc import Sequence
from typing import Annotated

from runner.model import Noun
from runner.suites._names import exactly
from runner.suites.memory_honesty._file import KINDS, LANGS, Kind, Lang
from runner.suites.memory_honesty.grade import Grade
from runner.suites.memory_honesty.rates import RATES, WEIGHTS, count


class Count(Noun):
    """So many of so many."""

    hits: int
    of: int

    @property
    def rate(self) -> float | None:
        """From 0 to 1; none of nothing."""
        return self.hits / self.of if self.of else None


class Tally(Noun):
    """What a group of questions came to."""

    n: int
    answered: int
    """Questions it stood by a page for."""
    right: int
    """Those whose first page answers them."""
    wrong: int
    """Those whose first page does not; every answer to a question to refuse is one."""
    wrong_rate: float | None
    """Wrong over answered; none where nothing was answered."""
    coverage: float | None
    """Answered over all; none over nothing."""
    neighbours_refused: Count
    """Questions to refuse that were refused."""
    corrections_right: Count
    current_right: Count
    answerable_right: Count
    false_refusals: Count
    """Questions that a page answers and that were refused."""
    stale: int
    """Wrong answers that stand by a replaced page."""
    neighbour_cited: int
    """Wrong answers that stand by the page that the question sounds like."""
    unrelated: int
    """Wrong answers that stand by any other page."""
    behaved: int
    """Right citations and right refusals."""
    cost: Annotated[dict[str, float | None], exactly([str(weight) for weight in WEIGHTS])]
    """Right minus so many times wrong, over all questions, by the weight of a wrong one. Nothing
    is ranked by it; none over nothing."""


class Metrics(Tally):
    """All questions, and their parts. Only kinds and languages that were asked are there."""

    by_kind: dict[Kind, Tally]
    by_language: dict[Lang, Tally]


def metrics(grades: Sequence[Grade]) -> Metrics:
    """Count what a system's grades come to."""
    return Metrics(
        **dict(tally(grades)),
        by_kind={kind: tally(part) for kind, part in by_kind(grades).items()},
        by_language={lang: tally(part) for lang, part in by_language(grades).items()},
    )


def tally(grades: Sequence[Grade]) -> Tally:
    """Count what some grades come to, not by parts."""
    counted = count(grades)
    return Tally(
        n=counted["n"],
        answered=counted["answered"],
        right=counted["right"],
        wrong=counted["wrong"],
        wrong_rate=RATES["wrong_rate"].of(counted),
        coverage=RATES["coverage"].of(counted),
        **{
            name: Count(hits=RATES[name].sum(counted), of=counted[RATES[name].over])
            for name in (
                "neighbours_refused",
                "corrections_right",
                "current_right",
                "answerable_right",
                "false_refusals",
            )
        },
        stale=counted["stale"],
        neighbour_cited=counted["neighbour"],
        unrelated=counted["unrelated"],
        behaved=counted["behaved"],
        cost={str(weight): RATES[f"cost_{weight}"].of(counted) for weight in WEIGHTS},
    )


def by_kind(grades: Sequence[Grade]) -> dict[Kind, list[Grade]]:
    """The grades by the kind of their questions; only kinds that occur."""
    parts = {kind: [grade for grade in grades if grade.kind == kind] for kind in KINDS}
    return {kind: part for kind, part in parts.items() if part}


def by_language(grades: Sequence[Grade]) -> dict[Lang, list[Grade]]:
    """The grades by the language of their questions; only languages that occur."""
    parts = {lang: [grade for grade in grades if grade.lang == lang] for lang in LANGS}
    return {lang: part for lang, part in parts.items() if part}
