import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_router.errors import ProviderFailed, UnparseableReply
from page_router.learn import SYSTEM, night, parse, unproved
from page_router.pages import parse as page
from page_router.rank import Index, Trigger

BACKUPS = """# Database backups

Full copies are kept for **35 days**, in Frankfurt.
They are made every
night. No snapshots elsewhere.
"""
SHIFTS = "# 夜班津贴\n\n夜班每班六十元，凭工牌领取免费夜宵一份。\n"
OLD = "---\nsuperseded_by: Backups.md\n---\n# Old backups\n\nSnapshots are kept for two weeks.\n"
INDEX = Index(
    [page("Backups.md", BACKUPS), page("Shifts.md", SHIFTS), page("Old.md", OLD)],
)
WEAK = "Where do snapshots of the zebra copies go?"
QUOTE = "Full copies are kept for **35 days**, in Frankfurt."


class Said:
    """A model that says what it is told to, and remembers what it was asked."""

    def __init__(self, *replies: Any) -> None:
        self._replies = list(replies)
        self.asked: list[dict[str, Any]] = []

    def __call__(self, purpose: str, system: str, document: str) -> str:
        assert (purpose, system) == ("learning", SYSTEM)
        self.asked.append(json.loads(document))
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, str) else json.dumps(reply)


def test_a_proved_answer_is_learned() -> None:
    model = Said({"page": "p1", "quote": QUOTE})
    done = night(INDEX, [WEAK], model, proof=True)
    assert done.learned == [Trigger("Backups.md", WEAK, QUOTE)]
    (asked,) = model.asked
    assert asked["task"] == "learning"
    assert asked["question"] == WEAK
    assert [one["id"] for one in asked["pages"]] == ["p1"]
    assert asked["pages"][0]["title"] == "Database backups"
    assert QUOTE in asked["pages"][0]["text"]


def test_a_replaced_page_is_never_shown() -> None:
    model = Said({"page": None, "quote": ""})
    night(INDEX, ["how old are snapshots kept for zebras"], model, proof=True)
    assert "two weeks" not in json.dumps(model.asked)


def test_what_was_answered_well_or_has_no_page_is_not_asked_about() -> None:
    done = night(INDEX, ["full copies Frankfurt backups", "zebra?", WEAK, f" {WEAK} "], Said(
        {"page": None, "quote": ""}), proof=True)  # fmt: skip
    assert (done.looked_at, done.asked, done.declined) == (3, 1, 1)
    assert done.learned == []


@pytest.mark.parametrize(
    ("quote", "why"),
    [
        ("", "no quote"),
        ("  ", "no quote"),
        ("Full copies are kept for 36 days, in Frankfurt.", "does not stand on the page"),
        ("full copies are kept for", "does not stand on the page"),
        ("Full copies are", "no sentence"),
        ("# Database", "no sentence"),
        ("They are made every night.", "shares no word"),
        ("Snapshots are kept for two weeks.", "does not stand on the page"),
    ],
)
def test_a_quote_that_proves_nothing_teaches_nothing(quote: str, why: str) -> None:
    done = night(INDEX, [WEAK], Said({"page": "p1", "quote": quote}), proof=True)
    assert done.learned == []
    (rejected,) = done.unproved
    assert why in rejected["why"]
    assert rejected["page"] == "Backups.md"
    trusting = night(INDEX, [WEAK], Said({"page": "p1", "quote": quote}), proof=False)
    assert [trigger.page for trigger in trusting.learned] == ["Backups.md"]


def test_a_quote_may_be_broken_into_lines_as_the_page_is_not() -> None:
    on = page("Backups.md", BACKUPS)
    assert unproved(on, "when are snapshots made", "every night.\nNo  snapshots elsewhere.") == ""


def test_a_chinese_quote_has_eight_characters() -> None:
    on = page("Shifts.md", SHIFTS)
    assert unproved(on, "夜宵怎么领", "凭工牌领取免费夜宵一份") == ""
    assert unproved(on, "夜宵怎么领", "免费夜宵一份") == "the quote is no sentence"
    assert unproved(on, "停车位怎么领", "凭工牌领取免费夜宵一份").startswith("the quote shares no")


@pytest.mark.parametrize(
    "text",
    [
        "p1",
        "[]",
        "{}",
        '{"page": "p2", "quote": ""}',
        '{"page": 1}',
        '{"page": "p1", "quote": 4}',
        '{"page": true}',
        'Sure: {"page": "p1"}',
        '{"page": ["p1"]}',
        "{" * 5000,
    ],
)
def test_a_reply_of_another_form_is_asked_for_once_more_and_then_an_error(text: str) -> None:
    good = {"page": "p1", "quote": QUOTE}
    assert night(INDEX, [WEAK], Said(text, good), proof=True).learned
    with pytest.raises(UnparseableReply):
        night(INDEX, [WEAK], Said(text, text), proof=True)


def test_a_fence_is_forgiven() -> None:
    assert parse('```json\n{"page": "p1", "quote": "q"}\n```', ["p1"]) == ("p1", "q")
    assert parse(' {"page": null} ', ["p1"]) == (None, "")


def test_a_failed_call_ends_the_night() -> None:
    model = Said({"page": "p1", "quote": QUOTE}, ProviderFailed("gone"))
    with pytest.raises(ProviderFailed):
        night(INDEX, [WEAK, "zebra copies?"], model, proof=True)


@given(st.text(), st.text(), st.text())
def test_any_quote_is_judged(body: str, question: str, quote: str) -> None:
    judge: Callable[..., str] = unproved
    assert isinstance(judge(page("a.md", body), question, quote), str)


@given(st.text())
def test_any_reply_is_read_or_an_error(text: str) -> None:
    try:
        found, _ = parse(text, ["p1"])
    except UnparseableReply:
        return
    assert found in (None, "p1")
