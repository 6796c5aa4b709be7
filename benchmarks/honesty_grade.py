"""What grading a held-out set of 200 questions costs, with the intervals of all its rates.

    python -m benchmarks.honesty_grade [--rounds 7] [--loop 200] [--json FILE]

Two figures, printed beside the target; nothing is asserted.

1. **Grading.** 200 answers are made that have the published counts of one system (37 wrong
   citations of 139 answers, 46 of 80 neighbours refused), and graded: every metric, by kind and by
   language, with stratified intervals of 10,000 resamples for each, the unstratified ones beside,
   the curve and the warnings: all of ``result``. One grading before the first round loads NumPy; it
   is told of by itself.
2. **The same intervals in a plain loop.** One rate over all questions, resample by resample with
   ``random.choices`` within each kind, as a scorer without arrays does it: fewer resamples are
   timed, and what 10,000 would take is told. It is set against the time of the one call here that
   draws as many and comes to all rates, not one. Rounds alternate; a ratio is of one round.

Both intervals are printed, so that a fast one that says something else is seen.
"""

import argparse
import json
import os
import platform
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from runner.suites.memory_honesty import (
    RESAMPLES,
    Answer,
    Estimate,
    Exam,
    Grade,
    estimates,
    grades,
    result,
)

TARGET_S = 1.0
RIGHT, STALE, NEAR = "new.md", "old.md", "near.md"
MADE: dict[str, tuple[tuple[str | None, int], ...]] = {
    "correction": ((RIGHT, 50), (STALE, 3), (None, 7)),
    "current": ((RIGHT, 52), (None, 8)),
    "refuse": ((NEAR, 34), (None, 46)),
}
"""By kind: the page that is cited, or none for a refusal, and how often."""


@dataclass(frozen=True, slots=True)
class Round:
    """Seconds, each of one call.

    Attributes:
        grading: all of a system's result.
        vectorised: all rates over all questions with their intervals.
        loop: one rate, at 10,000 resamples; extrapolated from fewer.
    """

    grading: float
    vectorised: float
    loop: float

    @property
    def ratio(self) -> float:
        """How many times as long the loop takes."""
        return self.loop / self.vectorised


def questions() -> Exam:
    """200 questions about four pages."""
    kinds = [kind for kind, parts in MADE.items() for _ in range(sum(count for _, count in parts))]
    asked = [
        {
            "id": f"q{number:03}",
            "q": f"Question {number}?",
            "kind": kind,
            "lang": "zh" if number % 2 else "en",
            "gold": [] if kind == "refuse" else [RIGHT],
            "old": STALE if kind == "correction" else None,
            "neighbour": NEAR if kind == "refuse" else None,
        }
        for number, kind in enumerate(kinds)
    ]
    pages = [
        {"name": name, "superseded": by is not None, "superseded_by": by, "lang": "en"}
        for name, by in ((RIGHT, None), (STALE, RIGHT), (NEAR, None))
    ]
    return Exam.model_validate(
        {
            "set": "heldout3",
            "held_out": True,
            "floors_from": "dev3",
            "registered": date(2026, 1, 1),
            "set_sha256": "0" * 64,
            "vault": "vault3",
            "marker": "front-matter",
            "vault_sha256": "0" * 64,
            "pages": pages,
            "counts": {kind: sum(count for _, count in parts) for kind, parts in MADE.items()},
            "questions": asked,
        }
    )


def answered(exam: Exam) -> tuple[Answer, ...]:
    """An answer to each, with a score that falls from question to question."""
    cited = [page for parts in MADE.values() for page, count in parts for _ in range(count)]
    return tuple(
        Answer(
            question=question.id,
            cited=(page,) if page else (),
            scores=(1 / number,) if page else (),
            refused=page is None,
        )
        for number, (question, page) in enumerate(zip(exam.questions, cited, strict=True), start=1)
    )


def loop(given: Sequence[Grade], resamples: int) -> Estimate:
    """The wrong-citation rate and its interval, a resample at a time."""
    strata: dict[str, list[Grade]] = {}
    for one in given:
        strata.setdefault(one.kind, []).append(one)
    generator = random.Random(0)
    seen = []
    for _ in range(resamples):
        answered = wrong = 0
        for stratum in strata.values():
            for one in generator.choices(stratum, k=len(stratum)):
                answered += one.answered
                wrong += one.wrong
        seen.append(wrong / answered)
    seen.sort()
    value = sum(one.wrong for one in given) / sum(one.answered for one in given)
    cut = int(resamples * 0.025)
    return Estimate(value=value, low=seen[cut], high=seen[-1 - cut])


def timed(call: Callable[[], object]) -> float:
    """Seconds of one call."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def measured(exam: Exam, given: Sequence[Answer], few: int) -> Round:
    """One round: each way once."""
    graded = grades(exam, given)
    return Round(
        grading=timed(lambda: result(exam, given)),
        vectorised=timed(lambda: estimates(graded)),
        loop=timed(lambda: loop(graded, few)) * RESAMPLES / few,
    )


def told(name: str, found: Estimate) -> str:
    """An interval, as it is printed."""
    if found.value is None or found.low is None or found.high is None:
        return f"{name}: undefined"
    return f"{name}: {found.value:.1%} [{found.low:.1%}, {found.high:.1%}]"


def table(rounds: Sequence[Round]) -> Table:
    """The figures, medians of rounds."""
    made = Table(box=None, pad_edge=False)
    for title in ("medians of rounds", "seen", "range", "target"):
        made.add_column(title, justify="left" if title.startswith("medians") else "right")

    def row(name: str, values: Sequence[float], unit: str, target: str = "") -> None:
        spread = f"{min(values):.3g}-{max(values):.3g}"
        made.add_row(name, f"{median(values):.3g}{unit}", spread, target)

    grading = [one.grading for one in rounds]
    met = "met" if median(grading) < TARGET_S else "NOT"
    row("200 questions graded, all intervals", grading, " s", f"< {TARGET_S:g} s {met}")
    row("all rates over all questions", [one.vectorised for one in rounds], " s")
    row("one of them in a plain loop", [one.loop for one in rounds], " s")
    row("loop over vectorised", [one.ratio for one in rounds], " times")
    return made


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--loop", type=int, default=200, help="resamples of the loop")
    parser.add_argument("--json", type=Path, help="write the rounds there too")
    options = parser.parse_args()
    exam = questions()
    given = answered(exam)
    console = Console()
    first = timed(lambda: result(exam, given))
    rounds = [measured(exam, given, options.loop) for _ in range(options.rounds)]
    graded = grades(exam, given)
    console.print(
        f"{os.cpu_count()} cores, Python {platform.python_version()}, load"
        f" {os.getloadavg()[0]:.1f}; {RESAMPLES:,} resamples, {options.rounds} rounds"
    )
    console.print(table(rounds))
    console.print(f"the first grading of a process, NumPy loaded on the way: {first:.3g} s")
    console.print(told("wrong citations, vectorised", estimates(graded)["wrong_rate"]))
    console.print(told("wrong citations, loop", loop(graded, max(1000, options.loop))))
    if options.json is not None:
        rows = [asdict(one) | {"ratio": one.ratio} for one in rounds]
        options.json.write_text(json.dumps({"first_s": first, "rounds": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
