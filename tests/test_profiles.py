"""Usage that was measured here, and the estimates it makes."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from runner import profiles
from runner.errors import UsageError
from runner.estimate import estimate
from runner.model import Outcome, RunRecord
from runner.runs.keep import Keep
from runner.runs.run import Attempt
from runner.runs.watch import Unwatched
from tests.runs._memory import MemorySandbox
from tests.runs._protocols import MODEL, PRICES, jobs_of


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[RunRecord]:
    """A run of each kind, on the engine's own code."""
    sandbox = MemorySandbox(tmp_path_factory.mktemp("runs"))
    made = jobs_of(runs={"move": 1, "trip-alone": 1})
    return [Attempt(job, sandbox, watch=Unwatched(), keep=Keep(None)).run() for job in made]


def saved(path: Path, runs: list[RunRecord], system: str = "engine") -> Path:
    profiles.save(path, system, profiles.measure(system, runs, PRICES.name_of))
    return path


def seen(path: Path, model: str = MODEL, **fields: Any) -> Any:
    wanted = {"move": 1, "trip-alone": 1}
    return estimate("reader", model, wanted, system="engine", own_file=path, **fields)


def test_what_was_measured_is_what_is_estimated(tmp_path: Path, runs: list[RunRecord]) -> None:
    found = seen(saved(tmp_path / "state" / "profiles.json", runs))
    assert found.expected_usd == sum((run.cost_usd for run in runs), Decimal(0))
    assert found.calls == sum(len(run.calls) for run in runs)
    assert found.bound_usd is None
    assert found.notes == ()
    assert "runs on this machine" in found.source


def test_what_was_never_measured_has_an_upper_bound(tmp_path: Path) -> None:
    found = seen(tmp_path / "none.json")
    assert found.bound_usd > found.expected_usd
    assert "published runs" in found.source
    particles = estimate("reader", MODEL, {"move": 1}, system="particles")
    assert particles.bound_usd is None
    other = estimate("reader", "claude-opus-5", {"move": 1}, system="particles")
    assert other.bound_usd is not None
    assert other.bound_usd > other.expected_usd


@pytest.mark.parametrize(
    ("case", "model", "system"),
    [
        ("mid-trip", MODEL, "engine"),
        ("reader", "claude-sonnet-4-6", "engine"),
        ("reader", "claude-opus-5", "particles"),
    ],
)
def test_a_profile_is_of_its_system_case_and_model(
    case: str, model: str, system: str, tmp_path: Path, runs: list[RunRecord]
) -> None:
    path = saved(tmp_path / "profiles.json", runs)
    found = estimate(case, model, {"move": 1}, system=system, own_file=path)
    assert found.bound_usd is not None
    assert "published runs" in found.source


def test_a_dated_name_finds_the_profile_of_its_model(tmp_path: Path, runs: list[RunRecord]) -> None:
    assert seen(saved(tmp_path / "p.json", runs), f"{MODEL}-20260901").bound_usd is None


def test_a_kind_that_was_not_measured_is_no_measurement(
    tmp_path: Path, runs: list[RunRecord]
) -> None:
    path = saved(tmp_path / "p.json", runs[:1])
    assert seen(path).bound_usd is not None
    assert estimate("reader", MODEL, {"move": 3}, system="engine", own_file=path).bound_usd is None


def test_the_dearest_run_counts_and_a_newer_measurement_takes_the_place_of_an_older(
    tmp_path: Path, runs: list[RunRecord]
) -> None:
    path = tmp_path / "p.json"
    dear = runs[0].model_copy(update={"cost_usd": Decimal(9)})
    saved(path, [runs[0], dear])
    measured = profiles.own(path, "engine")
    assert measured is not None
    assert measured.profile[0].run_usd.high == 9
    saved(path, runs)
    measured = profiles.own(path, "engine")
    assert measured is not None
    assert [row.kind for row in measured.profile] == ["move", "trip-alone"]
    assert measured.profile[0].run_usd.high == runs[0].cost_usd


def test_only_runs_with_a_verdict_on_one_model_are_a_measure(runs: list[RunRecord]) -> None:
    ended = runs[0].ending.model_copy(update={"outcome": Outcome.INCOMPLETE})
    cut = runs[0].model_copy(update={"ending": ended})
    pinned = runs[0].model_copy(
        update={"spec": runs[0].spec.model_copy(update={"pins": {"update": "claude-opus-5"}})}
    )
    assert profiles.measure("engine", [cut, pinned], PRICES.name_of) == ()
    assert profiles.measure("particles", runs, PRICES.name_of) == ()


def test_systems_lie_side_by_side(tmp_path: Path, runs: list[RunRecord]) -> None:
    path = saved(tmp_path / "p.json", runs)
    profiles.save(path, "other", ())
    assert profiles.own(path, "engine") is not None
    assert profiles.own(path, "none") is None


def test_a_file_that_is_none_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text("{")
    with pytest.raises(UsageError, match="cannot be used"):
        seen(path)
    with pytest.raises(UsageError, match="cannot be used"):
        profiles.save(path, "engine", ())
    assert path.read_text() == "{"
    with pytest.raises(UsageError, match="cannot be"):
        profiles.save(tmp_path / "p.json" / "below.json", "engine", ())
