"""Both cases on linkedparticles' own processes, air-gapped, under our checks."""

from pathlib import Path

import pytest

from runner.suites.trip_vs_move import KINDS, load_case
from tests.particles._run import Installed, run

pytestmark = [pytest.mark.particles, pytest.mark.timeout(600)]


@pytest.mark.parametrize("name", ["reader", "mid-trip"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_production_rule_passes(
    particles: Installed, tmp_path: Path, name: str, kind: str
) -> None:
    case = load_case(name)
    ran = run(particles, tmp_path, case, kind)
    assert ran.ending is None
    assert {call.outcome for call in ran.calls} == {"answered"}
    assert ran.final.unmapped == ()
    assert all(ran.verdicts().values()), ran.results
