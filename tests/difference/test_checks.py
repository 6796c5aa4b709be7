"""Our checks beside theirs, on stores by the thousand."""

import json
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from runner.model import CheckResult
from runner.reports.upstream import parse, rescore, store
from runner.reports.upstream.compare import checks_apart
from runner.reports.upstream.known import KNOWN
from runner.reports.upstream.result import Difference, TripResult
from runner.reports.upstream.schema import SavedEvent, SavedRow, SavedRun
from runner.suites.trip_vs_move import check, load_case
from runner.suites.trip_vs_move.protocol import CONSOLIDATE
from tests.difference import _stores
from tests.difference._theirs import Theirs

pytestmark = [pytest.mark.particles, pytest.mark.timeout(1800)]

STORES = 6_000
BATCH = 500
CASES = {name: load_case(name) for name in _stores.CASES}


def compared(made: _stores.Made, saved: dict[str, Any]) -> tuple[CheckResult, list[Difference]]:
    """Our result of a store, and what of theirs is not the same: check by check, claim by claim."""
    rows = tuple(SavedRow.model_validate(row) for row in made.rows)
    held = store(rows, [SavedEvent.model_validate(event) for event in made.events])
    ours = check(CASES[made.case], made.kind, {CONSOLIDATE: held}, made.version)
    run = SavedRun(variant=made.kind, index=1, passed=saved["pass"], checks=saved, rows=rows)
    return ours, checks_apart(CASES[made.case], run, held, ours)


def test_no_store_is_checked_differently_but_in_known_ways(theirs: Theirs, scale: int) -> None:
    ways: Counter[str] = Counter()
    verdicts: Counter[tuple[str, int, str, bool]] = Counter()
    flipped = 0
    for first in range(0, STORES * scale, BATCH):
        made = [_stores.store(number) for number in range(first, first + BATCH)]
        answers = theirs.ask("checks", [one.asked() for one in made])
        for number, (one, saved) in enumerate(zip(made, answers, strict=True), start=first):
            case = CASES[one.case]
            rows = tuple(SavedRow.model_validate(row) for row in one.rows)
            held = store(rows, [SavedEvent.model_validate(event) for event in one.events])
            ours = check(case, one.kind, {CONSOLIDATE: held}, one.version)
            run = SavedRun(variant=one.kind, index=1, passed=saved["pass"], checks=saved, rows=rows)
            found = checks_apart(case, run, held, ours)
            altered = [difference for difference in found if difference.altered]
            assert not altered, (number, one, altered)
            if ours.passed is not saved["pass"]:
                assert found, (number, one)
                flipped += 1
            ways.update({way for difference in found for way in difference.why.split("; ")})
            verdicts[one.case, one.version, one.kind, ours.passed] += 1
    print(f"\n{theirs.version}: {sum(verdicts.values())} stores, {flipped} verdicts apart: {ways}")
    assert set(ways) == set(KNOWN)
    # Every case, version and kind both passed and failed often enough for this to mean something.
    assert len(verdicts) == 12
    assert min(verdicts.values()) > STORES * scale / 400


def test_stores_without_odd_words_are_checked_alike(theirs: Theirs, scale: int) -> None:
    """Every word at its borders, in any case, with every mark: but for what is known, no check
    comes out apart."""
    for first in range(0, 3_000 * scale, BATCH):
        made = [_stores.store(number, odd=False) for number in range(first, first + BATCH)]
        answers = theirs.ask("checks", [one.asked() for one in made])
        for number, (one, saved) in enumerate(zip(made, answers, strict=True), start=first):
            ours, found = compared(one, saved)
            assert not found, (number, one, found)
            assert ours.passed is saved["pass"], (number, one)


@pytest.mark.parametrize("version", [1, 2])
def test_whole_reports_of_theirs_come_out_again(theirs: Theirs, scale: int, version: int) -> None:
    reports = [_report(number, version) for number in range(150 * scale)]
    bars: Counter[bool | None] = Counter()
    for number, saved in enumerate(
        theirs.ask("trip", [{"report": one, "version": version} for one in reports])
    ):
        result = rescore(parse(json.dumps(saved).encode(), "it"))
        assert isinstance(result, TripResult)
        assert not result.altered, (number, result.differences)
        bar = saved["verdict"]["bar_met"]
        bars[bar] += 1
        if version == 1:
            assert result.verdict.bar_met is None
        elif not result.differences:
            assert result.verdict.bar_met is bar
    assert min(bars[None], bars[False]) > 5


def _report(number: int, version: int) -> dict[str, object]:
    case = "mid-trip" if version == 1 else ("reader", "mid-trip")[number % 2]
    kinds = ["move"] * 3 + ["trip-alone"] * (2 if number % 3 else 1)
    runs = []
    for place, kind in enumerate(kinds):
        made = _stores.store(100_000 + 7 * number + place, of=(case, version))
        runs.append(
            {
                "variant": kind,
                "index": place + 1,
                "passed": None,
                "rows": made.rows,
                "events": made.events,
                "incomplete": "budget" if number % 7 == 0 and place == 1 else None,
                "invalid": "model leak" if number % 11 == 0 and place == 2 else None,
            }
        )
    return {
        "report_version": 2,
        "checks_version": version,
        "sdk_version": "1",
        "run_at": datetime(2026, 10, 14, tzinfo=UTC).isoformat(),
        "case": case,
        "model": "anthropic:m",
        "purposes": {"default": "anthropic:m"},
        "arm": "scripted",
        "fixture": [],
        "runs": runs,
        "verdict": {
            "move_passed": 0,
            "move_runs": 0,
            "trip_alone_passed": 0,
            "trip_alone_runs": 0,
            "bar_met": None,
        },
        "spend": {"estimate_source": "none"},
    }
