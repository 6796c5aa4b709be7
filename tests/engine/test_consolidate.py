from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from memory_engine.consolidate import consolidate
from memory_engine.errors import ProviderFailed, UnparseableReply
from memory_engine.judge import Judge
from memory_engine.settings import Options
from memory_engine.store import Store

from tests.engine._provider import Failure, Provider
from tests.engine._worlds import (
    DIET,
    FLAT,
    FLEW,
    FLIGHT,
    MID_TRIP,
    MOVED,
    READER,
    STAY,
    WALK,
    WALKED,
    World,
    on,
    said,
)
from tests.engine.test_deposit import events, id_of, put, standing

pytestmark = pytest.mark.slow

MakeJudge = Callable[..., Judge]


def run(store: Store, judge: Judge, **options: Any) -> dict[str, Any]:
    return consolidate(store, judge, Options(**options), on("2026-10-09"))


def fill(store: Store, judge: Judge, provider: Provider, world: World = MID_TRIP) -> None:
    provider.script = world.script
    for note in world.notes:
        put(store, judge, note)
    provider.asked = []


def outcome(store: Store, text: str) -> dict[str, Any]:
    claim = id_of(store, text)
    (found,) = [p for p in events(store, "RESTATEMENT_EXAMINED") if p["claim"] == claim]
    return found


def test_what_leaned_on_a_retired_claim_is_told_as_history(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    fill(store, judge(), provider)
    result = run(store, judge())
    assert result == {"winners": 1, "examined": 3, "restated": 2, "kept_back": 0, "left": 0}
    assert standing(store) == {MOVED, DIET, WALKED, FLEW}
    walk, walked = store.claim(id_of(store, WALK)), store.claim(id_of(store, WALKED))
    assert (walk.status, walk.reason) == ("SUPERSEDED", "SUPERSEDED_BY_RESTATEMENT")
    assert walk.retired_by == walked.id
    assert walked.restatement
    assert walked.restates == walk.id
    assert walked.anchor == id_of(store, FLAT)
    assert (walked.sources, walked.day, walked.subject) == (walk.sources, walk.day, walk.subject)
    assert outcome(store, WALK) == {
        "claim": walk.id,
        "anchor": id_of(store, FLAT),
        "retired_by": id_of(store, MOVED),
        "contradicts": None,
        "outcome": "restated",
        "reason": "leaned",
        "said": "as it was",
        "restatement": walked.id,
    }
    assert (outcome(store, DIET)["outcome"], outcome(store, DIET)["reason"]) == (
        "independent",
        "stands",
    )


def test_what_is_asked_is_the_whole_situation(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    fill(store, judge(), provider)
    run(store, judge())
    (reanchor,) = [a for a in provider.asked if a.task == "reanchor"]
    assert reanchor.document["newer"] == {"text": MOVED, "day": "2026-10-09"}
    assert [c["text"] for c in reanchor.document["candidates"]] == [WALK, DIET, FLIGHT]
    assert [c["n"] for c in reanchor.document["retired"]] == [1, 2, 3]
    assert STAY in {c["text"] for c in reanchor.document["retired"]}
    faithful = [a for a in provider.asked if a.task == "faithfulness"]
    assert {a.purpose for a in faithful} == {"verification"}
    assert faithful[0].document["restatement"] == WALKED
    checked = [a.document for a in provider.asked if a.task == "contradiction"]
    assert {d["newer"]["text"] for d in checked} == {WALKED, FLEW}
    # Told on the day of what it restates, held against what is near it, never against itself.
    assert checked[0]["newer"]["day"] == "2026-09-04"
    assert [d["older"]["text"] for d in checked] == [FLIGHT, MOVED, WALKED, DIET]
    assert (WALK, WALKED) not in {(d["older"]["text"], d["newer"]["text"]) for d in checked}


def test_doing_it_again_does_nothing_more(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    fill(store, judge(), provider)
    run(store, judge())
    claims, history = store.claims(), store.events()
    provider.asked = []
    assert run(store, judge())["winners"] == 0
    assert provider.asked == []
    assert (store.claims(), store.events()) == (claims, history)


def test_with_nothing_retired_nothing_is_asked(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    fill(store, judge(), provider, replace(MID_TRIP, changed=frozenset()))
    assert run(store, judge())["winners"] == 0
    assert provider.asked == []


def test_a_winner_without_candidates_is_examined_without_a_call(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    fill(store, judge(), provider, READER)
    assert run(store, judge()) == {
        "winners": 1,
        "examined": 0,
        "restated": 0,
        "kept_back": 0,
        "left": 0,
    }
    assert provider.asked == []
    assert run(store, judge())["winners"] == 0


@pytest.mark.parametrize(
    ("depended", "faithful", "reason"),
    [(False, True, "not_depended"), (False, False, "not_depended"), (True, False, "unfaithful")],
)
def test_a_restatement_read_as_wrong_is_kept_back(
    provider: Provider,
    store: Store,
    judge: MakeJudge,
    depended: bool,
    faithful: bool,
    reason: str,
) -> None:
    answer = {"depended": depended, "faithful": faithful, "reason": "because"}
    world = replace(MID_TRIP, override=lambda a: answer if a.task == "faithfulness" else None)
    fill(store, judge(), provider, world)
    assert run(store, judge())["kept_back"] == 2
    assert {WALK, FLIGHT} < standing(store)
    payload = outcome(store, WALK)
    assert (payload["outcome"], payload["reason"]) == ("kept_back", reason)
    assert payload["said"] == "because"
    assert payload["restatement"] is None


@pytest.mark.parametrize("against", [MOVED, DIET, FLIGHT])
def test_a_restatement_that_contradicts_is_kept_back_and_names_what(
    provider: Provider, store: Store, judge: MakeJudge, against: str
) -> None:
    # The walk is the restaurant's: it meets the user's claims where they share a name.
    leaning = FLIGHT if against != FLIGHT else WALK
    restated = FLEW if leaning == FLIGHT else WALKED
    world = replace(MID_TRIP, contradicting=frozenset({(against, restated)}))
    fill(store, judge(), provider, world)
    run(store, judge())
    payload = outcome(store, leaning)
    assert (payload["outcome"], payload["reason"]) == ("kept_back", "contradiction")
    assert payload["contradicts"] == id_of(store, against)
    assert leaning in standing(store)


def test_a_failure_leaves_the_winner_for_the_next_time(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    fill(store, judge(), provider)
    before = store.claims(), store.events()
    failing = replace(
        MID_TRIP,
        override=lambda a: (
            Failure(400) if a.document.get("newer", {}).get("text") == FLEW else None
        ),
    )
    provider.script = failing.script
    with pytest.raises(ProviderFailed):
        run(store, judge())
    assert (store.claims(), store.events()) == before
    provider.script = MID_TRIP.script
    assert run(store, judge())["restated"] == 2


def test_a_candidate_left_unanswered_fails_the_consolidation(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    world = replace(MID_TRIP, override=lambda a: {"claims": []} if a.task == "reanchor" else None)
    fill(store, judge(), provider, world)
    with pytest.raises(UnparseableReply, match="left unanswered"):
        run(store, judge())
    assert provider.tasks() == ["reanchor", "reanchor"]


def test_what_has_nothing_in_common_with_what_was_retired_is_not_asked_about(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    far, near = "Marta plays the cello.", "Marta was born in Porto."
    world = replace(
        READER,
        extracted={
            "n1.md": [said("The user lives in Porto."), said(far, "Marta"), said(near, "Marta")],
            "n2.md": [said(MOVED)],
        },
    )
    fill(store, judge(), provider, world)
    run(store, judge())
    (reanchor,) = provider.asked
    assert [c["text"] for c in reanchor.document["candidates"]] == [near]


def test_two_winners_are_examined_one_after_the_other(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    job, new_job = "The user works at Halden Marine.", "The user works at Lys Optics."
    world = World(
        notes=(
            ("a.md", "2026-09-01", "one"),
            ("b.md", "2026-09-02", "two"),
            ("c.md", "2026-09-03", "three"),
        ),
        extracted={
            "a.md": [said(FLAT), said(job), said(WALK, "Casa Lua")],
            "b.md": [said(MOVED)],
            "c.md": [said(new_job)],
        },
        changed=frozenset({(FLAT, MOVED), (job, new_job)}),
        leans={WALK: WALKED},
    )
    fill(store, judge(), provider, world)
    failing = replace(
        world,
        override=lambda a: (
            Failure(400)
            if a.task == "reanchor" and a.document["newer"]["text"] == new_job
            else None
        ),
    )
    provider.script = failing.script
    with pytest.raises(ProviderFailed):
        run(store, judge())
    # The first winner's work is kept.
    assert WALKED in standing(store)
    provider.script = world.script
    provider.asked = []
    result = run(store, judge())
    assert result["winners"] == 1
    (reanchor,) = [a for a in provider.asked if a.task == "reanchor"]
    # A later claim is no candidate of an earlier winner, nor is a restatement of any.
    assert [c["text"] for c in reanchor.document["candidates"]] == [MOVED]


def test_caps_are_kept_and_named(provider: Provider, store: Store, judge: MakeJudge) -> None:
    fill(store, judge(), provider)
    result = run(store, judge(), candidates_per_winner=2, checks_per_restatement=1)
    assert result["examined"] == 2
    caps = events(store, "PROBES_CAPPED")
    assert caps[0]["cap"] == "candidates"
    assert caps[0]["left_out"] == [id_of(store, FLIGHT)]
    assert {cap["cap"] for cap in caps[1:]} <= {"restatement"}
    assert FLIGHT in standing(store)


def test_a_spent_budget_keeps_back_what_nobody_read(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    fill(store, judge(), provider)
    result = run(store, judge(), checks_per_consolidation=1)
    assert provider.tasks() == ["reanchor", "faithfulness"]
    assert result["kept_back"] == 1
    payload = outcome(store, FLIGHT)
    assert (payload["outcome"], payload["reason"]) == ("kept_back", "capped")
    assert {cap["cap"] for cap in events(store, "PROBES_CAPPED")} == {"consolidation"}


def test_a_spent_budget_leaves_whole_winners_for_the_next_time(
    provider: Provider, store: Store, judge: MakeJudge
) -> None:
    fill(store, judge(), provider)
    result = run(store, judge(), checks_per_consolidation=0)
    assert result["left"] == 1
    assert provider.asked == []
    (cap,) = events(store, "PROBES_CAPPED")
    assert cap["left_out"] == [id_of(store, MOVED)]
    assert run(store, judge())["restated"] == 2
