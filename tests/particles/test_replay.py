"""Live against a provider, recorded, and replayed without any: the same run each time."""

from pathlib import Path

import pytest

from runner.suites.trip_vs_move import load_case
from tests.particles._provider import KEY, provider, replaying, towards
from tests.particles._run import Installed, run
from tests.particles._same import plain

pytestmark = [pytest.mark.particles, pytest.mark.timeout(600)]


@pytest.mark.parametrize("batches", [False, True])
def test_what_was_recorded_is_replayed(particles: Installed, folder: Path, batches: bool) -> None:
    case = load_case("mid-trip")
    options = {"batches": batches}
    with provider(case) as address:
        live = run(
            particles,
            folder / "live",
            case,
            "move",
            towards(case, address, "live"),
            options=options,
        )
        record = run(
            particles,
            folder / "record",
            case,
            "move",
            towards(case, address, "record"),
            options=options,
        )
    replay = run(
        particles,
        folder / "replay",
        case,
        "move",
        replaying(case, record.recorded),
        options=options,
    )
    assert live.ending is None
    assert all(live.verdicts().values())
    assert KEY not in "".join(entry.model_dump_json() for entry in record.recorded)
    assert batches == any(entry.path == "/v1/messages/batches" for entry in record.recorded)
    for other in (record, replay):
        assert other.ending is None
        assert other.verdicts() == live.verdicts()
        assert other.asked() == live.asked()
        assert other.usage() == live.usage()
        assert plain(other.final) == plain(live.final)
