"""Ranks pages for a question, refuses where none is good enough, and says why.

One number does all of it. Every word of the question has a weight: how rare it is among the pages,
or more where no page has it. A page gets a part of each weight according to whether, how often and
how prominently it has the word. Its score is what it got over all there was to get: a share, which
is comparable between questions, so one floor on it serves them all.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from page_router.pages import Page
from page_router.parameters import Parameters
from page_router.replaced import Replaced, current, replaced
from page_router.words import Unit, is_han, terms, units

FIELDS = ("title", "path", "body", "former", "trigger")


@dataclass(frozen=True, slots=True)
class Trigger:
    """A question that the learner was shown to be answered by a page."""

    page: str
    question: str
    quote: str
    """The sentence of the page that answers it; empty where none was asked for."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A page and its share of what a question asks with."""

    name: str
    score: float


class Index:
    """The pages of a vault, ready to be asked. It never changes: learning makes a new one."""

    def __init__(
        self,
        pages: Iterable[Page],
        triggers: Iterable[Trigger] = (),
        parameters: Parameters | None = None,
    ) -> None:
        """Take the pages in; replaced ones are left out of ranking."""
        self.parameters = parameters or Parameters()
        self.pages = {page.name: page for page in pages}
        self.replaced: Mapping[str, Replaced] = replaced(self.pages.values())
        standing = {name: page for name, page in self.pages.items() if name not in self.replaced}
        self.standing = tuple(sorted(standing))
        self._fields = {
            name: {
                "title": Counter(terms(page.title)),
                "path": Counter(terms(page.name.removesuffix(".md"))),
                "body": Counter(terms(page.body)),
                "former": Counter[str](),
                "trigger": Counter[str](),
            }
            for name, page in standing.items()
        }
        for name in self.replaced:
            newest = current(name, self.replaced)
            if newest in self._fields:
                old = self.pages[name]
                self._fields[newest]["former"].update(terms(f"{old.title}\n{old.body}"))
        for trigger in triggers:
            if trigger.page in self._fields:
                asked = (u for u in units(trigger.question) if not u.everyday)
                self._fields[trigger.page]["trigger"].update(
                    {term for unit in asked for term in unit.terms}
                )
        self._strengths = self._weigh()

    def rank(self, question: str) -> tuple[Scored, ...]:
        """Every page that has anything of the question, the best first; ties by name."""
        asked = self._asked(question)
        total = sum(weight for _, weight in asked)
        got: dict[str, float] = {}
        for unit, weight in asked:
            best: dict[str, float] = {}
            for term in unit.terms:
                for name, strength in self._strengths.get(term, {}).items():
                    best[name] = max(best.get(name, 0.0), strength)
            for name, strength in best.items():
                got[name] = got.get(name, 0.0) + weight * strength
        found = [Scored(name, round(part / total, 4)) for name, part in got.items() if part > 0]
        return tuple(sorted(found, key=lambda scored: (-scored.score, scored.name)))

    def receipt(self, question: str, ranked: Sequence[Scored], top_k: int) -> dict[str, object]:
        """Why the question was answered as it was, or refused."""
        best = ranked[0] if ranked else None
        floor = self.parameters.floor
        matched: dict[str, list[str]] = {}
        missing: list[str] = []
        unknown: list[str] = []
        for unit in units(question):
            places = self._places(best.name, unit) if best else {}
            if places:
                matched.update(places)
            elif any(term in self._strengths for term in unit.terms):
                missing.append(unit.shown)
            elif not unit.everyday:
                unknown.append(unit.shown)
        answered = best is not None and best.score >= floor
        shown = [scored.name for scored in ranked[:top_k]]
        return {
            "why": _why(best, floor, answered, bool(self.standing)),
            "score": best.score if best else 0.0,
            "floor": floor,
            "best": best.name if best else None,
            "runner_up": None
            if len(ranked) < 2
            else {"page": ranked[1].name, "score": ranked[1].score},
            "matched": matched,
            "missing": missing,
            "unknown": unknown,
            "replaced": [
                {"page": old, "by": because.by, "said_in": because.said_in, "words": because.words}
                for old, because in sorted(self.replaced.items())
                if current(old, self.replaced) in shown
            ],
        }

    def _weigh(self) -> dict[str, dict[str, float]]:
        """What a page gets of a term's weight: by term, then by page."""
        parameters = self.parameters
        counts = {"title": parameters.title, "path": parameters.path, "body": 1.0,
                  "former": parameters.former, "trigger": parameters.trigger}  # fmt: skip
        average = {
            field: sum(fields[field].total() for fields in self._fields.values())
            / max(1, len(self._fields))
            for field in FIELDS
        }
        found: dict[str, dict[str, float]] = {}
        for name, fields in self._fields.items():
            occurrences: dict[str, float] = {}
            for field, words in fields.items():
                if not words:
                    continue
                longer = words.total() / average[field]
                each = counts[field] / (1 - parameters.length + parameters.length * longer)
                for term, number in words.items():
                    occurrences[term] = occurrences.get(term, 0.0) + each * number
            for term, number_ in occurrences.items():
                if number_ > 0:
                    rest = number_ / (number_ + parameters.saturation)
                    strength = parameters.presence + (1 - parameters.presence) * rest
                    found.setdefault(term, {})[name] = strength
        return found

    def _asked(self, question: str) -> list[tuple[Unit, float]]:
        return [(unit, weight) for unit in units(question) if (weight := self._weight(unit)) > 0]

    def _weight(self, unit: Unit) -> float:
        parameters = self.parameters
        known = [len(self._strengths[term]) for term in unit.terms if term in self._strengths]
        if known:
            weight = self._rarity(min(known))
        elif unit.everyday:
            return 0.0
        else:
            weight = self._rarity(0) * parameters.unknown
        if is_han(unit.shown):
            weight *= parameters.character
        return weight * parameters.everyday if unit.everyday else weight

    def _rarity(self, pages: int) -> float:
        return math.log(1 + (len(self.standing) - pages + 0.5) / (pages + 0.5))

    def _places(self, name: str, unit: Unit) -> dict[str, list[str]]:
        fields = self._fields[name]
        found = {term: [f for f in FIELDS if term in fields[f]] for term in unit.terms}
        return {term: where for term, where in found.items() if where}


def _why(best: Scored | None, floor: float, answered: bool, standing: bool) -> str:
    if not standing:
        return "refused: every page of the vault was replaced"
    if best is None:
        return "refused: no page has a word of the question that tells anything"
    share = f"{best.name} has {best.score:.2f} of what the question asks with"
    if answered:
        return f"answered: {share}, the floor is {floor:.2f}"
    return f"refused: even {share}, below the floor of {floor:.2f}"
