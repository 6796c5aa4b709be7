"""The checks: what a store has to hold after a run. They read claims and events, nothing else.

A published version never changes; a change of mind is a new version.

* **1** (mid-trip only) scored the first mid-trip results: narrower words, and nothing demanded of
  a move run but that old things are gone.
* **2** scores both cases, with the words of the case file.
* **3** is version 2, and a move run in which the home was never known before the move fails as
  vacuous: where nothing was stored, nothing was given up.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from runner.errors import BenchError, UsageError
from runner.model import Check, CheckResult, Claim, Ending, Outcome, RestatementExamined, Store
from runner.suites.trip_vs_move.case import Case
from runner.suites.trip_vs_move.protocol import CONSOLIDATE, KINDS, MOVE, step_before_move
from runner.suites.trip_vs_move.text import dated_restatement, says, says_any

VERSIONS = (1, 2, 3)
VACUOUS = "vacuous"

V1_RESIDENCE = ("live", "lives", "home")
V1_FLIGHT = ("fly", "flies", "flying", "flight")
V1_RESIDENCE_OR_FLIGHT = (*V1_RESIDENCE, "flat", *V1_FLIGHT, "back to")
V1_TRIP = ("for a week", "work trip")


class StoreMissing(BenchError):
    """A check needs the store at a step at which it was not read."""

    exit_code = 7


def check(case: Case, kind: str, stores: Mapping[str, Store], version: int) -> CheckResult:
    """Check one run.

    Args:
        case: what the run deposited.
        kind: ``move`` or ``trip-alone``.
        stores: what the store held, by the name of the step after which it was read. Versions 1
            and 2 read the store after the last step; version 3 of a move run also the one before
            the move.
        version: of the checks.

    Raises:
        UsageError: the version is not defined for the case, or there is no such kind.
        StoreMissing: a store that the version reads is not there.
    """
    if version not in case.checks_versions:
        known = ", ".join(str(known) for known in case.checks_versions)
        raise UsageError(
            f"Checks version {version} is not defined for the case {case.name}.",
            hint=f"Versions of this case: {known}.",
        )
    if kind not in KINDS:
        raise UsageError(f"There is no kind of run {kind!r}.", hint=f"Kinds: {', '.join(KINDS)}.")
    final = _store(stores, CONSOLIDATE)
    if kind != MOVE:
        checks = _trip_alone_v1(case, final) if version == 1 else _trip_alone_v2(case, final)
        return _result(version, checks)
    if version == 1:
        return _result(version, _move_v1(case, final))
    checks = _move_v2(case, final)
    if version == 2:
        return _result(version, checks)
    known_before = _home_known(case, _store(stores, step_before_move(case)))
    reason = None if known_before.passed else VACUOUS
    return _result(version, (known_before, *checks), reason)


def check_all(case: Case, kind: str, stores: Mapping[str, Store]) -> tuple[CheckResult, ...]:
    """Check one run under every version that is defined for the case, oldest first."""
    return tuple(check(case, kind, stores, version) for version in case.checks_versions)


def ending(results: Sequence[CheckResult], version: int | None = None) -> Ending:
    """How a run that came to its end turned out, under one version of the checks.

    Args:
        results: the run's results, one a version.
        version: which one counts; the newest when left out.

    Raises:
        KeyError: there is no result of that version.
    """
    by_version = {result.version: result for result in results}
    result = by_version[max(by_version) if version is None else version]
    failed = [check for check in result.checks if not check.passed]
    detail = "; ".join(f"({check.id}) {check.title}" for check in failed)
    outcome = Outcome.PASSED if result.passed else Outcome.FAILED
    return Ending(outcome=outcome, kind=result.reason or "checks", detail=detail)


# ---------------------------------------------------------------- version 1


def _move_v1(case: Case, store: Store) -> tuple[Check, ...]:
    def breaks_i(claim: Claim) -> bool:
        if claim.restatement:
            return says_any(claim.text, V1_FLIGHT) and not dated_restatement(claim)
        return says(claim.text, case.home) and says_any(claim.text, V1_RESIDENCE_OR_FLIGHT)

    def breaks_iii(claim: Claim) -> bool:
        from_trip = not claim.restatement and case.trip_note in claim.sources
        return from_trip and says_any(claim.text, V1_TRIP)

    return (
        _forbids("i", f"No current home or flight in {case.home}", _active(store), breaks_i),
        _restatements(store),
        _forbids("iii", "The week does not read as current", _active(store), breaks_iii),
    )


def _trip_alone_v1(case: Case, store: Store) -> tuple[Check, ...]:
    def satisfies(claim: Claim) -> bool:
        from_home = case.home_note in claim.sources and says(claim.text, case.home)
        return from_home and says_any(claim.text, V1_RESIDENCE)

    return (_demands("a", f"The home stays in {case.home}", _active(store), satisfies),)


# ---------------------------------------------------------------- version 2


def _move_v2(case: Case, store: Store) -> tuple[Check, ...]:
    home_words = (*case.words.residence, *case.words.flight)

    def breaks_i(claim: Claim) -> bool:
        names_it = says(claim.text, case.home) and says_any(claim.text, home_words)
        return names_it and not dated_restatement(claim)

    def breaks_iii(claim: Claim) -> bool:
        reads_as_stay = case.trip_note in claim.sources and says_any(claim.text, case.words.trip)
        return reads_as_stay and not dated_restatement(claim) and not _over(case, claim)

    def satisfies_iv(claim: Claim) -> bool:
        return case.move_note in claim.sources and says(claim.text, case.away)

    active = _active(store)
    return (
        _forbids("i", f"No current home or flight in {case.home}", active, breaks_i),
        _restatements(store),
        _forbids("iii", "The week does not read as current", active, breaks_iii),
        _demands("iv", f"The move to {case.away} is kept", active, satisfies_iv),
    )


def _trip_alone_v2(case: Case, store: Store) -> tuple[Check, ...]:
    def satisfies_b(claim: Claim) -> bool:
        from_trip = not claim.restatement and case.trip_note in claim.sources
        return from_trip and says(claim.text, case.away)

    active = _active(store)
    return (
        _demands("a", f"The home stays in {case.home}", active, lambda c: _states_home(case, c)),
        _demands("b", f"The trip to {case.away} is current", active, satisfies_b),
    )


def _over(case: Case, claim: Claim) -> bool:
    """Whether the claim's own end date ends it by the move, where the case lets that count."""
    ended = claim.valid_until is not None and claim.valid_until <= case.move_day
    return case.end_date_counts and ended


def _states_home(case: Case, claim: Claim) -> bool:
    from_home = case.home_note in claim.sources and says(claim.text, case.home)
    return from_home and says_any(claim.text, case.words.residence)


# ---------------------------------------------------------------- version 3


def _home_known(case: Case, before: Store) -> Check:
    title = f"Before the move, the home in {case.home} was known"
    return _demands("known", title, _active(before), lambda claim: _states_home(case, claim))


# ---------------------------------------------------------------- shared


def _restatements(store: Store) -> Check:
    """Check ii of every version: nothing rewritten as history is lost or held by the winner."""
    idle = [claim for claim in store.claims if claim.restatement and not claim.active]
    held = [
        f"kept back: {event.claim}, for contradicting {event.contradicts}"
        for event in store.events
        if isinstance(event, RestatementExamined)
        and event.outcome == "kept_back"
        and event.contradicts == event.retired_by
    ]
    return Check(
        id="ii",
        title="Every restatement stands, and none is held back by what retired its anchor",
        passed=not (idle or held),
        evidence=(*_evidence(idle), *sorted(held)),
    )


def _forbids(
    id_: str, title: str, claims: Iterable[Claim], breaks: Callable[[Claim], bool]
) -> Check:
    found = [claim for claim in claims if breaks(claim)]
    return Check(id=id_, title=title, passed=not found, evidence=_evidence(found))


def _demands(
    id_: str, title: str, claims: Iterable[Claim], satisfies: Callable[[Claim], bool]
) -> Check:
    found = [claim for claim in claims if satisfies(claim)]
    return Check(id=id_, title=title, passed=bool(found), evidence=_evidence(found))


def _evidence(claims: Iterable[Claim]) -> tuple[str, ...]:
    ordered = sorted((claim.text, claim.id) for claim in claims)
    return tuple(f'"{text}" ({id_})' for text, id_ in ordered)


def _active(store: Store) -> tuple[Claim, ...]:
    return tuple(claim for claim in store.claims if claim.active)


def _store(stores: Mapping[str, Store], step: str) -> Store:
    if step not in stores:
        raise StoreMissing(
            f"The store after step {step!r} is not there, and the checks read it.",
            hint="Such a run is incomplete: it has no verdict.",
        )
    return stores[step]


def _result(version: int, checks: tuple[Check, ...], reason: str | None = None) -> CheckResult:
    passed = all(check.passed for check in checks)
    return CheckResult(version=version, passed=passed, reason=reason, checks=checks)
