"""Both cases on linkedparticles itself, air-gapped and scripted, under our checks."""

from datetime import date
from pathlib import Path

import pytest

from runner.model import OtherEvent
from runner.suites.trip_vs_move import KINDS, load_case
from tests.particles._run import CommandBox, Installed, run
from tests.particles._same import plain

pytestmark = [pytest.mark.particles, pytest.mark.timeout(600)]

RUNS = [
    (name, variant)
    for name in ("reader", "mid-trip")
    for variant in (None, *load_case(name).variants)
]


@pytest.mark.parametrize(("name", "variant"), RUNS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_production_rule_passes(
    particles: Installed, folder: Path, name: str, variant: str | None, kind: str
) -> None:
    ran = run(particles, folder, load_case(name, variant), kind)
    assert ran.ending is None
    assert {call.outcome for call in ran.calls} == {"answered"}
    assert "unattributed" not in {call.purpose for call in ran.calls}
    assert ran.final.unmapped == ()
    assert all(ran.verdicts().values()), ran.results


@pytest.mark.parametrize(("name", "variant"), RUNS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_rule_before_it_fails_the_move_and_only_the_move(
    particles: Installed, folder: Path, name: str, variant: str | None, kind: str
) -> None:
    options = {"same_slot_admits": False}
    ran = run(particles, folder, load_case(name, variant), kind, options=options)
    assert ran.ending is None
    assert set(ran.verdicts().values()) == {kind != "move"}, ran.results
    assert not [claim for claim in ran.final.claims if claim.reason == "SUPERSEDED_BY_UPDATE"]


@pytest.mark.parametrize("name", ["reader", "mid-trip"])
def test_its_own_commands_come_to_the_same_store(
    particles: Installed, folder: Path, name: str
) -> None:
    case = load_case(name)
    driven = run(particles, folder / "driven", case, "move")
    typed = run(particles, folder / "typed", case, "move", box=CommandBox)
    assert typed.asked() == driven.asked()
    assert plain(typed.final) == plain(driven.final)
    assert typed.results[-1].passed


def test_what_leaned_on_the_old_home_is_kept_as_history(particles: Installed, folder: Path) -> None:
    case = load_case("mid-trip")
    store = run(particles, folder, case, "move").final
    claims = {claim.id: claim for claim in store.claims}
    history = [claim for claim in claims.values() if claim.restatement]
    assert {str(claim.anchor and claims[claim.anchor].text) for claim in history} == {
        "The user lives in Lajpat Nagar, Delhi.",
        "The user is in Mumbai for a week for work, from 2026-10-08.",
    }
    for claim in claims.values():
        if claim.reason == "SUPERSEDED_BY_REANCHOR":
            assert claim.retired_by in {each.id for each in history}
        elif claim.reason == "SUPERSEDED_BY_UPDATE":
            assert claim.retired_by is not None
            assert claims[claim.retired_by].sources == ("session-12-moved.md",)


@pytest.mark.parametrize(("clock", "end"), [("note", date(2026, 9, 8)), ("2026-10-14", None)])
def test_the_week_ends_where_the_day_of_the_note_is_seen(
    particles: Installed, folder: Path, clock: str, end: date | None
) -> None:
    ran = run(particles, folder, load_case("reader"), "trip-alone", clock=clock)
    (week,) = [claim for claim in ran.final.claims if "for a week" in claim.text]
    assert week.valid_until == end
    asserted = {claim.asserted_at and claim.asserted_at.date() for claim in ran.final.claims}
    assert asserted == {date(2026, 9, 1) if clock == "note" else date.fromisoformat(clock)}
    assert [event for event in ran.final.events if isinstance(event, OtherEvent)]
