"""What a case must hold to for its checks to mean what they say."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from runner.placeholders import PlaceholderError, fill
from runner.suites.trip_vs_move._file import CaseFile, DayPart, Question
from runner.suites.trip_vs_move.text import says, says_any
from runner.suites.trip_vs_move.weekdays import WEEKDAYS, weekday

if TYPE_CHECKING:
    from runner.suites.trip_vs_move.case import Case

CHECKS_VERSIONS = (1, 2, 3)
REQUIRED_NAMES = ("home", "away", "speaker")
_TURN = re.compile(r"^\*\*(?P<speaker>[^*:]+):\*\*\s+\S", re.MULTILINE)
_ASSISTANT = re.compile(r"^\*\*Assistant:\*\*(?P<text>.*(?:\n(?!\*\*|\n).*)*)", re.MULTILINE)


class Flaw(Exception):
    """A field of a case file, and what is wrong with it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")


def file(case: CaseFile) -> None:
    """Check what does not depend on the variant.

    Raises:
        Flaw: roles, versions, names or variants that do not fit together.
    """
    notes = [note.name for note in case.notes]
    _unique("notes", notes)
    _unique("variants", [variant.name for variant in case.variants])
    _unique("questions", [question.id for question in case.questions])
    roles = case.roles
    for field in ("home_note", "trip_note", "move_note"):
        _known(f"roles.{field}", [getattr(roles, field)], notes)
    _known("roles.trip_alone", roles.trip_alone, notes)
    if roles.move_note != notes[-1]:
        raise Flaw("roles.move_note", "the move has to be the last note")
    if roles.move_note in roles.trip_alone:
        raise Flaw("roles.trip_alone", "a trip-alone run must not deposit the move")
    if not {roles.home_note, roles.trip_note} <= set(roles.trip_alone):
        raise Flaw("roles.trip_alone", "it needs the home note and the trip note")
    if notes.index(roles.home_note) > notes.index(roles.trip_note):
        raise Flaw("roles.trip_note", "it comes before the home note")
    if list(case.checks) != sorted(set(case.checks)) or set(case.checks) - set(CHECKS_VERSIONS):
        raise Flaw("checks", f"known versions, oldest first: {CHECKS_VERSIONS}")
    for name in REQUIRED_NAMES:
        if name not in case.names:
            raise Flaw(f"names.{name}", "missing")
    _known("upstream", case.upstream, [*case.names, *case.says])
    for variant in case.variants:
        at = f"variants.{variant.name}"
        _known(f"{at}.names", variant.names, case.names)
        _known(f"{at}.says", variant.says, case.says)
        _known(f"{at}.days", variant.days, notes)
        _known(f"{at}.dates", variant.dates, case.dates)
        _known(f"{at}.notes", variant.notes, notes)


def filled(case: "Case", labels: Mapping[str, str], dates: Mapping[str, DayPart], at: str) -> None:
    """Check a case with its names filled in.

    Args:
        case: the case or variant.
        labels: its short names, without sentences and days.
        dates: the days its notes speak of.
        at: what every field's name starts with.

    Raises:
        Flaw: places, days or notes that the checks could misread.
    """
    _places(case, labels, at)
    _days(case, dates, at)
    for note in case.notes:
        _note(case, note.name, dates, f"{at}notes.{note.name}")
    for question in case.questions:
        _question(case, question, f"{at}questions.{question.id}")
    for role, place in (("home_note", case.home), ("trip_note", case.away)):
        note = case.note(getattr(case, role))
        if not says(note.text, place):
            raise Flaw(f"{at}notes.{note.name}", f"the {role} does not name {place!r}")
    move = case.note(case.move_note).text
    if not says(move, case.away) or says(move, case.home):
        raise Flaw(
            f"{at}notes.{case.move_note}", f"the move has to name {case.away!r} and no old home"
        )


def _places(case: "Case", labels: Mapping[str, str], at: str) -> None:
    for place, other in ((case.home, case.away), (case.away, case.home)):
        if says(other, place):
            raise Flaw(f"{at}names.home", f"{place!r} stands inside {other!r}")
    words = case.words
    checked = (*words.residence, *words.flight, *words.trip, *words.request)
    for label, name in labels.items():
        if "{" in name or "}" in name:
            raise Flaw(f"{at}names.{label}", "a short name holds no placeholder")
        if says_any(name, checked):
            raise Flaw(f"{at}names.{label}", f"{name!r} holds a word that the checks look for")
        if label not in ("home", "away") and says_any(name, (case.home, case.away)):
            raise Flaw(f"{at}names.{label}", f"{name!r} holds the name of a place of the case")


def _days(case: "Case", dates: Mapping[str, DayPart], at: str) -> None:
    days = [note.day for note in case.notes]
    for earlier, later in zip(case.notes, case.notes[1:], strict=False):
        if earlier.day >= later.day:
            raise Flaw(f"{at}days.{later.name}", f"{later.day} is not after {earlier.day}")
    trip = case.note(case.trip_note).day
    for label, part in dates.items():
        if weekday(part.day) != part.weekday:
            raise Flaw(f"{at}dates.{label}.weekday", f"{part.day} is a {weekday(part.day)}")
        if part.day <= trip:
            raise Flaw(f"{at}dates.{label}.day", f"{part.day} is not after the trip note, {trip}")
    if case.comparable_before is not None and case.published_day >= case.comparable_before:
        raise Flaw("comparable_before", "the published day is not before it")
    if days[-1] > case.published_day and case.variant is None:
        raise Flaw("published", f"it is before the last note, {days[-1]}")


def _note(case: "Case", name: str, dates: Mapping[str, DayPart], at: str) -> None:
    note = case.note(name)
    heading = note.text.partition("\n")[0]
    if not heading.startswith("# ") or note.day.isoformat() not in heading:
        raise Flaw(at, f"its heading does not give its day, {note.day}")
    speakers = {match["speaker"] for match in _TURN.finditer(note.text)}
    if speakers != {case.names["speaker"], "Assistant"}:
        raise Flaw(at, f"its turns are of {sorted(speakers)}, not of the speaker and Assistant")
    for reply in _ASSISTANT.finditer(note.text):
        if says_any(reply["text"], (case.home, case.away)):
            raise Flaw(at, "a reply of the assistant names a place")
    spoken_of = {note.day, *(part.day for part in dates.values())}
    for said in WEEKDAYS:
        if says(note.text, said) and said not in {weekday(day) for day in spoken_of}:
            raise Flaw(at, f"no day it speaks of is a {said}")


def _question(case: "Case", question: Question, at: str) -> None:
    for part in (question.q, question.about.before, question.about.after):
        try:
            fill(part, case.names)
        except PlaceholderError as error:
            raise Flaw(at, str(error)) from error
    if says_any(case.asked(question), (case.home, case.away)):
        raise Flaw(f"{at}.q", "it names a place, and a search would find it by that alone")


def _unique(field: str, names: Iterable[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise Flaw(field, f"named twice: {', '.join(twice)}")


def _known(field: str, names: Iterable[str], known: Iterable[str]) -> None:
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise Flaw(field, f"unknown: {', '.join(unknown)}")
