import hashlib
from decimal import Decimal
from typing import Any

import orjson
import pytest

from runner.errors import UsageError
from runner.faults import load_fault
from runner.gateway.config import GatewayConfig
from runner.runs.clock import Clock
from runner.runs.plan import specs, tables
from runner.runs.protocol import check
from runner.suites.trip_vs_move import load_case
from tests.runs._protocols import MODEL, PRICES, jobs_of, protocol

FAULT = load_fault("keeps-the-flight")


def test_every_run_once_in_the_order_of_the_report() -> None:
    ids = [spec.id for spec in specs(protocol())]
    assert ids == [
        "reader-move-1",
        "reader-move-2",
        "reader-move-3",
        "reader-trip-alone-1",
        "reader-trip-alone-2",
    ]


def test_ids_of_cases_variants_and_faults_never_meet() -> None:
    first = protocol("mid-trip")
    asked = [
        protocol(),
        first,
        protocol("mid-trip", fault=FAULT),
        *(protocol("mid-trip", variant=name) for name in load_case("mid-trip").variants),
    ]
    ids = [spec.id for one in asked for spec in specs(one)]
    assert len(ids) == len(set(ids)) == 5 * len(asked)


def test_a_spec_says_everything_that_was_asked() -> None:
    asked = protocol(
        "mid-trip",
        pins={"update": "claude-haiku-4-5"},
        options={"same_slot_admits": False},
        clock=Clock("2026-10-13"),
        max_usd=Decimal("0.5"),
        ceiling="measured",
        step_deadline_s=7.0,
        fault=FAULT,
    )
    for spec in specs(asked):
        assert spec.case == "mid-trip"
        assert spec.pins == {"update": "claude-haiku-4-5"}
        assert spec.options == {"same_slot_admits": False}
        assert spec.clock == "2026-10-13"
        assert (spec.max_usd, spec.ceiling) == (Decimal("0.5"), "measured")
        assert spec.step_deadline_s == 7.0
        assert spec.fault == FAULT.name


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"runs": {"move": 0, "trip-alone": 0}}, "Zero runs"),
        ({"runs": {}}, "Zero runs"),
        ({"runs": {"move": -1, "trip-alone": 2}}, "negative"),
        ({"pins": {"updating": MODEL}}, "no purpose updating"),
        ({"pins": {"update": "no-such-model"}}, "No price"),
        ({"model": "no-such-model"}, "No price"),
        ({"fault": FAULT}, "cannot occur"),
        ({"max_usd": Decimal(0)}, "--max-usd"),
        ({"max_usd": Decimal("nan")}, "--max-usd"),
        ({"max_usd": Decimal("inf")}, "--max-usd"),
        ({"step_deadline_s": float("nan")}, "--step-deadline"),
        ({"step_deadline_s": float("inf")}, "--step-deadline"),
        ({"options": {"no_such_option": True}}, "no option"),
    ],
)
def test_what_cannot_be_run_is_refused(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        check(protocol(**fields), PRICES)


def test_what_can_be_run_is_not() -> None:
    check(protocol(), PRICES)
    check(protocol("mid-trip", fault=FAULT, max_usd=Decimal("0.02")), PRICES)


def test_a_mixture_is_what_runs_on_two_models() -> None:
    assert not protocol().mixed
    assert not protocol(pins={"update": MODEL}).mixed
    assert protocol(pins={"update": "claude-haiku-4-5"}).mixed
    every = dict.fromkeys(protocol().system.purposes, "claude-haiku-4-5")
    assert not protocol(pins=every).mixed


def test_the_newest_checks_decide_unless_others_are_asked_for() -> None:
    assert protocol().version == 3
    assert protocol("mid-trip", checks_version=1).version == 1


def test_a_fault_s_answers_come_before_the_case_s_own() -> None:
    overlay, own = tables(protocol("mid-trip", fault=FAULT))
    assert overlay.name == f"faults/{FAULT.name}.toml"
    assert own.name == "engine/mid-trip.toml"
    for source in (overlay, own):
        assert source.sha256 == hashlib.sha256(source.content.encode()).hexdigest()
    assert tables(protocol(arm="live")) == ()


def test_what_the_two_containers_are_told() -> None:
    [job] = jobs_of(runs={"move": 1}, pins={"update": "claude-haiku-4-5"}, max_usd=Decimal("0.5"))
    settings = orjson.loads(job.system.env["BENCH_SETTINGS"])
    assert settings == {
        "model": MODEL,
        "pins": {"update": "claude-haiku-4-5"},
        "options": {"same_slot_admits": True},
    }
    for word in ("reader", "move", "Berlin", "scripted", "bench-"):
        assert word not in " ".join(
            value for name, value in job.system.env.items() if name != "BENCH_SETTINGS"
        ), "the system can tell what is being measured"
    config = GatewayConfig.model_validate_json(job.gateway.first_line)
    assert config.max_usd == Decimal("0.5")
    assert set(config.prices) == {MODEL, "claude-haiku-4-5"}
    assert config.names == dict(protocol().case.names)
    assert job.gateway.network == job.gateway_record.network == "none"
    assert job.gateway.first_line.endswith(b"}\n")
    assert job.gateway_record.tables == {source.name: source.sha256 for source in config.tables}
