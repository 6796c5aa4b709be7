"""Scripted models that are wrong in one way each: what the checks are measured on.

A fault is a table of answers that is consulted before a case's own. One file serves several
cases; an answer that is worded for some of them only says which (``cases = [...]``).
"""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from runner.errors import UsageError
from runner.paths import fixtures

TRIP_VS_MOVE = "trip-vs-move"
UPDATE_GATE = "update-gate"
"""The suites there are faults for. The pairs of the second are one case, under its own name."""

_ANSWER = "[[answer]]"
_CASES = "cases = "

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to be wrong."""

    name: str
    title: str
    about: str
    """What a memory with such a model would get wrong, and how it shows."""
    cases: tuple[str, ...]
    """The cases it can occur in."""
    tables: Mapping[str, str]
    """By case: a scripted table, to be consulted before the case's own."""
    sha256: str
    """Digest of its file."""

    def table(self, case: str) -> str:
        """The overlay for one case; ``KeyError`` when it cannot occur there."""
        return self.tables[case]

    def within(self, suite: str) -> "Fault | None":
        """The same fault with the cases of one suite alone; none where it has none of them."""
        cases = tuple(case for case in self.cases if suite_of(case) == suite)
        if not cases:
            return None
        return replace(self, cases=cases, tables={case: self.tables[case] for case in cases})


class _Head(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = Field(alias="schema")
    title: Text
    about: Text
    cases: Annotated[tuple[Text, ...], Field(min_length=1)]


def suite_of(case: str) -> str:
    """The suite that a fault's case belongs to."""
    return UPDATE_GATE if case == UPDATE_GATE else TRIP_VS_MOVE


def load_faults(folder: Path | None = None, *, suite: str = TRIP_VS_MOVE) -> tuple[Fault, ...]:
    """Every fault that can occur in a suite, by name, with the cases of that suite alone.

    Args:
        folder: where the files lie; the project's own when left out.
        suite: what is to be measured.

    Raises:
        UsageError: a file that cannot be used, by name.
    """
    found = (_load(path).within(suite) for path in _paths(folder))
    return tuple(fault for fault in found if fault is not None)


def load_fault(name: str, folder: Path | None = None, *, suite: str | None = None) -> Fault:
    """One fault, by name: with all its cases, or with those of one suite.

    Raises:
        UsageError: there is none of that name, it cannot occur in the suite, or its file cannot
            be used.
    """
    for path in _paths(folder):
        if path.stem == name:
            fault = _load(path)
            found = fault if suite is None else fault.within(suite)
            if found is None:
                raise UsageError(
                    f"The fault {name} cannot occur in {suite}.",
                    hint=f"It occurs in: {', '.join(fault.cases)}.",
                )
            return found
    known = ", ".join(path.stem for path in _paths(folder))
    raise UsageError(f"There is no fault {name!r}.", hint=f"Faults: {known or 'none'}.")


def _paths(folder: Path | None) -> tuple[Path, ...]:
    here = folder if folder is not None else fixtures() / "scripted" / "faults"
    return tuple(sorted(here.glob("*.toml")))


def _load(path: Path) -> Fault:
    raw = path.read_bytes()
    try:
        text = raw.decode()
        head_text, *blocks = _split(text)
        head = _Head.model_validate(tomllib.loads(head_text))
        answers = [_answer(block, head.cases) for block in blocks]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValueError) as error:
        raise UsageError(f"{path}: {_said(error)}") from error
    tables = {}
    for case in head.cases:
        own = [block for block, cases in answers if case in cases]
        if not own:
            raise UsageError(f"{path}: no answer is for the case {case}")
        tables[case] = "\n".join(["schema = 1", "", *own])
    digest = hashlib.sha256(raw).hexdigest()
    return Fault(path.stem, head.title, head.about, head.cases, tables, digest)


def _split(text: str) -> list[str]:
    """The head of the file and each of its answers, as text."""
    parts: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.strip() == _ANSWER:
            parts.append([])
        parts[-1].append(line)
    return ["\n".join(part) + "\n" for part in parts]


def _answer(block: str, known: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """One answer without its ``cases``, and the cases it is for."""
    answer: dict[str, Any] = tomllib.loads(block)["answer"][0]
    if "cases" not in answer:
        return block, known
    cases = tuple(answer.pop("cases"))
    unknown = sorted(set(cases) - set(known))
    if unknown:
        raise ValueError(f"answer {answer.get('id')}: not a case of this fault: {unknown}")
    kept = "\n".join(line for line in block.split("\n") if not line.startswith(_CASES))
    if tomllib.loads(kept)["answer"][0] != answer:
        raise ValueError(f"answer {answer.get('id')}: cases needs a line of its own")
    return kept, cases


def _said(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)
