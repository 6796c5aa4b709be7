"""Reports as linkedparticles writes them, small and by hand."""

import copy
import json
import re
from pathlib import Path
from typing import Any

from runner.published import digests

MODEL = "anthropic:claude-sonnet-5-5"
HOME = "The user lives in Delhi."
WEEK = "The user is in Mumbai for a week, as of 2026-09-01."
MOVED = "The user moved to Mumbai."
WALK = "The canteen was a short walk from the flat in Delhi, as of 2026-09-04."


def row(id_: str, content: str, source: str, **more: Any) -> dict[str, Any]:
    return {
        "id": id_,
        "content": content,
        "status": "ACTIVE",
        "reason": None,
        "sources": [source],
        "restatement": False,
        "valid_from": None,
        "valid_until": None,
        "valid_kind": None,
        **more,
    }


def superseded(loser: str, winner: str) -> dict[str, Any]:
    said = {"retired_id": loser, "winner_id": winner, "route": "ladder", "decided_by": "second@1"}
    return {"event_type": "UPDATE_SUPERSESSION", "payload": said}


def examined(claim: str, anchor: str, outcome: str, **more: Any) -> dict[str, Any]:
    said = {"particle_id": claim, "retired_id": anchor, "outcome": outcome, **more}
    return {"event_type": "DEPENDENT_CLAIM_EXAMINED", "payload": said}


GONE = {"status": "PROVENANCE_STALE", "reason": "SUPERSEDED_BY_UPDATE"}


def move(index: int, **more: Any) -> dict[str, Any]:
    """A move run of the reader's case that passed."""
    return {
        "variant": "move",
        "index": index,
        "passed": True,
        "checks": {
            "i_delhi_residence_or_flight": [],
            "i_restatement_shape": [],
            "ii_held_by_winner": [],
            "ii_restatements_not_active": [],
            "iii_trip_current": [],
            "iv_move_kept": [MOVED],
            "missing": [],
            "pass": True,
        },
        "incomplete": None,
        "invalid": None,
        "usage": usage(),
        "rows": [
            row("h", HOME, "reader-01.md", **GONE),
            row("w", WEEK, "reader-01.md", **GONE),
            row("m", MOVED, "reader-02-moved.md"),
        ],
        "events": [superseded("h", "m"), superseded("w", "m")],
        "refused_calls": {},
        **more,
    }


def alone(index: int, **more: Any) -> dict[str, Any]:
    """A trip-alone run of the reader's case that passed."""
    return {
        **move(index),
        "variant": "trip-alone",
        "checks": {
            "a_home_in_delhi": [HOME],
            "b_trip_current": [WEEK],
            "missing": [],
            "pass": True,
        },
        "rows": [row("h", HOME, "reader-01.md"), row("w", WEEK, "reader-01.md")],
        "events": [],
        **more,
    }


def usage(model: str = MODEL, usd: float = 0.0421) -> dict[str, Any]:
    provider, _, name = model.partition(":")
    made = {"purpose": "extraction", "provider": provider, "model": name, "batched": False}
    tokens = {"input_tokens": 6553, "output_tokens": 2547, "cache_read_tokens": 5736}
    return {"rows": [{**made, "calls": 3, **tokens, "cost_usd": usd}], "cost_usd": usd}


def trip(*runs: dict[str, Any], case: str = "reader", **more: Any) -> dict[str, Any]:
    """A whole report; its counts are those of what its runs say."""
    made = list(runs) or [*(move(index) for index in (1, 2, 3)), alone(1), alone(2)]
    notes = {"reader": ("reader-01.md", "reader-02-moved.md")}.get(
        case, ("session-04.md", "session-11.md", "session-12-moved.md")
    )
    by_kind = {
        kind: [run["passed"] for run in made if run["variant"] == kind]
        for kind in ("move", "trip-alone")
    }
    whole = [len(by_kind["move"]), len(by_kind["trip-alone"])] == [3, 2]
    told = whole and all(run["passed"] is not None for run in made)
    costs = [run["usage"]["cost_usd"] for run in made if run["usage"]]
    return {
        "suite": "trip-vs-move",
        "report_version": 2,
        "checks_version": 2,
        "sdk_version": "1.191.0",
        "run_at": "2026-10-14T10:00:00.123456Z",
        "case": case,
        "model": MODEL,
        "purposes": {"default": MODEL, "extraction": MODEL, "semantic_lint": MODEL},
        "mixed": False,
        "same_slot_admits": True,
        "arm": "live",
        "fixture": [{"name": name, "sha256": digests()[name]} for name in notes],
        "runs": made,
        "verdict": {
            "move_passed": sum(map(bool, by_kind["move"])),
            "move_runs": len(by_kind["move"]),
            "trip_alone_passed": sum(map(bool, by_kind["trip-alone"])),
            "trip_alone_runs": len(by_kind["trip-alone"]),
            "bar_met": all(run["passed"] for run in made) if told else None,
        },
        "spend": {
            "estimate_source": "profile",
            "estimate_usd": 0.25,
            "cost_usd": None if None in costs else sum(costs),
            "priced_cost_usd": 0.2,
            "unpriced": [],
        },
        "notes": [],
        **more,
    }


def pair(
    id_: str, expected: str, samples: str, older: str = "The user lives in Pune.", **more: Any
) -> dict[str, Any]:
    """One pair; its samples as letters: C changes and contradicts, c changes alone, y contradicts
    alone, n neither, ? no verdict of the contradiction probe, ! none of the update probe."""
    told = {
        "C": (True, "changes"),
        "c": (False, "changes"),
        "y": (True, "different"),
        "n": (False, "fixed"),
        "?": (None, "changes"),
        "!": (True, None),
    }
    return {
        "id": id_,
        "class": "dated-update",
        "expected": expected,
        "older": older,
        "newer": "The user moved to Oslo.",
        "samples": [{"contradiction": told[one][0], "slot": told[one][1]} for one in samples],
        **more,
    }


def tally(updates: str, controls: str, missed: str = "", retired: str = "") -> dict[str, Any]:
    """One rule's tally, such as ``tally("1/2", "0/6", missed="u2")``; its bar is that of a set that
    is not held out."""
    hits, of = map(int, updates.split("/"))
    wrong, samples = map(int, controls.split("/"))
    return {
        "positives_retired": hits,
        "positives": of,
        "positive_misses": missed.split(),
        "control_retirements": wrong,
        "control_samples": samples,
        "control_rows_retired": retired.split(),
        "ok": hits == of and not wrong,
    }


SOUND = [
    pair("u1", "changes", "CCc"),
    pair("u2", "changes", "cCC"),
    pair("k1", "not_changes", "nyn"),
]
"""Two updates and a control, all as labelled under every rule."""


def bars(
    production: dict[str, Any],
    changes_only: dict[str, Any] | None = None,
    before: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    return {
        "gates": {
            "production": production,
            "changes-only": copy.deepcopy(changes_only or production),
            "before-1.187": copy.deepcopy(before or production),
        },
        "bar": production["ok"],
        "regression": True,
        "controls_added_by_production": [],
        "reported": {},
        **more,
    }


def gate(samples: int = 3, **sets: dict[str, Any]) -> dict[str, Any]:
    """A whole report; a set is named with an underscore for its dash."""
    made = {name.replace("_", "-"): one for name, one in sets.items()}
    made = made or {"gate": {"rows": SOUND, "bars": bars(tally("2/2", "0/3"))}}
    files = {
        "gate": "gate_pairs.json",
        "gate-heldout": "gate_pairs_heldout.json",
        "past": "past_value_pairs.json",
        "past-marker": "past_marker_heldout.json",
    }
    return {
        "suite": "update-gate",
        "report_version": 1,
        "sdk_version": "1.190.0",
        "run_at": "2026-10-13T10:00:00Z",
        "model": MODEL,
        "samples_per_pair": samples,
        "fixture": [{"name": files[name], "sha256": digests()[files[name]]} for name in made],
        "sets": made,
        "spend": {"estimate_source": "bound", "cost_usd": 1.75},
        "notes": [],
    }


def changed(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with one field set, such as ``runs.0.rows.2.status``; removed where the value is
    ``...``."""
    made = copy.deepcopy(document)
    *way, last = re.split(r"\.(?!187)", path)  # the name of a rule has a dot
    at: Any = made
    for part in way:
        at = at[int(part)] if isinstance(at, list) else at[part]
    key: Any = int(last) if isinstance(at, list) else last
    if value is ...:
        del at[key]
    else:
        at[key] = value
    return made


def written(folder: Path, document: object) -> Path:
    path = folder / "report.json"
    path.write_text(json.dumps(document))
    return path
