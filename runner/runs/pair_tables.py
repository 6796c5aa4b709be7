"""The scripted table of a model that judges every pair of claims as it is labelled.

The committed tables of the project's own pairs are this module's output. Pairs that the project
does not carry, such as the published ones, get theirs when they are asked.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from runner.errors import UsageError
from runner.runs._toml import escaped, written
from runner.suites.update_gate import SETS, Pair, PairSet, parse_upstream

Task = Literal["contradiction", "update"]

UPSTREAM_FILES: Mapping[str, str] = MappingProxyType(
    dict(
        zip(
            SETS,
            (
                "gate_pairs.json",
                "gate_pairs_heldout.json",
                "past_value_pairs.json",
                "past_marker_heldout.json",
            ),
            strict=True,
        )
    )
)
"""The published pair files by the name of the set each one is."""


@dataclass(frozen=True, slots=True)
class _Form:
    """How a system asks about a pair, as far as a table has to know."""

    newer_first: frozenset[Task]
    """Questions it asks with the newer claim in the older one's place."""
    tokens: Mapping[Task, tuple[int, int]]
    """Input and output of a call without the pair's own words."""


# With a pair of the usual length, of the size that the published runs measured.
_FORMS: Mapping[str, _Form] = MappingProxyType(
    {
        "engine": _Form(frozenset(), {"contradiction": (934, 49), "update": (1079, 61)}),
        "particles": _Form(
            frozenset({"contradiction"}), {"contradiction": (526, 49), "update": (1079, 61)}
        ),
    }
)
CHARACTERS_A_TOKEN = 4


@dataclass(frozen=True, slots=True)
class _Answer:
    id: str
    task: Task
    older: str
    newer: str
    said: Mapping[str, str]


def perfect(system: str, sets: Sequence[PairSet]) -> str:
    """The table, as TOML text: two answers a pair, which match its texts and nothing else.

    Both readings of an update get the same answer. A row that is only reported is left alone, and
    so is a contradiction that nobody labelled: each claim is true of its own time.

    Raises:
        UsageError: no such system, or two rows of one text that are labelled differently.
    """
    form = _FORMS.get(system)
    if form is None:
        known = ", ".join(_FORMS)
        raise UsageError(f"No table of pairs is made for {system!r}.", hint=f"There are: {known}.")
    found: dict[tuple[Task, str, str], _Answer] = {}
    for one in sets:
        for pair in one.pairs:
            for answer in _answers(one.name, pair, form):
                key = (answer.task, answer.older, answer.newer)
                first = found.setdefault(key, answer)
                if first.said != answer.said:
                    raise UsageError(
                        f"{first.id} and {answer.id} are the same claims, labelled differently."
                    )
    return "\n".join([*_head(sets, form), *(_block(answer, form) for answer in found.values())])


def read_upstream(folder: Path) -> tuple[PairSet, ...]:
    """The four published sets, out of the folder their files lie in.

    Raises:
        UsageError: a file is missing or not of the published shape.
    """
    sets = []
    for name, file in UPSTREAM_FILES.items():
        try:
            raw = (folder / file).read_bytes()
        except OSError as error:
            raise UsageError(f"{folder} holds no {file} that can be read: {error}.") from error
        sets.append(parse_upstream(raw, name))
    return tuple(sets)


def _answers(set_name: str, pair: Pair, form: _Form) -> Iterator[_Answer]:
    said: dict[Task, Mapping[str, str]] = {
        "contradiction": _contradiction(pair),
        "update": _update(pair),
    }
    for task, answer in said.items():
        older, newer = pair.older.text, pair.newer.text
        if task in form.newer_first:
            older, newer = newer, older
        yield _Answer(f"{set_name}-{pair.id}-{task}", task, older, newer, answer)


def _contradiction(pair: Pair) -> Mapping[str, str]:
    if pair.contradicts:
        return {"reason": "Of one moment they cannot both be true.", "verdict": "YES"}
    return {"reason": "Each can be true of its own time.", "verdict": "NO"}


def _update(pair: Pair) -> Mapping[str, str]:
    if pair.expected == "changes":
        reason = "Both give one property a value, and the newer one takes the older one's place."
        return {"reason": reason, "slot": "CHANGES", "verdict": "YES"}
    if pair.class_ == "fixed":
        reason = "What the older one gives does not change."
        return {"reason": reason, "slot": "FIXED", "verdict": "NO"}
    return {"reason": "Both can be told side by side.", "slot": "NONE", "verdict": "NO"}


def _head(sets: Sequence[PairSet], form: _Form) -> list[str]:
    about = f"Judges every pair as it is labelled: {', '.join(one.name for one in sets)}."
    for task in sorted(form.newer_first):
        about += f" The {task} probe is asked with the newer claim in the older one's place."
    return ["schema = 1", f"about = {written(about)}", ""]


def _block(answer: _Answer, form: _Form) -> str:
    words = len(answer.older) + len(answer.newer)
    into, out = form.tokens[answer.task]
    tokens = (into + words // CHARACTERS_A_TOKEN, out + words // (2 * CHARACTERS_A_TOKEN))
    said = ", ".join(f"{name} = {written(text)}" for name, text in answer.said.items())
    match = (
        f'task = "{answer.task}", "older.text" = {escaped(answer.older)},'
        f' "newer.text" = {escaped(answer.newer)}'
    )
    return "\n".join(
        [
            "[[answer]]",
            f"id = {written(answer.id)}",
            f"match = {{ {match} }}",
            f"usage = {{ input = {tokens[0]}, output = {tokens[1]} }}",
            f"reply = {{ {said} }}",
            "",
        ]
    )
