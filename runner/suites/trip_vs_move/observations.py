"""What is worth knowing about a run and decides nothing."""

from collections.abc import Callable, Iterable, Mapping

from pydantic import JsonValue

from runner.model import Claim, Observation, Store
from runner.suites.trip_vs_move.case import Case
from runner.suites.trip_vs_move.protocol import CONSOLIDATE, MOVE
from runner.suites.trip_vs_move.text import (
    dated_restatement,
    names_a_day,
    past_tense,
    says,
    says_any,
)


def observe(case: Case, kind: str, stores: Mapping[str, Store]) -> tuple[Observation, ...]:
    """Look at the store after the last step; nothing when it was not read.

    Every value is a list of claims, each with its id, text and status; an empty list says that
    there was none.
    """
    if CONSOLIDATE not in stores:
        return ()
    claims = stores[CONSOLIDATE].claims
    observed = [
        _current(case, claims),
        _home_as_history(case, claims),
        _end_date(case, claims),
        _both_places(case, claims),
    ]
    if kind == MOVE:
        observed += _after_move(case, claims)
    return tuple(observed)


def _current(case: Case, claims: Iterable[Claim]) -> Observation:
    def stands(claim: Claim) -> bool:
        here = says_any(claim.text, (case.home, case.away))
        return claim.active and here and not dated_restatement(claim)

    return _observed("current", "What stands of either place, history aside", claims, stands)


def _home_as_history(case: Case, claims: Iterable[Claim]) -> Observation:
    """History of the home satisfies check (a), which asks for no more than an active claim."""

    def tells_of_it(claim: Claim) -> bool:
        stated = case.home_note in claim.sources and says(claim.text, case.home)
        return claim.active and stated and dated_restatement(claim)

    return _observed("home_as_history", "The home told as dated history", claims, tells_of_it)


def _end_date(case: Case, claims: Iterable[Claim]) -> Observation:
    def ends(claim: Claim) -> bool:
        return case.trip_note in claim.sources and claim.valid_until is not None

    return _observed("end_date", "The end date that was stored on the trip", claims, ends)


def _both_places(case: Case, claims: Iterable[Claim]) -> Observation:
    def names_both(claim: Claim) -> bool:
        stated = case.trip_note in claim.sources and not claim.restatement
        return stated and says(claim.text, case.home) and says(claim.text, case.away)

    return _observed(
        "both_places", "The home and the trip written as one claim", claims, names_both
    )


def _after_move(case: Case, claims: tuple[Claim, ...]) -> list[Observation]:
    moves = {claim.id for claim in claims if case.move_note in claim.sources}

    def from_trip(claim: Claim) -> bool:
        return case.trip_note in claim.sources and not claim.restatement

    def dated_request(claim: Claim) -> bool:
        asked = from_trip(claim) and says_any(claim.text, case.words.request)
        return claim.active and asked and names_a_day(claim.text)

    def past_week(claim: Claim) -> bool:
        return from_trip(claim) and says(claim.text, case.away) and past_tense(claim.text)

    def by_move(claim: Claim) -> bool:
        return not claim.active and claim.retired_by in moves

    def elsewhere(claim: Claim) -> bool:
        about_it = says_any(claim.text, (case.home, case.away)) or case.trip_note in claim.sources
        return by_move(claim) and not about_it

    return [
        _observed("dated_request", "A dated request that still stands", claims, dated_request),
        _observed("past_week", "The week written in the past tense", claims, past_week),
        _observed("retired_by_move", "Retired by the move", claims, by_move),
        _observed(
            "retired_elsewhere",
            "Retired by the move, though it names neither place nor comes from the trip",
            claims,
            elsewhere,
        ),
        _observed(
            "dated_history",
            "Kept as dated history",
            claims,
            lambda claim: claim.active and dated_restatement(claim),
        ),
    ]


def _observed(
    id_: str, title: str, claims: Iterable[Claim], wanted: Callable[[Claim], bool]
) -> Observation:
    found = sorted((claim for claim in claims if wanted(claim)), key=lambda c: (c.text, c.id))
    value: list[JsonValue] = [_brief(claim) for claim in found]
    return Observation(id=id_, title=title, value=value)


def _brief(claim: Claim) -> dict[str, JsonValue]:
    brief: dict[str, JsonValue] = {"id": claim.id, "text": claim.text, "status": claim.status}
    if claim.valid_until is not None:
        brief["valid_until"] = claim.valid_until.isoformat()
    return brief
