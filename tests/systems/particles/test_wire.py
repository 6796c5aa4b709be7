import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.gateway.wire import UNATTRIBUTED, Wire
from runner.systems.particles import wire
from runner.systems.particles.wire import ParticlesWire
from tests.systems.particles import _requests as ask

WIRE = ParticlesWire()

CALLS: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "extraction": (
        ask.extraction("# Note\n\nI live in Delhi.\n"),
        "extraction",
        {
            "task": "extraction",
            "note": {"text": "# Note\n\nI live in Delhi.\n"},
            "context": None,
            "reference_date": "2026-09-01",
        },
    ),
    "contradiction": (
        ask.contradiction(),
        "semantic_lint",
        {"task": "contradiction", "older": {"text": "A."}, "newer": {"text": "B."}},
    ),
    "first reading": (
        ask.update(1),
        "semantic_lint",
        {"task": "update", "reading": 1, "older": {"text": "A."}, "newer": {"text": "B."}},
    ),
    "second reading": (
        ask.update(2),
        "verification",
        {"task": "update", "reading": 2, "older": {"text": "A."}, "newer": {"text": "B."}},
    ),
    "second reading asked again": (
        ask.pair(ask.SLOT, "A.", "B.", max_tokens=4095),
        "verification",
        {"task": "update", "reading": 2, "older": {"text": "A."}, "newer": {"text": "B."}},
    ),
    "confirmation": (
        ask.confirmation(),
        "verification",
        {
            "task": "confirmation",
            "older": {
                "text": "A.",
                "source": "a.md (dated 2026-09-01)",
                "passage": "I said A.\nThen more.",
            },
            "newer": {
                "text": "B.",
                "source": "b.md (record, observed 2026-10-01)",
                "passage": "(not found)",
            },
        },
    ),
    "contradiction without fences": (
        ask.plain(ask.VERDICT, "A.\n\nA too."),
        "semantic_lint",
        {"task": "contradiction", "older": {"text": "A.\n\nA too."}, "newer": {"text": "B."}},
    ),
    "second reading without fences": (
        ask.plain(ask.SLOT, max_tokens=1024),
        "verification",
        {"task": "update", "reading": 2, "older": {"text": "A."}, "newer": {"text": "B."}},
    ),
    "paraphrase": (
        ask.paraphrase(),
        "verification",
        {"task": "paraphrase", "older": {"text": "A."}, "newer": {"text": "B."}},
    ),
    "reanchor": (
        ask.reanchor(),
        "extraction",
        {
            "task": "reanchor",
            "retired": {"text": "R.", "day": "2026-09-04"},
            "passage": "A passage.",
            "candidates": [{"n": 1, "text": "C one."}, {"n": 2, "text": "C two."}],
        },
    ),
    "faithfulness": (
        ask.faithfulness(),
        "verification",
        {
            "task": "faithfulness",
            "retired": {"text": "R.", "day": "unknown"},
            "passage": "Date of the source record: 1999-01-01",
            "original": {"text": "O."},
            "restatement": "O was.",
        },
    ),
    "link": (
        ask.link(),
        "subject_resolution",
        {
            "task": "link",
            "name": "Delhi",
            "claim": "The user lives in Delhi.",
            "candidates": [
                {"id": "Q1", "label": "Delhi", "about": "capital of India"},
                {"id": "Q2", "label": "Delhi", "about": "(no description)"},
            ],
        },
    ),
    "answer": (
        ask.answer(),
        "query_response",
        {
            "task": "answer",
            "question": "Where does the user live?",
            "claims": [
                {"text": "The user lives in Delhi.", "modality": "FALSIFIABLE"},
                {"text": "The user <likes> it.", "modality": "EXPERIENTIAL"},
            ],
        },
    ),
}


def test_it_is_a_wire() -> None:
    assert isinstance(WIRE, Wire)
    assert wire.UNATTRIBUTED == UNATTRIBUTED


@pytest.mark.parametrize("kind", CALLS)
def test_a_call_is_known_by_what_it_fences(kind: str) -> None:
    body, purpose, fields = CALLS[kind]
    assert WIRE.purpose({"x-anything": "else"}, body) == purpose
    assert purpose in wire.PURPOSES
    assert WIRE.fields(purpose, body) == fields


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": [{"role": "user", "content": "hello"}]},
        {"messages": [], "system": ask.RULE.format(nonce=ask.NONCE)},
        {"messages": "hello", "system": 7},
        ask.request("", "nothing is fenced"),
        ask.request("", ask.fenced("source", "text", ask.OTHER)),
        ask.request("", ask.fenced("horoscope", "text")),
        ask.pair("What do you think?", "A.", "B."),
        ask.request(ask.VERDICT, ask.fenced("claim_a", "A.")),
        ask.request("", ask.fenced("name", "N")),
    ],
    ids=range(10),
)
def test_what_is_no_call_of_its_is_not_attributed(body: dict[str, Any]) -> None:
    assert WIRE.purpose({}, body) == UNATTRIBUTED
    with pytest.raises(ValueError):
        WIRE.fields(UNATTRIBUTED, body)
    assert json.loads(WIRE.canonical({}, body))["purpose"] == UNATTRIBUTED


def test_a_note_cannot_pass_for_another_call() -> None:
    note = f"{ask.fenced('retired', 'x', ask.OTHER)}\n{ask.fenced('claim_a', 'y', ask.OTHER)}"
    fields = WIRE.fields("extraction", ask.extraction(note))
    assert fields["task"] == "extraction"
    assert fields["note"] == {"text": note}


def test_ten_candidates_are_ten() -> None:
    texts = tuple(f"Claim {n}." for n in range(1, 11))
    candidates = WIRE.fields("extraction", ask.reanchor(texts))["candidates"]
    assert [each["text"] for each in candidates] == list(texts)
    assert candidates[9]["n"] == 10


# ---------------------------------------------------------------- replies


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("as it is", "as it is"),
        ({"verdict": "NO", "reason": "r"}, "REASON: r\nVERDICT: NO"),
        (
            {"slot": "CHANGES", "verdict": "YES", "reason": "r"},
            "REASON: r\nSLOT: CHANGES\nVERDICT: YES",
        ),
        ({"verdict": "DISTINCT"}, '{"verdict":"DISTINCT"}'),
        ([{"content": "São Paulo."}], '[{"content":"São Paulo."}]'),
        (
            {"depended": True, "faithful": False, "reason": "r"},
            '{"depended":true,"faithful":false,"reason":"r"}',
        ),
        (
            {"claims": [{"claim": "C one.", "verdict": "HOLDS", "reason": "r"}]},
            '{"claims":[{"claim":"C one.","verdict":"HOLDS","reason":"r"}]}',
        ),
        (
            {"claims": [{"n": 2, "anchor": 1, "verdict": "LEANS", "restatement": "s"}, 7]},
            '{"claims":[{"claim":"c2","verdict":"DEPENDS","restatement":"s"},7]}',
        ),
    ],
)
def test_an_answer_is_written_as_the_engine_reads_it(answer: Any, text: str) -> None:
    assert WIRE.reply("any", answer) == text


# ---------------------------------------------------------------- canonical form


def again(body: dict[str, Any]) -> dict[str, Any]:
    """The same call, made another time."""
    return dict(json.loads(json.dumps(body).replace(ask.NONCE, ask.OTHER)))


@pytest.mark.parametrize("kind", CALLS)
def test_the_same_call_made_twice_is_the_same(kind: str) -> None:
    body, _, _ = CALLS[kind]
    twice = again(body)
    assert (twice != body) == (ask.NONCE in json.dumps(body))
    assert WIRE.canonical({"a": "b"}, body) == WIRE.canonical({}, twice)
    backwards = dict(reversed(twice.items()))
    assert WIRE.canonical({}, backwards) == WIRE.canonical({}, body)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("model",), "claude-sonnet-4-6"),
        (("max_tokens",), 64000),
        (("temperature",), 1.0),
        (("messages", 0, "content"), ask.fenced("source", "Other words.")),
        (("system", 1, "text"), ask.RULE.format(nonce=ask.NONCE) + " 2026-09-02"),
    ],
)
def test_another_question_is_another(path: tuple[Any, ...], value: Any) -> None:
    body = ask.extraction("Some words.")
    changed = copy.deepcopy(body)
    inner: Any = changed
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    assert WIRE.canonical({}, changed) != WIRE.canonical({}, body)


def test_how_it_is_sent_is_no_part_of_the_question() -> None:
    body = ask.contradiction()
    assert WIRE.canonical({}, body) == WIRE.canonical(
        {}, {**body, "stream": True, "metadata": {"user_id": "x"}}
    )


def test_a_number_in_a_note_is_kept() -> None:
    one, other = ask.extraction(f"Key {ask.OTHER}"), ask.extraction("Key " + "0" * 32)
    assert WIRE.canonical({}, one) != WIRE.canonical({}, other)


@pytest.mark.slow
@settings(max_examples=50)
@given(st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text(), st.lists))
def test_whatever_is_sent_is_told_or_refused(junk: Any) -> None:
    for body in (
        {"system": junk, "messages": junk},
        {"system": ask.RULE.format(nonce=ask.NONCE), "messages": [junk]},
        {
            "system": ask.RULE.format(nonce=ask.NONCE),
            "messages": [{"role": "user", "content": [junk, {"text": junk}]}],
            "max_tokens": junk,
        },
    ):
        assert WIRE.purpose({}, body) == UNATTRIBUTED
        with pytest.raises(ValueError):
            WIRE.fields(UNATTRIBUTED, body)
