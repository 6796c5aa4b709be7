"""What cannot be laid beside each other is refused; what sets two reports apart is told."""

from pathlib import Path

import pytest

from runner.errors import UsageError
from runner.reports import files
from runner.reports.compare import compare
from runner.reports.schema import Report
from runner.suites.honesty_learning import Lesson
from runner.suites.memory_honesty import Exam
from runner.suites.trip_vs_move import Case
from runner.suites.update_gate import Gate
from tests.reports._honesty import report as honest
from tests.reports._learning import report as learnt
from tests.reports.compare._made import gated
from tests.reports.compare.conftest import case_of
from tests.suites.memory_honesty._kit import ROWS, exam


def test_another_suite_case_or_set(reader: Path, mid_trip: Path) -> None:
    one = files.load(reader)
    for a, b, says in (
        (one, gated(), "A is a report of trip-vs-move, B of update-gate"),
        (one, files.load(mid_trip), "case: reader in A, mid-trip in B"),
        (gated(sets=("development",)), gated(sets=("held-out",)), "no set of pairs in common"),
        (honest(exam("dev")), honest(exam("dev2")), "question set: dev in A, dev2 in B"),
    ):
        for pair in ((a, b), (b, a)):
            with pytest.raises(UsageError, match="cannot be compared"):
                compare(*pair)
        with pytest.raises(UsageError, match=says):
            compare(a, b)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"set_sha256": "1" * 64}, "questions of dev: "),
        ({"vault_sha256": "1" * 64}, "pages of vault1: "),
        ({"vault": "vault9"}, "vault: vault1 in A, vault9 in B"),
    ],
)
def test_other_questions_or_pages_under_the_same_name(changed: dict[str, str], says: str) -> None:
    one = honest(exam("dev"))
    other = one.model_copy(update={"case": case_of(one, Exam).model_copy(update=changed)})
    with pytest.raises(UsageError, match=says):
        compare(one, other)


def test_other_pairs_and_other_notes(reader: Path) -> None:
    one = gated()
    gate = case_of(one, Gate)
    first = gate.sets[0].model_copy(update={"sha256": "1" * 64})
    gate = gate.model_copy(update={"sets": (first, *gate.sets[1:])})
    with pytest.raises(UsageError, match="pairs of development: "):
        compare(one, one.model_copy(update={"case": gate}))
    lesson = learnt()
    pairs = case_of(lesson, Lesson).model_copy(update={"set_sha256": "1" * 64})
    with pytest.raises(UsageError, match="pairs: "):
        compare(lesson, lesson.model_copy(update={"case": pairs}))
    trip = files.load(reader)
    texts = {note.name: f"{note.text} And more." for note in case_of(trip, Case).notes}
    case = case_of(trip, Case).with_notes(texts, "own")
    with pytest.raises(UsageError, match="The notes of the case reader are not the same"):
        compare(trip, trip.model_copy(update={"case": case}))


def test_questions_that_are_not_the_same_whatever_their_digest() -> None:
    one, other = honest(exam("dev")), honest(exam("dev", *ROWS[1:]))
    with pytest.raises(UsageError, match="not asked the same questions"):
        compare(one, other)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"top_k": 3}, "top k is 5 in A and 3 in B."),
        ({"marker": "prose"}, "marker is front-matter in A and prose in B."),
        ({"seed": 7}, "seed is 0 in A and 7 in B."),
    ],
)
def test_what_was_asked_otherwise_is_told_loudly(how: dict[str, object], says: str) -> None:
    one = honest(exam("dev"))
    case = case_of(one, Exam).model_copy(update=how)
    found = compare(one, one.model_copy(update={"case": case}))
    assert any(one.startswith(says) for one in found.loud)
    assert found.findings == ()


def test_sets_asked_in_one_of_the_two_are_left_out() -> None:
    found = compare(gated(), gated(sets=("development",)))
    assert "Asked in one of the two only, and left out: held-out." in found.loud
    assert found.findings == ()


def test_versions_options_and_models_are_told(reader: Path) -> None:
    one: Report = files.load(reader)
    system = one.system.model_copy(update={"version": "0.2.0"})
    other = one.model_copy(
        update={
            "system": system, "model": "claude-haiku-4-5",
            "options": {"same_slot_admits": False}, "purposes": {"update": "claude-haiku-4-5"},
        }
    )  # fmt: skip
    found = compare(one, other)
    apart = {one.name: (one.before, one.after) for one in found.identities if not one.same}
    assert apart == {
        "version": ("0.1.0", "0.2.0"),
        "model": ("claude-sonnet-5-5", "claude-haiku-4-5"),
        "options": ("same_slot_admits=true", "same_slot_admits=false"),
    }
