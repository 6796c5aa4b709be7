"""From what is typed to protocols: which systems, sets, arms, recordings and depths."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from runner.commands import _honesty_plan
from runner.commands._honesty_plan import Asked, Plan, names_in, plan
from runner.errors import UsageError
from runner.gateway.cassette import Cassette, save
from runner.runs.provider import Provider
from runner.suites.memory_honesty import Exam
from runner.systems.catalog import System, load
from tests.runs._exams import taking_notes


def asked(*systems: str, **fields: Any) -> Asked:
    usual: dict[str, Any] = {
        "systems": systems,
        "version": None,
        "sets": (),
        "matrix": False,
        "others": (),
        "rules": False,
        "marker": "front-matter",
        "top_k": 5,
        "seed": 0,
        "runs": 1,
        "arm": "scripted",
        "model": "claude-sonnet-5-5",
        "pins": {},
        "max_usd": None,
        "max_usd_total": None,
        "ceiling": "reserved",
        "step_deadline_s": 600.0,
        "provider": Provider(),
        "cassette": None,
    }
    return Asked(**{**usual, **fields})


@pytest.fixture
def _notes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the router calls a model while it indexes; no other system does."""

    def loaded(name: str, version: str | None = None) -> System:
        return taking_notes() if name == "router" else load(name, version)

    monkeypatch.setattr(_honesty_plan, "load", loaded)


def arms(made: Plan) -> Mapping[str, str]:
    return {one.system.name: one.arm for one in made.protocols}


def exams(made: Plan) -> list[Exam]:
    found = [one.case for one in made.protocols]
    assert all(isinstance(one, Exam) for one in found)
    return [one for one in found if isinstance(one, Exam)]


def test_names_come_singly_and_between_commas() -> None:
    assert names_in(["bm25", "router, dense,", ""]) == ["bm25", "router", "dense"]


def test_one_system_on_one_set_unless_more_is_asked_for() -> None:
    made = plan(asked())
    assert (made.systems, made.sets) == (("router",), ("dev",))
    [one] = made.protocols
    assert (one.system.name, dict(one.runs), one.arm) == ("router", {"dev": 1}, "scripted")
    made = plan(asked("bm25", "router", "bm25", sets=("dev", "dev3"), others=("bm25-rules",)))
    assert made.systems == ("bm25", "router")
    assert [(one.system.name, *one.runs) for one in made.protocols] == [
        (name, set_) for name in ("bm25", "router", "bm25-rules") for set_ in ("dev", "dev3")
    ]


def test_a_matrix_is_of_those_that_only_look_pages_up_unless_some_are_named() -> None:
    made = plan(asked(matrix=True))
    assert {"bm25", "bm25-rules", "dense", "oracle", "router"} <= set(made.systems)
    # A memory of statements is asked by name: its image is another's, and may not be here.
    assert not {"basic-memory", "claude-mem", "engine", "mem0", "particles"} & set(made.systems)
    assert made.sets == ("dev", "dev3", "heldout", "heldout2", "heldout3")
    made = plan(asked("bm25", matrix=True, sets=("heldout3",)))
    assert (made.systems, made.sets) == (("bm25",), ("heldout3",))


def test_under_rules_more_is_asked_for_and_development_sets_with_it() -> None:
    made = plan(asked("bm25", rules=True, sets=("heldout", "heldout3")))
    assert made.sets == ("heldout", "heldout3")
    assert [one.set for one in exams(made)] == ["heldout", "heldout3", "dev", "dev3"]
    assert {(one.top_k, one.depth) for one in exams(made)} == {(5, 50)}
    assert {one.depth for one in exams(plan(asked("bm25")))} == {None}


@pytest.mark.usefixtures("_notes")
@pytest.mark.parametrize("arm", ["live", "record", "replay"])
def test_who_asks_no_model_is_run_as_it_is(arm: Any, tmp_path: Path) -> None:
    cassette = None if arm == "live" else tmp_path / "notes.cassette"
    if arm == "replay":
        recorded(tmp_path / "notes.cassette")
    made = plan(asked("bm25", "router", arm=arm, cassette=cassette))
    assert arms(made) == {"bm25": "scripted", "router": arm}
    assert made.cassettes == (None, cassette)
    assert [one.tape is not None for one in made.protocols] == [False, arm == "replay"]


def recorded(path: Path) -> None:
    now = datetime(2026, 12, 1, tzinfo=UTC)
    save(
        Cassette(
            bench="0", system="router", suite="memory-honesty", case="memory-honesty",
            recorded_from=now, recorded_to=now, models=("claude-sonnet-5-5",), runs={},
        ),
        path,
    )  # fmt: skip


@pytest.mark.usefixtures("_notes")
def test_a_recording_a_system_and_set() -> None:
    made = plan(asked("router", "bm25", sets=("dev", "dev3"), arm="record", cassette=Path("a.b")))
    assert [None if one is None else one.name for one in made.cassettes] == [
        "a-router-dev.b", "a-router-dev3.b", None, None,
    ]  # fmt: skip


@pytest.mark.usefixtures("_notes")
@pytest.mark.parametrize(
    ("systems", "fields", "says"),
    [
        (["router"], {"arm": "record"}, "the file to record to"),
        (["router"], {"arm": "replay"}, "the recording to answer with"),
        (["router"], {"arm": "replay", "cassette": Path("none")}, "cannot be read"),
        (["bm25"], {"arm": "record", "cassette": Path("x")}, "nothing is asked of a model"),
        (["router"], {"cassette": Path("x")}, "of no use with --arm scripted"),
        (["router"], {"pins": {"nothing": "claude-haiku-4-5"}}, "has the purpose nothing"),
        (["engine"], {}, "does not ask or index"),
        (["bm25", "router"], {"others": ["engine"]}, "does not ask or index"),
    ],
)
def test_what_cannot_be_asked_for(systems: list[str], fields: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        plan(asked(*systems, **fields))


@pytest.mark.usefixtures("_notes")
def test_money_is_shared_among_those_that_may_spend_it() -> None:
    total = Decimal(6)
    made = plan(asked("bm25", "router", sets=("dev", "dev3"), runs=3, max_usd_total=total))
    assert {one.max_usd for one in made.protocols} == {Decimal(1)}
    made = plan(asked("bm25", max_usd_total=total, runs=3))
    assert {one.max_usd for one in made.protocols} == {Decimal(2)}


def test_a_pin_goes_to_those_that_have_the_purpose() -> None:
    made = plan(asked("bm25", "router", pins={"learning": "claude-haiku-4-5"}))
    assert [dict(one.pins) for one in made.protocols] == [{}, {"learning": "claude-haiku-4-5"}]


def test_only_the_oracle_is_told() -> None:
    made = plan(asked("oracle", "bm25"))
    assert [one.told for one in exams(made)] == [True, False]
