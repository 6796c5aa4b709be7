"""The first release with both cases, behind the same driver."""

from pathlib import Path

import pytest

from runner.suites.trip_vs_move import KINDS, load_case
from tests.particles._run import DriverBox, Installed, run
from tests.particles._upstream import standing
from tests.particles.test_probe import CHANGES, LIVES, MOVED, OVERLOADED, YES

pytestmark = [pytest.mark.particles, pytest.mark.timeout(600)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["reader", "mid-trip"])
def test_it_passes_what_it_was_published_with(
    older_particles: Installed, folder: Path, name: str, kind: str
) -> None:
    ran = run(older_particles, folder, load_case(name), kind)
    assert ran.ending is None
    assert {call.outcome for call in ran.calls} == {"answered"}
    assert "unattributed" not in {call.purpose for call in ran.calls}
    assert ran.final.unmapped == ()
    assert all(ran.verdicts().values()), ran.results


def test_the_rule_before_it_fails_the_move(older_particles: Installed, folder: Path) -> None:
    options = {"same_slot_admits": False}
    ran = run(older_particles, folder, load_case("reader"), "move", options=options)
    assert set(ran.verdicts().values()) == {False}, ran.results


def test_its_probes_are_asked_alike(older_particles: Installed, folder: Path) -> None:
    with standing() as upstream:
        box = DriverBox(
            older_particles, folder, upstream.port, folder / "clock", {}, {"LD_PRELOAD": ""}
        )
        try:
            assert box.result("describe")["version"] == "1.192.2"
            upstream.answer(YES, CHANGES, CHANGES)
            result = box.result("probe", older=LIVES, newer=MOVED)
            assert (result["contradiction"], result["update"]) == (True, "changes")
            for before in ((), (YES,), (YES, CHANGES)):
                upstream.answer(*before, OVERLOADED)
                reply = box.ask("probe", older=LIVES, newer=MOVED)
                assert reply["error"]["type"] == "provider", reply
        finally:
            box.close()
