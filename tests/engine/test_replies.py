import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_engine import replies
from memory_engine.errors import UnparseableReply

YES = {"reason": "r", "verdict": "YES"}

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: bool(text.split())
)
extracted = st.lists(
    st.fixed_dictionaries(
        {
            "text": texts,
            "subject": texts,
            "valid_until": st.none() | st.dates().map(date.isoformat),
        }
    ),
    max_size=4,
)
prose = st.text("abc .,:;!-'\"\n", max_size=60)


@settings(deadline=None)
@given(extracted, prose, prose, st.booleans())
def test_prose_and_a_fence_around_the_json_are_forgiven(
    items: list[dict[str, Any]], before: str, after: str, fenced: bool
) -> None:
    body = json.dumps(items, ensure_ascii=False)
    plain = replies.extraction(body)
    inner = f"```json\n{body}\n```" if fenced else body
    assert replies.extraction(f"{before}\n{inner}\n{after}") == plain
    assert len(plain) <= len(items)


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (
        replies.extraction,
        replies.contradiction,
        replies.update,
        replies.faithfulness,
        lambda reply: replies.reanchor(reply, candidates=2, retired=1),
    ):
        try:
            read(text)
        except UnparseableReply:
            continue


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)


@settings(deadline=None)
@given(
    st.fixed_dictionaries(
        {
            "reason": st.just("r") | json_values,
            "slot": st.sampled_from(["CHANGES", "FIXED", "NONE"]) | json_values,
            "verdict": st.sampled_from(["YES", "NO"]) | json_values,
        }
    )
)
def test_a_verdict_is_one_of_its_words_or_none_at_all(record: dict[str, Any]) -> None:
    sound = (
        isinstance(record["reason"], str)
        and record["slot"] in ("CHANGES", "FIXED", "NONE")
        and record["verdict"] in ("YES", "NO")
    )
    try:
        reading = replies.update(json.dumps(record))
    except UnparseableReply:
        assert not sound or not _encodable(record["reason"])
    else:
        assert sound
        assert (reading.slot, reading.verdict) == (record["slot"], record["verdict"])


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@pytest.mark.parametrize(
    "text",
    [
        "",
        "YES",
        "VERDICT: YES",
        "[]",
        "{}",
        json.dumps([YES]),
        json.dumps(YES | {"verdict": "yes"}),
        json.dumps(YES | {"verdict": "MAYBE"}),
        json.dumps(YES | {"verdict": True}),
        json.dumps({"verdict": "YES"}),
        json.dumps(YES | {"reason": None}),
        # Two answers are no answer, and neither is one that answers twice.
        json.dumps(YES) + "\n" + json.dumps(YES | {"verdict": "NO"}),
        '{"reason": "r", "verdict": "YES", "verdict": "NO"}',
        '{"reason": "r", "verdict": "YES"',
        '{"reason": NaN, "verdict": "YES"}',
        '{"reason": "\\ud800", "verdict": "YES"}',
        # The answer must be outermost.
        'so: [{"reason": "r", "verdict": "YES"}]',
        "{" * 5000,
        "[" * 100_000,
    ],
)
def test_a_contradiction_reply_that_is_not_in_the_form_is_refused(text: str) -> None:
    with pytest.raises(UnparseableReply):
        replies.contradiction(text)


def test_a_key_that_was_not_asked_for_does_no_harm() -> None:
    verdict = replies.contradiction(json.dumps(YES | {"confidence": 0.9}))
    assert verdict.yes
    assert verdict.reason == "r"


@pytest.mark.parametrize(
    "item",
    [
        "text",
        {"text": "a", "subject": "b"},
        {"text": " ", "subject": "b", "valid_until": None},
        {"text": "a", "subject": "", "valid_until": None},
        {"text": 1, "subject": "b", "valid_until": None},
        {"text": "a", "subject": "b", "valid_until": "next week"},
        {"text": "a", "subject": "b", "valid_until": "2026-02-30"},
        {"text": "a", "subject": "b", "valid_until": "20260908"},
        {"text": "a", "subject": "b", "valid_until": "2026-W37-2"},
        {"text": "a", "subject": "b", "valid_until": 20260908},
    ],
)
def test_one_bad_statement_spoils_the_extraction(item: Any) -> None:
    good = {"text": "x", "subject": "y", "valid_until": None}
    with pytest.raises(UnparseableReply):
        replies.extraction(json.dumps([good, item]))


def test_nothing_to_keep_is_an_answer() -> None:
    assert replies.extraction("Nothing here.\n[]") == ()


def test_a_statement_told_twice_is_kept_once_with_its_spaces_made_plain() -> None:
    twice = [
        {"text": "The user  sails.\n", "subject": "the user", "valid_until": "2026-09-08"},
        {"text": "the user sails.", "subject": "The User", "valid_until": None},
    ]
    (only,) = replies.extraction(json.dumps(twice))
    assert only.text == "The user sails."
    assert only.valid_until == date(2026, 9, 8)


def _leaning(n: int, **changed: Any) -> dict[str, Any]:
    plain = {"n": n, "verdict": "LEANS", "anchor": 1, "restatement": "Was.", "reason": "r"}
    return {**plain, **changed}


def test_candidates_come_back_in_their_own_order() -> None:
    stands = _leaning(1, verdict="STANDS", anchor=None, restatement=None)
    answers = replies.reanchor(
        json.dumps({"claims": [_leaning(2, anchor=2), stands]}), candidates=2, retired=2
    )
    assert [(a.n, a.leans, a.anchor, a.restatement) for a in answers] == [
        (1, False, None, ""),
        (2, True, 2, "Was."),
    ]


@pytest.mark.parametrize(
    "claims",
    [
        [],
        [_leaning(1)],
        [_leaning(1), _leaning(1)],
        [_leaning(1), _leaning(2), _leaning(2)],
        [_leaning(1), _leaning(3)],
        [_leaning(0), _leaning(1)],
        [_leaning(1), _leaning(2, anchor=None)],
        [_leaning(1), _leaning(2, anchor=3)],
        [_leaning(1), _leaning(2, anchor=True)],
        [_leaning(1), _leaning(2, restatement="")],
        [_leaning(1), _leaning(2, restatement=None)],
        [_leaning(1), _leaning(2, verdict="PERHAPS")],
        [_leaning(1), 2],
        {"1": _leaning(1)},
    ],
)
def test_every_candidate_is_answered_once_and_wholly(claims: Any) -> None:
    with pytest.raises(UnparseableReply):
        replies.reanchor(json.dumps({"claims": claims}), candidates=2, retired=2)


@pytest.mark.parametrize("value", ["true", 1, None])
def test_a_reading_says_true_or_false(value: Any) -> None:
    sound = {"depended": True, "faithful": False, "reason": "r"}
    assert replies.faithfulness(json.dumps(sound)).depended
    with pytest.raises(UnparseableReply):
        replies.faithfulness(json.dumps(sound | {"depended": value}))
