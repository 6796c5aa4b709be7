"""What has to hold of the checks whatever a store is full of."""

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.model import Claim, RestatementExamined, Store, Superseded
from runner.suites.trip_vs_move import KINDS, MOVE, Case, check, check_all, load_case, observe

pytestmark = pytest.mark.slow

CASES = tuple(
    load_case(name, variant)
    for name in ("reader", "mid-trip")
    for variant in (None, "new-york-san-diego", "sao-paulo-belem")
)
WORDS = [
    "{home}",
    "{away}",
    "{speaker}",
    "lives",
    "is",
    "was",
    "were",
    "moved",
    "flat",
    "home",
    "to",
    "in",
    "at",
    "back",
    "fly",
    "flight",
    "trip",
    "visiting",
    "for-a-week",
    "as-of-{trip_day}",
    "as-of-{move_day}",
    "vegetarian",
    "hotel",
    "dinner",
]


@st.composite
def sentences(draw: st.DrawFn, case: Case) -> str:
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7))
    text = " ".join(words).replace("for-a-week", "for a week").replace("as-of-", "as of ")
    return text.format_map(case.names)


@st.composite
def claims(draw: st.DrawFn, case: Case, *, active: bool | None = None) -> Claim:
    standing = draw(st.booleans()) if active is None else active
    ends = draw(st.none() | st.integers(-40, 40))
    return Claim(
        id=f"c{draw(st.integers(0, 10**6))}",
        text=draw(sentences(case)),
        status="ACTIVE" if standing else draw(st.sampled_from(["SUPERSEDED", "INCONSISTENCY"])),
        sources=(draw(st.sampled_from([note.name for note in case.notes])),),
        restatement=draw(st.booleans()),
        valid_until=None if ends is None else case.move_day + timedelta(days=ends),
    )


@st.composite
def stores(draw: st.DrawFn, case: Case) -> Store:
    held = draw(st.lists(claims(case), max_size=6))
    events = draw(
        st.lists(
            st.builds(
                RestatementExamined,
                claim=st.just("x"),
                anchor=st.just("y"),
                retired_by=st.sampled_from("mn"),
                contradicts=st.none() | st.sampled_from("mn"),
                outcome=st.sampled_from(["restated", "kept_back", "independent"]),
                payload=st.just({}),
                reason=st.just(""),
                restatement=st.none(),
            ),
            max_size=2,
        )
    )
    return Store(claims=tuple(held), events=tuple(events))


@st.composite
def runs(draw: st.DrawFn) -> tuple[Case, str, dict[str, Store]]:
    case = draw(st.sampled_from(CASES))
    before = f"deposit {case.notes[-2].name}"
    read = {before: draw(stores(case)), "consolidate": draw(stores(case))}
    return case, draw(st.sampled_from(KINDS)), read


@settings(max_examples=60, deadline=None)
@given(runs())
def test_version_3_never_passes_what_version_2_fails(
    run: tuple[Case, str, dict[str, Store]],
) -> None:
    case, kind, read = run
    by_version = {result.version: result for result in check_all(case, kind, read)}
    if by_version[3].passed:
        assert by_version[2].passed
    elif by_version[3].reason is None:
        assert not by_version[2].passed
    assert by_version[3].checks[-len(by_version[2].checks) :] == by_version[2].checks


@settings(max_examples=60, deadline=None)
@given(runs(), st.randoms(use_true_random=False))
def test_the_order_of_a_store_says_nothing(run: tuple[Case, str, dict[str, Store]], rnd) -> None:  # type: ignore[no-untyped-def]
    case, kind, read = run
    shuffled = {
        step: Store(
            claims=tuple(rnd.sample(store.claims, len(store.claims))),
            events=tuple(rnd.sample(store.events, len(store.events))),
        )
        for step, store in read.items()
    }
    assert check_all(case, kind, read) == check_all(case, kind, shuffled)
    assert observe(case, kind, read) == observe(case, kind, shuffled)


@settings(max_examples=60, deadline=None)
@given(runs(), st.data())
def test_a_retired_claim_changes_nothing_unless_it_is_a_restatement(
    run: tuple[Case, str, dict[str, Store]], data: st.DataObject
) -> None:
    case, kind, read = run
    retired = data.draw(claims(case, active=False)).model_copy(update={"restatement": False})
    more = {
        step: Store(claims=(*store.claims, retired), events=store.events)
        for step, store in read.items()
    }
    assert check_all(case, kind, read) == check_all(case, kind, more)


@settings(max_examples=60, deadline=None)
@given(runs(), st.data())
def test_a_home_that_still_stands_always_fails_a_move(
    run: tuple[Case, str, dict[str, Store]], data: st.DataObject
) -> None:
    case, _, read = run
    source = data.draw(st.sampled_from([note.name for note in case.notes]))
    text = f"{data.draw(sentences(case))} lives in {case.home}"
    home = Claim(id="home", text=text, status="ACTIVE", sources=(source,))
    final = read["consolidate"]
    read["consolidate"] = Store(claims=(*final.claims, home), events=final.events)
    for result in check_all(case, MOVE, read):
        assert not result.passed
        (first,) = (found for found in result.checks if found.id == "i")
        assert any("(home)" in evidence for evidence in first.evidence)


@settings(max_examples=60, deadline=None)
@given(runs(), st.data())
def test_what_happens_to_standing_claims_of_other_things_is_not_the_checks_affair(
    run: tuple[Case, str, dict[str, Store]], data: st.DataObject
) -> None:
    case, kind, read = run
    other = Claim(
        id="other",
        text=f"{case.names['speaker']} is vegetarian.",
        status="ACTIVE",
        sources=(data.draw(st.sampled_from([note.name for note in case.notes])),),
    )
    event = Superseded(loser="a", winner="b", decided_by="c")
    more = {
        step: Store(claims=(*store.claims, other), events=(*store.events, event))
        for step, store in read.items()
    }
    assert check_all(case, kind, read) == check_all(case, kind, more)


@settings(max_examples=60, deadline=None)
@given(runs())
def test_forbidding_checks_fail_by_their_evidence_and_demanding_ones_without(
    run: tuple[Case, str, dict[str, Store]],
) -> None:
    case, kind, read = run
    for result in check_all(case, kind, read):
        for found in result.checks:
            demands = found.id in ("a", "b", "iv", "known")
            assert found.passed is (bool(found.evidence) if demands else not found.evidence)
        assert result.passed is all(found.passed for found in result.checks)


@settings(max_examples=60, deadline=None)
@given(runs(), st.dates(date(2020, 1, 1), date(2035, 1, 1)))
def test_end_dates_count_in_the_readers_case_alone(
    run: tuple[Case, str, dict[str, Store]], end: date
) -> None:
    case, _, read = run
    final = read["consolidate"]
    ended = tuple(claim.model_copy(update={"valid_until": end}) for claim in final.claims)
    read_ended = {**read, "consolidate": Store(claims=ended, events=final.events)}
    endless = tuple(claim.model_copy(update={"valid_until": None}) for claim in final.claims)
    read_endless = {**read, "consolidate": Store(claims=endless, events=final.events)}
    same = check(case, MOVE, read_ended, 2) == check(case, MOVE, read_endless, 2)
    assert same or (case.name == "reader" and end <= case.move_day)
