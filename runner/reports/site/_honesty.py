"""Pages of the honesty suites: a set with all its systems, and each report by itself.

Held-out sets stay closed: their pages tell aggregates, and no question, page or receipt, though the
sealed answers lie beside the report and were read with it.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from jinja2 import Environment

from runner.reports.differing import differing
from runner.reports.honesty import title
from runner.reports.others import others
from runner.reports.site import _honesty_learning as learning
from runner.reports.site._honesty_figures import of_report, of_rules, of_set
from runner.reports.site._honesty_marks import SIGNS
from runner.reports.site._honesty_questions import matrix, question_rows
from runner.reports.site._honesty_sheets import against, baseline, effort, moved
from runner.reports.site._honesty_sides import Side, dev_of, sides
from runner.reports.site._page import Entry, Page, slug_of
from runner.reports.site.figures import Figure
from runner.suites.honesty_learning import LessonVerdict


def honesty_pages(entries: Sequence[Entry], env: Environment) -> Iterator[Page]:
    """A page for each set and each report of the honesty suites.

    Args:
        entries: reports of any suites; those of others are left alone.
        env: with the site's templates.
    """
    by_set = sides(entries)
    for name, some in by_set.items():
        yield Page(set_path(name), _set(some, env))
    for side in chain.from_iterable(by_set.values()):
        yield Page(side.path, _report(side, by_set, env))
    for entry in learning.lessons(entries):
        yield Page(entry.page, _lesson(entry, entries, env))


def set_path(name: str) -> str:
    """Where the page of a set lies. Its name is a report's own word, and may be none for a file."""
    slug = slug_of(name)
    if slug != name:
        slug = f"{slug}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return f"honesty-{slug}.html"


def _set(some: Sequence[Side], env: Environment) -> str:
    exam = some[0].exam
    found = [(side.label, result) for side in some if (result := side.result) is not None]
    base = baseline(some)
    same, rows = matrix(some)
    return env.get_template("honesty_set.html").render(
        exam=exam,
        told=title(exam),
        sides=some,
        ungraded=[side for side in some if side.result is None],
        other_questions=[side for side in some if side.exam.set_sha256 != exam.set_sha256],
        figures=_headed(of_set(found)) if found else (),
        paired=None if base is None else against(base, some),
        moved=moved(some),
        effort=effort(some),
        published=others(exam.set),
        differing=tuple(differing([side.report for side in some])),
        same=same,
        rows=rows,
        signs=tuple(SIGNS.values()),
    )


_HEADINGS = {
    "rates": "Rates",
    "outcomes": "Rates",
    "by-kind": "By kind and language",
    "by-language": "By kind and language",
    "risk-coverage": "How well each knows what it knows",
    "prices": "What a wrong citation costs",
}


def _headed(figures: Iterable[Figure]) -> tuple[tuple[str, tuple[Figure, ...]], ...]:
    """Figures under their headings, in the order of those."""
    under: dict[str, list[Figure]] = {heading: [] for heading in _HEADINGS.values()}
    for figure in figures:
        under[_HEADINGS[figure.name]].append(figure)
    return tuple((heading, tuple(some)) for heading, some in under.items() if some)


def _report(side: Side, by_set: Mapping[str, tuple[Side, ...]], env: Environment) -> str:
    dev = dev_of(side, by_set)
    ruled, result = side.ruled(dev), side.result
    return env.get_template("honesty_report.html").render(
        side=side,
        report=side.report,
        exam=side.exam,
        verdict=side.verdict,
        result=result,
        told=title(side.exam),
        set_path=set_path(side.exam.set),
        figures=tuple(of_report(side)),
        rules=None if ruled is None or result is None else of_rules(result, ruled, side.label),
        ruled=ruled,
        why_no_rules=_why_no_rules(side, dev) if ruled is None and result is not None else "",
        moved=moved([side]),
        effort=effort([side]),
        questions=() if side.row is None else question_rows(side),
        signs=tuple(SIGNS.values()),
    )


def _why_no_rules(side: Side, dev: Side | None) -> str:
    if side.exam.told:
        return "It was told the right pages, so there is nothing that rules could mend."
    if not side.comparable:
        return "Its answers are sealed off, and rules are laid on answers."
    if dev is None:
        return (
            f"A floor is picked on {side.exam.floors_from}, which it was not asked by the reports"
            " of this site."
        )
    return "There are no answers to lay rules on."


def _lesson(entry: Entry, entries: Iterable[Entry], env: Environment) -> str:
    report, family = entry.report, learning.family(entry, tuple(entries))
    assert report.verdict is None or isinstance(report.verdict, LessonVerdict)
    return env.get_template("honesty_learning.html").render(
        entry=entry,
        report=report,
        lesson=report.case,
        verdict=report.verdict,
        siblings=family[1:],
        proof=learning.proof,
        figure_of_weeks=learning.weeks(family),
        learned=learning.learned(family),
        differences=[sheet for one in family if (sheet := learning.differences(one)) is not None],
        taught=learning.taught(report),
        signs=tuple(SIGNS.values()),
    )
