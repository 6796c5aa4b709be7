"""Prints what the router does on the development sets, and what comes of turning its parameters.

    .venv/bin/python scripts/tune_router.py           the figures, and how flat their ground is
    .venv/bin/python scripts/tune_router.py --check   fails where a figure is worse than committed
    .venv/bin/python scripts/tune_router.py --write   commits figures that are better, never worse

Only dev, dev2 and dev3 are read; no held-out set is opened, here or by who tunes.

How the parameters were found. Each was given a round value that retrieval of this kind usually
has, then moved alone, up and down, with the floor picked anew each time. None but the floor and
the weight of unknown words moved the difference of right and wrong answers by more than noise, so
they stay where they are. The floor is the one with the highest gain, right minus wrong, summed over
each vault alone and both put together: a larger vault knows more of the words of a question that
it cannot answer, and wants a higher floor. Against overfitting the floor is also picked on two sets
and applied to the third, by turns. What is lost that way is printed: dev and dev2, of one vault and
one author, say little of dev3, and a floor picked on them would refuse eight more of its questions
than the one shipped. Expect as much of a vault that nobody has seen.
"""

import argparse
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "images" / "router")]

from page_router.pages import parse  # noqa: E402 - of this checkout
from page_router.parameters import Parameters  # noqa: E402
from page_router.rank import Index, Scored  # noqa: E402

from runner.suites.memory_honesty import (  # noqa: E402
    DEVELOPMENT,
    MARKERS,
    Marker,
    Question,
    load_set,
    load_vault,
)

FILE = ROOT / "fixtures" / "honesty" / "router-dev.toml"
HEAD = """\
# What the router does on the development sets: it may only get better. Not edited by hand:
#   .venv/bin/python scripts/tune_router.py --write
# right: the right page first, of the questions that have one. refused: of those that have none.
# wrong: any other page first, whatever the question; it may only go down.
schema = 1
"""
MOVES: Mapping[str, Sequence[float]] = {
    "unknown": (1, 1.5, 2.5, 3),
    "everyday": (0, 0.2, 0.6, 1),
    "character": (0.25, 1),
    "presence": (0, 0.25, 0.75, 1),
    "saturation": (0.5, 2, 4),
    "length": (0, 0.25, 0.75, 1),
    "title": (1, 2, 5, 8),
    "path": (0, 0.5, 2),
    "former": (0, 0.25, 1),
}
FLOORS = [round(0.02 * step, 2) for step in range(10, 36)]


@dataclass(frozen=True)
class Asked:
    """A question, with the best page and its score."""

    question: Question
    best: Scored | None


@dataclass(frozen=True)
class Figures:
    """What came of some questions."""

    right: int
    wrong: int
    refused: int
    false_refusals: int

    @property
    def gain(self) -> int:
        """Right answers minus wrong ones: what floors are picked by."""
        return self.right - self.wrong

    def __str__(self) -> str:
        return (
            f"{self.right:3} right {self.wrong:3} wrong {self.refused:3} refused"
            f" {self.false_refusals:3} falsely"
        )


def ask(
    parameters: Parameters, marker: Marker = "front-matter", *, together: bool = False
) -> dict[str, list[Asked]]:
    """Every development question, by set.

    Args:
        parameters: what is ranked by.
        marker: how replaced pages say so.
        together: put all vaults into one, which is larger and knows more words.
    """
    sets = {name: load_set(name) for name in DEVELOPMENT}
    if any(questions.held_out for questions in sets.values()):
        raise SystemExit("a held-out set is no development set")
    pages = {
        vault: [parse(page.name, page.text) for page in load_vault(vault, marker).pages]
        for vault in sorted({questions.vault for questions in sets.values()})
    }
    if together:
        everything = [page for each in pages.values() for page in each]
        pages = dict.fromkeys(pages, everything)
    indexes = {vault: Index(each, (), parameters) for vault, each in pages.items()}
    return {
        name: [
            Asked(one, next(iter(indexes[questions.vault].rank(one.q)), None))
            for one in questions.questions
        ]
        for name, questions in sets.items()
    }


def figures(asked: Iterable[Asked], floor: float) -> Figures:
    """What comes of them with that floor."""
    right = wrong = refused = falsely = 0
    for one in asked:
        if one.best is None or one.best.score < floor:
            refused += not one.question.answerable
            falsely += one.question.answerable
        elif one.best.name in one.question.gold:
            right += 1
        else:
            wrong += 1
    return Figures(right, wrong, refused, falsely)


def pooled(asked: Mapping[str, list[Asked]], *, but: str = "") -> list[Asked]:
    """The questions of all sets, or of all but one."""
    return [one for name, each in asked.items() if name != but for one in each]


def best_floor(asked: list[Asked]) -> float:
    """The floor with the highest gain; of several the middle one."""
    gains = {floor: figures(asked, floor).gain for floor in FLOORS}
    best = [floor for floor in FLOORS if gains[floor] == max(gains.values())]
    return best[len(best) // 2]


def measured(floor: float | None = None) -> dict[str, Figures]:
    """The figures as shipped, by set."""
    parameters = Parameters()
    asked = ask(parameters)
    return {
        name: figures(each, parameters.floor if floor is None else floor)
        for name, each in asked.items()
    }


def committed(path: Path) -> dict[str, Figures]:
    """The figures that must not get worse."""
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        name: Figures(each["right"], each["wrong"], each["refused"], each["false_refusals"])
        for name, each in raw["sets"].items()
    }


def fallen(now: Mapping[str, Figures], before: Mapping[str, Figures]) -> list[str]:
    """What got worse."""
    return [
        f"{name}: {what} was {getattr(before[name], what)}, is {getattr(now[name], what)}"
        for name in before
        for what, sign in (("right", 1), ("refused", 1), ("wrong", -1))
        if sign * getattr(now[name], what) < sign * getattr(before[name], what)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print, check or write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="fail where a figure got worse")
    parser.add_argument("--write", action="store_true", help="commit figures that got better")
    parser.add_argument("--file", type=Path, default=FILE, help="where the figures are committed")
    given = parser.parse_args(arguments)
    if not (given.check or given.write):
        tell()
        return 0
    now = measured()
    worse = fallen(now, committed(given.file)) if given.file.exists() else []
    print("".join(f"{line}\n" for line in worse), end="")
    if given.write and not worse:
        given.file.write_text(_text(now), encoding="utf-8")
    return 1 if worse else 0


def tell() -> None:
    """Print everything there is to know of the parameters."""
    shipped = Parameters()
    asked = ask(shipped)
    print(f"As shipped, floor {shipped.floor}")
    for name, each in [*asked.items(), ("all", pooled(asked))]:
        print(f"  {name:5}{figures(each, shipped.floor)}")
    for lang in ("en", "zh"):
        print(f"  {lang:5}{_of(asked, shipped.floor, lang)}")
    first = sum(
        one.best is not None and one.best.name in one.question.gold for one in pooled(asked)
    )
    print(f"  the right page is first, refused or not: {first}")
    print("\nOther markers of what was replaced")
    for marker in MARKERS[1:]:
        print(f"  {marker:5}{figures(pooled(ask(shipped, marker)), shipped.floor)}")
    print("\nFloors, all sets; on the right with the vaults put together")
    together = pooled(ask(shipped, together=True))
    for floor in FLOORS:
        own, larger = figures(pooled(asked), floor), figures(together, floor)
        print(f"  {floor:.2f} {own}  gain {own.gain}  | {larger}  gain {larger.gain}")
    print("\nThe floor picked on two sets, applied to the third")
    for name, each in asked.items():
        floor = best_floor(pooled(asked, but=name))
        print(
            f"  {name:5}{floor:.2f} {figures(each, floor)}; shipped {figures(each, shipped.floor)}"
        )
    print("\nOne parameter moved; best floor for all sets, and gain on the left-out thirds")
    _line("shipped", shipped)
    for what, values in MOVES.items():
        for value in values:
            _line(f"{what} {value}", _moved(shipped, what, value))


def _line(what: str, parameters: Parameters) -> None:
    asked = ask(parameters)
    floor = best_floor(pooled(asked))
    left_out = sum(
        figures(each, best_floor(pooled(asked, but=name))).gain for name, each in asked.items()
    )
    best = figures(pooled(asked), floor)
    print(f"  {what:16}{floor:.2f} {best}  gain {best.gain}, left out {left_out}")


def _moved(shipped: Parameters, what: str, value: float) -> Parameters:
    return Parameters(**{**shipped.as_json(), what: value})  # type: ignore[arg-type]


def _of(asked: Mapping[str, list[Asked]], floor: float, lang: str) -> Figures:
    return figures((one for one in pooled(asked) if one.question.lang == lang), floor)


def _text(now: Mapping[str, Figures]) -> str:
    tables = (
        f"\n[sets.{name}]\nright = {each.right}\nwrong = {each.wrong}\nrefused = {each.refused}\n"
        f"false_refusals = {each.false_refusals}\n"
        for name, each in now.items()
    )
    return HEAD + "".join(tables)


if __name__ == "__main__":
    sys.exit(main())
