from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from memory_engine.deposit import deposit
from memory_engine.errors import BadRequest, ProviderFailed, UnparseableReply
from memory_engine.judge import Judge
from memory_engine.settings import Options
from memory_engine.store import Note, Store, digest

from tests.engine._provider import Failure, Provider
from tests.engine._worlds import (
    DIET,
    FLAT,
    FLIGHT,
    HOME,
    MID_TRIP,
    MOVED,
    READER,
    WEEK,
    World,
    on,
    said,
)

pytestmark = pytest.mark.slow

MakeJudge = Callable[..., Judge]


def put(
    store: Store, judge: Judge, note: Sequence[str], clock_day: str | None = None, **options: Any
) -> dict[str, Any]:
    name, day, text = note
    made = Note(name, text, day, digest(text))
    return deposit(store, judge, Options(**options), on(clock_day or day), made)


def standing(store: Store) -> set[str]:
    return {claim.text for claim in store.claims(active=True)}


def events(store: Store, kind: str) -> list[dict[str, Any]]:
    return [event.payload for event in store.events() if event.type == kind]


def id_of(store: Store, text: str) -> str:
    (found,) = [claim.id for claim in store.claims() if claim.text == text]
    return found


def test_a_move_retires_home_and_week_and_stays_the_one_current_statement(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    provider.script = READER.script
    first = put(store, judge(), READER.notes[0])
    assert first == {"note": "n1.md", "already": False, "claims": 2, "retired": 0, "probes": 0}
    assert standing(store) == {HOME, WEEK}
    second = put(store, judge(), READER.notes[1])
    assert second["retired"] == 2
    assert standing(store) == {MOVED}
    winner = id_of(store, MOVED)
    for loser in (claim for claim in store.claims() if claim.status != "ACTIVE"):
        assert (loser.status, loser.reason) == ("SUPERSEDED", "SUPERSEDED_BY_UPDATE")
        assert loser.retired_by == winner
    for payload in events(store, "UPDATE_SUPERSESSION"):
        assert payload["winner"] == winner
        assert payload["decided_by"] == "update+second-reading"
        assert [r["slot"] for r in payload["readings"]] == ["CHANGES", "CHANGES"]
        assert payload["contradiction"]["verdict"] == "NO"
    assert {p["loser"] for p in events(store, "UPDATE_SUPERSESSION")} == {
        id_of(store, HOME),
        id_of(store, WEEK),
    }


def test_the_second_reading_is_asked_only_after_a_first_change(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    provider.script = MID_TRIP.script
    for note in MID_TRIP.notes:
        put(store, judge(), note)
    pairs = {
        reading: {
            (a.document["older"]["text"], a.document["newer"]["text"])
            for a in provider.asked
            if a.document.get("reading") == reading
        }
        for reading in (1, 2)
    }
    assert pairs[2] == MID_TRIP.changed
    assert pairs[1] > pairs[2]
    assert {a.purpose for a in provider.asked if a.document.get("reading") == 2} == {"verification"}
    # Another subject is another matter.
    assert not any(
        "Casa Lua" in a.document.get("older", {}).get("text", "") for a in provider.asked
    )


@pytest.mark.parametrize("second", ["NO", "FIXED"])
def test_a_second_reading_that_sees_no_change_keeps_the_older_claim(
    provider: Provider, store: Store, judge: MakeJudge, second: str
) -> None:
    answer = {
        "reason": "x",
        "slot": "FIXED" if second == "FIXED" else "CHANGES",
        "verdict": "YES" if second == "FIXED" else "NO",
    }
    world = replace(READER, override=lambda a: answer if a.document.get("reading") == 2 else None)
    provider.script = world.script
    for note in world.notes:
        put(store, judge(), note)
    assert standing(store) == {HOME, WEEK, MOVED}
    assert len(events(store, "PAIR_KEPT")) == 2


def test_the_rule_before_needs_a_contradiction_as_well(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    world = replace(READER, contradicting=frozenset({(HOME, MOVED)}))
    provider.script = world.script
    for note in world.notes:
        put(store, judge(), note, same_slot_admits=False)
    assert standing(store) == {WEEK, MOVED}
    (payload,) = events(store, "UPDATE_SUPERSESSION")
    assert payload["decided_by"] == "update+second-reading+contradiction"


PAST = "The user used to live in Faro."


@pytest.mark.parametrize("contradicts", [False, True])
def test_a_past_value_is_retired_only_by_what_contradicts_it(
    provider: Provider, store: Store, judge: MakeJudge, contradicts: bool
) -> None:
    pair = (PAST, MOVED)
    world = World(
        notes=READER.notes,
        extracted={"n1.md": [said(PAST)], "n2.md": [said(MOVED)]},
        changed=frozenset({pair}),
        contradicting=frozenset({pair} if contradicts else ()),
    )
    provider.script = world.script
    for note in world.notes:
        put(store, judge(), note)
    assert standing(store) == ({MOVED} if contradicts else {PAST, MOVED})
    kind = "UPDATE_SUPERSESSION" if contradicts else "PAIR_KEPT"
    (payload,) = events(store, kind)
    assert payload["past_value_marker"] is True


def test_an_end_date_is_kept_only_while_it_is_to_come(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    provider.script = READER.script
    put(store, judge(), READER.notes[0], clock_day="2026-09-07")
    until = {claim.text: claim.valid_until for claim in store.claims()}
    assert until == {HOME: None, WEEK: "2026-09-08"}
    assert events(store, "END_DATE_DROPPED") == []


@pytest.mark.parametrize("day", ["2026-09-08", "2026-11-30"])
def test_an_end_date_that_has_come_is_dropped_and_said_so(
    provider: Provider, store: Store, judge: MakeJudge, day: str
) -> None:
    provider.script = READER.script
    put(store, judge(), READER.notes[0], clock_day=day)
    assert {claim.valid_until for claim in store.claims()} == {None}
    assert events(store, "END_DATE_DROPPED") == [
        {"claim": id_of(store, WEEK), "valid_until": "2026-09-08", "today": day}
    ]
    # The model is told the note's day, whatever day it is.
    assert provider.asked[0].document["reference_date"] == "2026-09-01"


def test_the_same_note_again_is_nothing_and_another_of_its_name_an_error(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    provider.script = READER.script
    name, day, text = READER.notes[0]
    put(store, judge(), (name, day, text))
    asked = len(provider.asked)
    assert put(store, judge(), (name, day, text))["already"] is True
    for other in ((name, day, text + " "), (name, "2026-09-02", text)):
        with pytest.raises(BadRequest, match="other bytes or another day"):
            put(store, judge(), other)
    assert len(provider.asked) == asked
    assert len(store.claims()) == 2


def test_a_deposit_that_fails_leaves_a_pending_note_and_nothing_else(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    failing = replace(
        READER, override=lambda a: Failure(400) if a.document.get("reading") == 2 else None
    )
    provider.script = failing.script
    put(store, judge(), READER.notes[0])
    before = store.claims()
    with pytest.raises(ProviderFailed):
        put(store, judge(), READER.notes[1])
    assert store.claims() == before
    note = store.note("n2.md")
    assert note is not None
    assert not note.done
    provider.script = READER.script
    assert put(store, judge(), READER.notes[1])["retired"] == 2
    assert standing(store) == {MOVED}


def test_a_reply_out_of_form_twice_fails_the_deposit(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    provider.script = lambda asked: "I would rather not say."
    with pytest.raises(UnparseableReply, match="extraction: unusable twice"):
        put(store, judge(), READER.notes[0])
    assert provider.tasks() == ["extraction", "extraction"]
    assert store.claims() == ()


def test_a_note_that_teaches_nothing_is_done(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    provider.script = lambda asked: "[]"
    assert put(store, judge(), READER.notes[0])["claims"] == 0
    assert put(store, judge(), READER.notes[0])["already"] is True


def test_a_retired_claim_is_asked_about_no_more(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    again = "The user's home is in Ghent."
    world = World(
        notes=READER.notes,
        extracted={"n1.md": [said(HOME), said(DIET)], "n2.md": [said(MOVED), said(again)]},
        changed=frozenset({(HOME, MOVED), (HOME, again)}),
    )
    provider.script = world.script
    for note in world.notes:
        put(store, judge(), note)
    assert standing(store) == {MOVED, again, DIET}
    assert store.claim(id_of(store, HOME)).retired_by == id_of(store, MOVED)
    met = [
        (a.document["older"]["text"], a.document["newer"]["text"])
        for a in provider.asked
        if a.task == "contradiction"
    ]
    # The newest standing claim first, and the claims of one note never against each other.
    assert met == [(DIET, MOVED), (HOME, MOVED), (DIET, again)]


def test_a_note_handed_in_late_is_the_older_side(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    provider.script = READER.script
    for note in reversed(READER.notes):
        put(store, judge(), note)
    assert standing(store) == {MOVED}
    assert store.claim(id_of(store, HOME)).retired_by == id_of(store, MOVED)


def many(count: int) -> World:
    texts = [f"The user owns boat number {n}." for n in range(count)]
    return World(
        notes=READER.notes,
        extracted={
            "n1.md": [said(text) for text in texts],
            "n2.md": [said("The user sold a boat."), said("The user rows.")],
        },
    )


def test_a_cap_on_one_claim_names_what_it_left_out(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    world = many(5)
    provider.script = world.script
    for note in world.notes:
        put(store, judge(), note, probes_per_claim=3)
    capped = events(store, "PROBES_CAPPED")
    assert [(p["cap"], p["limit"]) for p in capped] == [("claim", 3)] * 2
    oldest = [claim.id for claim in store.claims()[:2]]
    for payload in capped:
        assert sorted(payload["left_out"]) == sorted(oldest)
    assert provider.tasks().count("contradiction") == 6


def test_a_cap_on_a_deposit_names_every_pair_it_left_out(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    world = many(4)
    provider.script = world.script
    results = [put(store, judge(), note, probes_per_deposit=6) for note in world.notes]
    assert results[1]["probes"] == 6
    (payload,) = events(store, "PROBES_CAPPED")
    assert payload["cap"] == "deposit"
    assert payload["claim"] == id_of(store, "The user rows.")
    assert len(payload["left_out"]) == 2


def test_no_probe_at_all_may_be_asked_for(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    provider.script = READER.script
    for note in READER.notes:
        put(store, judge(), note, probes_per_deposit=0)
    assert standing(store) == {HOME, WEEK, MOVED}
    (payload,) = events(store, "PROBES_CAPPED")
    assert sorted(payload["left_out"]) == sorted([id_of(store, HOME), id_of(store, WEEK)])


def test_the_same_answers_make_the_same_store_and_the_same_calls(
    provider: Provider, tmp_path_factory: pytest.TempPathFactory, judge: MakeJudge
) -> None:
    provider.script = MID_TRIP.script
    seen = []
    for _ in range(2):
        provider.asked = []
        store = Store(tmp_path_factory.mktemp("store"))
        for note in MID_TRIP.notes:
            put(store, judge(), note)
        stored = [(c.text, c.status, c.reason) for c in store.claims()]
        seen.append((stored, [asked.body for asked in provider.asked]))
        store.close()
    assert seen[0] == seen[1]
    assert (FLAT, "SUPERSEDED", "SUPERSEDED_BY_UPDATE") in seen[0][0]
    assert (FLIGHT, "ACTIVE", None) in seen[0][0]
