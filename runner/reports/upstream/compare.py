"""What their report of trip versus move says, beside what comes out of its own rows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal

from pydantic import JsonValue

from runner.model import CheckResult, Store
from runner.reports.upstream.known import apart
from runner.reports.upstream.result import Difference
from runner.reports.upstream.schema import SavedRun, SavedVerdict, TripUpstream
from runner.suites.trip_vs_move import BAR, MOVE, TRIP_ALONE, Case, Verdict

MIXTURE = "a mixture of models has no bar here"
NO_VERDICT = "a run that failed decides the bar here, whatever became of the others"
VERSION_1 = "checks version 1 has no bar here"
REFUSED = "a run whose table lacks an answer is invalid here"

_CENT = Decimal("0.000001")
"""US dollars that sums of floating-point numbers may be apart."""


def checks_apart(
    case: Case, saved: SavedRun, held: Store, verified: CheckResult
) -> list[Difference]:
    """Check by check: the claims that are named, and whether it holds."""
    where = f"{saved.variant} {saved.index}"
    if not saved.checks and saved.passed is None:
        return []  # a run that never got so far as its checks
    texts = {f'"{claim.text}" ({claim.id})': claim.text for claim in held.claims}
    found = []
    for check in verified.checks:
        theirs = _named(saved.checks, check.id)
        ours = sorted(texts.get(line, "kept back") for line in check.evidence)
        if theirs != ours:
            only = (Counter(theirs) - Counter(ours)) + (Counter(ours) - Counter(theirs))
            why = _ways(case, held, set(only))
            found.append(_plain(where, f"check {check.id}", _list(theirs), _list(ours), why))
    demanded = sorted(c.id for c in verified.checks if c.id in ("a", "b", "iv") and not c.passed)
    missing = sorted(_id(name) for name in _strings(saved.checks.get("missing")))
    if verified.version == 1:  # which has no such list
        demanded = []
    if missing != demanded:
        found.append(_follows(where, "found nothing for", missing, demanded, found))
    if saved.checks.get("pass") != verified.passed:
        told = [str(saved.checks.get("pass"))]
        found.append(_follows(where, "checks.pass", told, [str(verified.passed)], found))
    return found


def run_apart(
    report: TripUpstream, saved: SavedRun, verified: CheckResult | None, checks: list[Difference]
) -> list[Difference]:
    """The verdict of one run, and what has to go with it."""
    where = f"{saved.variant} {saved.index}"
    found = []
    uncounted = saved.uncounted
    expected = None if uncounted else saved.passed if verified is None else verified.passed
    if saved.passed is None and not uncounted and verified is None:
        found.append(_plain(where, "passed", "nothing", "a verdict, as it is complete and valid"))
    elif saved.passed != expected:
        why = _why(checks) if saved.passed is not None and not uncounted else ""
        found.append(_plain(where, "passed", _yes(saved.passed), _yes(expected), why))
    if not uncounted and (refused := sum(saved.refused_calls.values())):
        computed = f"invalid: {refused} calls were refused"
        found.append(_plain(where, "outcome", _yes(saved.passed), computed, REFUSED))
    if report.arm == "live" and saved.invalid is None and (leak := _leak(report, saved)):
        found.append(_plain(where, "invalid", "no", leak))
    return found


def verdict_apart(
    report: TripUpstream, passed: Sequence[bool | None], ours: Verdict | None
) -> list[Difference]:
    """The counts and the bar, by their rule; and where ours decides the bar otherwise."""
    by_kind = {
        kind: [one for one, run in zip(passed, report.runs, strict=True) if run.variant == kind]
        for kind in (MOVE, TRIP_ALONE)
    }
    computed = SavedVerdict(
        move_passed=sum(map(bool, by_kind[MOVE])),
        move_runs=len(by_kind[MOVE]),
        trip_alone_passed=sum(map(bool, by_kind[TRIP_ALONE])),
        trip_alone_runs=len(by_kind[TRIP_ALONE]),
        bar_met=_their_bar(by_kind),
    )
    saved = report.verdict
    found = [
        _plain("verdict", name, _yes(getattr(saved, name)), _yes(getattr(computed, name)))
        for name in SavedVerdict.model_fields
        if getattr(saved, name) != getattr(computed, name)
    ]
    mixed = any(model != report.model for model in report.purposes.values())
    if report.mixed != mixed:
        found.append(_plain("report", "mixed", _yes(report.mixed), _yes(mixed)))
    if ours is not None and ours.bar_met != computed.bar_met and not found:
        theirs, here = _yes(computed.bar_met), _yes(ours.bar_met)
        found.append(_plain("verdict", "bar here", theirs, here, _bar_why(report, ours)))
    return found


def spend_apart(report: TripUpstream) -> list[Difference]:
    """The cost, as the sum of its runs'."""
    if report.arm != "live" or report.spend.cost_usd is None:
        return []
    costs = [run.usage.cost_usd for run in report.runs if run.usage is not None]
    if any(cost is None for cost in costs):
        return [_plain("spend", "cost_usd", str(report.spend.cost_usd), "not told by every run")]
    total = sum((Decimal(str(cost)) for cost in costs), Decimal(0))
    if abs(total - Decimal(str(report.spend.cost_usd))) <= _CENT:
        return []
    return [_plain("spend", "cost_usd", str(report.spend.cost_usd), str(total))]


def _their_bar(by_kind: Mapping[str, Sequence[bool | None]]) -> bool | None:
    if any(len(by_kind[kind]) != count for kind, count in BAR.items()):
        return None
    every = [one for runs in by_kind.values() for one in runs]
    return None if None in every else all(every)


def _bar_why(report: TripUpstream, ours: Verdict) -> str:
    if ours.mixture:
        return MIXTURE
    if ours.checks_version == 1:
        return VERSION_1
    if any(sum(run.refused_calls.values()) for run in report.runs):
        return REFUSED
    if ours.bar_met is False and any(run.passed is None for run in report.runs):
        return NO_VERDICT
    # Left are runs that a check reads differently, each told of where it is.
    return "its runs came out otherwise"


def _leak(report: TripUpstream, saved: SavedRun) -> str:
    for row in () if saved.usage is None else saved.usage.rows:
        served = f"{row.provider}:{row.model}"
        pinned = report.purposes.get(row.purpose)
        if served != pinned if pinned else served not in report.purposes.values():
            return f"{row.purpose} ran on {served}"
    return ""


def _named(checks: Mapping[str, JsonValue], id_: str) -> list[str]:
    """The claims that the saved checks of that id name; what was kept back by one word."""
    texts: list[str] = []
    for key, value in checks.items():
        if key in ("missing", "pass") or _id(key) != id_:
            continue
        if key == "ii_held_by_winner":
            texts += ["kept back"] * (len(value) if isinstance(value, list) else 0)
        else:
            texts += _strings(value)
    return sorted(texts)


def _id(key: str) -> str:
    return "a" if key == "residence_claims" else key.partition("_")[0]


def _strings(value: JsonValue) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


def _ways(case: Case, held: Store, texts: set[str]) -> str:
    """The known ways in which the two read these claims differently; empty where for one of them
    there is none."""
    ways: dict[str, dict[str, None]] = {text: {} for text in texts}
    for claim in held.claims:
        if claim.text in ways:
            ways[claim.text].update(dict.fromkeys(apart(case, claim)))
    every = dict.fromkeys(way for found in ways.values() for way in found)
    return "; ".join(every) if all(ways.values()) else ""


def _follows(
    where: str, what: str, saved: list[str], computed: list[str], found: list[Difference]
) -> Difference:
    """A difference that has to follow from those found before, and is explained as they are."""
    return _plain(where, what, _list(saved), _list(computed), _why(found))


def _why(found: Sequence[Difference]) -> str:
    if any(one.altered for one in found):
        return ""
    return "; ".join(dict.fromkeys(one.why for one in found))


def _plain(where: str, what: str, saved: str, computed: str, why: str = "") -> Difference:
    return Difference(where=where, what=what, saved=saved, computed=computed, why=why)


def _list(texts: Sequence[str]) -> str:
    return "; ".join(texts) or "nothing"


def _yes(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "nothing" if value is None else str(value)
