"""The verdicts of another harness, from the rows and events that its own reports saved."""

import json
from pathlib import Path
from typing import Any

import pytest

from runner.model import Claim, Event, RestatementExamined, Store, Superseded
from runner.suites.trip_vs_move import check, load_case

REPORTS = Path(__file__).parents[4] / "shared" / "data" / "particles-reports"
NAMES = (
    "scripted-mid-trip",
    "scripted-mid-trip-noslot",
    "scripted-reader",
    "scripted-reader-noslot",
)

pytestmark = pytest.mark.skipif(
    not REPORTS.is_dir(), reason=f"the published sample reports are not at {REPORTS}"
)


def _store(run: dict[str, Any]) -> Store:
    events: list[Event] = []
    winners: dict[str, str] = {}
    for event in run["events"]:
        payload = event["payload"]
        if event["event_type"] == "UPDATE_SUPERSESSION":
            winners[payload["retired_id"]] = payload["winner_id"]
            events.append(
                Superseded(
                    loser=payload["retired_id"],
                    winner=payload["winner_id"],
                    decided_by=payload["decided_by"],
                )
            )
        elif event["event_type"] == "DEPENDENT_CLAIM_EXAMINED":
            restated = payload["outcome"] != "unrestated"
            events.append(
                RestatementExamined(
                    claim=payload.get("claim_id", ""),
                    anchor=payload["retired_id"],
                    retired_by=winners.get(payload["retired_id"], ""),
                    contradicts=payload.get("other_id"),
                    outcome="restated" if restated else "kept_back",
                )
            )
    claims = tuple(
        Claim(
            id=row["id"],
            text=row["content"],
            status=row["status"],
            reason=row["reason"],
            sources=tuple(row["sources"]),
            restatement=row["restatement"],
            retired_by=winners.get(row["id"]),
            valid_until=row["valid_until"][:10] if row["valid_until"] else None,
        )
        for row in run["rows"]
    )
    return Store(claims=claims, events=tuple(events))


@pytest.mark.parametrize("name", NAMES)
def test_every_verdict_and_every_named_claim_is_found_again(name: str) -> None:
    report = json.loads((REPORTS / f"{name}.json").read_text())
    case = load_case(report["case"])
    assert report["checks_version"] == 2
    assert len(report["runs"]) == 5
    for run in report["runs"]:
        stores = {"consolidate": _store(run)}
        result = check(case, run["variant"], stores, 2)
        assert result.passed is run["passed"]
        named: dict[str, set[str]] = {}
        for key, value in run["checks"].items():
            if key not in ("missing", "pass"):
                named.setdefault(key.partition("_")[0], set()).update(value)
        found = {
            check.id: {text.rpartition(" (")[0].strip('"') for text in check.evidence}
            for check in result.checks
        }
        assert found == named
        failing = {check.id for check in result.checks if not check.passed}
        forbidding = {id_ for id_ in ("i", "ii", "iii") if named.get(id_)}
        assert failing == forbidding | {key.partition("_")[0] for key in run["checks"]["missing"]}


@pytest.mark.parametrize("name", NAMES[:2])
def test_version_1_agrees_with_version_2_on_the_mid_trip_samples(name: str) -> None:
    report = json.loads((REPORTS / f"{name}.json").read_text())
    case = load_case("mid-trip")
    for run in report["runs"]:
        stores = {"consolidate": _store(run)}
        assert check(case, run["variant"], stores, 1).passed is run["passed"]
