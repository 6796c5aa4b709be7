"""Our past-value marker beside theirs: where they differ is known, wording by wording."""

from collections import Counter

import pytest

from runner.paths import root
from runner.suites.update_gate import load_set, marked
from tests.difference import _wordings
from tests.difference._theirs import Theirs

pytestmark = [pytest.mark.particles, pytest.mark.timeout(600)]

EXPECTED = {_wordings.BOTH: (True, True), _wordings.NEITHER: (False, False)}
EXPECTED |= dict.fromkeys(_wordings.OURS, (True, False))
EXPECTED |= dict.fromkeys(_wordings.THEIRS, (False, True))
"""What each kind of wording is to ours, and to theirs."""


def test_every_wording_is_read_as_is_known(theirs: Theirs, scale: int) -> None:
    made = list(_wordings.sentences(4_000 * scale))
    answers = theirs.ask("marked", [text for _, text in made])
    counted: Counter[str] = Counter()
    for (kind, text), saved in zip(made, answers, strict=True):
        assert (marked(text), saved) == EXPECTED[kind], (kind, text)
        counted[kind] += 1
    print(f"\n{theirs.version}: {dict(counted)}")
    assert set(counted) == set(EXPECTED) == set(_wordings.WORDINGS)


def test_every_kind_is_in_the_documentation() -> None:
    page = (root() / "docs" / "differences.md").read_text()
    for kind in (*_wordings.OURS, *_wordings.THEIRS):
        assert f"| {kind} |" in page


def test_the_development_set(theirs: Theirs) -> None:
    """The claims of it that the two read differently; older claims alone decide anything."""
    claims = {
        (pair.id, side): claimed.text
        for pair in load_set("development").pairs
        for side, claimed in (("older", pair.older), ("newer", pair.newer))
    }
    answers = theirs.ask("marked", list(claims.values()))
    apart = {
        key: (text, "ours" if marked(text) else "theirs")
        for (key, text), saved in zip(claims.items(), answers, strict=True)
        if marked(text) is not saved
    }
    assert {(text, who) for text, who in apart.values()} == {
        ("Between 2019 and 2022 the user worked as a night porter.", "ours"),
        (
            "The user was a member of the Ironworks gym up to August 2023,"
            " as stated in the note of 2026-02-09.",
            "ours",
        ),
        ("The user is house-sitting in Inverness for a fortnight, until 2026-08-30.", "theirs"),
    }
