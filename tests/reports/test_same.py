"""Whether two reports are of the same result: what is seen, and what is not to be seen."""

import copy
import random
import re
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from runner.model import (
    Call,
    Claim,
    GatewayRecord,
    RestatementExamined,
    RunRecord,
    RunSpec,
    SnapshotRecord,
    StepRecord,
    Store,
)
from runner.reports import sealing
from runner.reports.same import (
    NOT_COMPARED,
    REPLAYED,
    SEALED,
    compare,
    first_difference,
)
from runner.reports.schema import Report
from runner.suites.memory_honesty import load_exam
from runner.suites.trip_vs_move import load_case, steps
from tests.reports import _honesty

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIME = re.compile(r"(\d{4}-\d\d-\d\d)([T ])\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?")
Path_ = tuple[str | int, ...]


@pytest.fixture(scope="module")
def every_store(originals: dict[str, bytes]) -> Report:
    return Report.model_validate_json(originals["mid-trip"])


@pytest.fixture(scope="module")
def mid_trip(every_store: Report) -> Report:
    """With three of the snapshots of every run: the others are like them, and cost as much."""
    runs = tuple(
        run.model_copy(update={"snapshots": run.snapshots[:1] + run.snapshots[-2:]})
        for run in every_store.runs
    )
    return every_store.model_copy(update={"runs": runs})


@pytest.fixture(scope="module")
def reader(originals: dict[str, bytes]) -> Report:
    return Report.model_validate_json(originals["reader"])


@pytest.fixture(scope="module")
def answered() -> Report:
    """A report of the honesty suite, on the wall clock."""
    return _honesty.report(load_exam("dev"), score=0.75)


def plain(run: RunRecord) -> dict[str, Any]:
    document: dict[str, Any] = run.model_dump(mode="json")
    return document


def again(document: dict[str, Any]) -> RunRecord:
    return RunRecord.model_validate_json(orjson.dumps(document))


def elsewhere(run: RunRecord, seed: int = 0) -> RunRecord:
    """The same run as it would have been another time: other ids, other seconds, claims in the
    order of the new ids, calls and probes in the order they happened to come."""
    chance = random.Random(seed)
    drawn: dict[str, str] = {}

    def other(found: re.Match[str]) -> str:
        fresh = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        return drawn.setdefault(found[0], fresh)

    def later(found: re.Match[str]) -> str:
        return f"{found[1]}{found[2]}12:00:{chance.randrange(60):02}.5{found[4] or ''}"

    text = TIME.sub(later, UUID.sub(other, run.model_dump_json()))
    document = orjson.loads(text)
    document["seconds"] += 1
    document["peak_memory_bytes"] = 1
    chance.shuffle(document["escapes"])
    for step in document["steps"]:
        step["seconds"] = chance.random()
        if step["snapshot"]:
            step["snapshot"] = "0" * 64
    for snapshot in document["snapshots"]:
        snapshot["sha256"] = "0" * 64
        snapshot["store"]["claims"].sort(key=lambda claim: claim["id"])
        chance.shuffle(snapshot["store"]["events"])
    for result in document["checks"]:
        for check in result["checks"]:
            check["evidence"].sort()
    for call in document["calls"]:
        call["latency_ms"] = chance.random()
        call["request_id"] = f"req_{chance.random()}"
    by_step = sorted(document["calls"], key=lambda call: chance.random())
    document["calls"] = [call | {"seq": n} for n, call in enumerate(by_step, 1)]
    return again(document)


# ---------------------------------------------------------------- what is not to be seen


def test_a_run_is_the_same_as_itself(reader: Report, mid_trip: Report) -> None:
    for report in (reader, mid_trip):
        found = compare(report, report)
        assert found.identical
        assert [one.run for one in found.runs] == [run.spec.id for run in report.runs]
        assert found.unseen == ()


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_ids_times_and_orders_are_no_difference(mid_trip: Report, seed: int) -> None:
    for run in mid_trip.runs:
        assert first_difference(run, elsewhere(run, seed)) is None
        assert first_difference(elsewhere(run, seed), run) is None


def test_two_runs_of_the_same_kind_differ_in_their_number_alone(mid_trip: Report) -> None:
    first, second, *_ = mid_trip.runs
    found = first_difference(first, second)
    assert found is not None
    assert found.path.endswith(".spec.id")
    number = {"spec": first.spec}
    assert first_difference(first, second.model_copy(update=number)) is None


# ---------------------------------------------------------------- what is


def leaves(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from leaves(inner, (*path, place))
    else:
        yield path, value


def compared(path: Path_) -> bool:
    """Whether a leaf is one that counts."""
    tops: dict[str, type[Any]] = {
        "steps": StepRecord,
        "snapshots": SnapshotRecord,
        "calls": Call,
        "gateway": GatewayRecord,
    }
    first = str(path[0])
    if first in NOT_COMPARED[RunRecord]:
        return False
    noun = tops.get(first)
    inner = next(iter(path[1:2] if first == "gateway" else path[2:3]), "")
    return noun is None or inner not in NOT_COMPARED[noun]


def changed(value: Any, chance: random.Random) -> Any:
    """Another value in the place of one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + chance.choice((1, -1)) if value else 1
    if isinstance(value, float):
        return value + chance.choice((1e-6, 1.0))
    if value is None:
        return chance.choice(("2026-09-03", "something", 7))
    found = TIME.fullmatch(value)
    if found:
        day = datetime.fromisoformat(found[1]) + timedelta(days=chance.choice((1, -1, 30)))
        return f"{day:%Y-%m-%d}{value[10:]}"
    if re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return (datetime.fromisoformat(value) + timedelta(days=1)).date().isoformat()
    if re.fullmatch(r"\d+(\.\d+)?", value):
        return str(float(value) + 1)
    return chance.choice((f"{value}x", f"x{value}", value[:-1] if len(value) > 1 else "xy"))


def put(document: Any, path: Path_, value: Any) -> None:
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] = value


def cases_of(run: RunRecord) -> list[tuple[Path_, Any]]:
    """Every leaf that counts and is no id."""
    return [
        (path, value)
        for path, value in leaves(plain(run))
        if compared(path) and not (isinstance(value, str) and UUID.fullmatch(value))
    ]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_one_changed_leaf_is_found(mid_trip: Report, data: st.DataObject) -> None:
    run = data.draw(st.sampled_from(mid_trip.runs[:1] + mid_trip.runs[-1:]))
    path, value = data.draw(st.sampled_from(cases_of(run)))
    document = plain(run)
    put(document, path, changed(value, random.Random(data.draw(st.integers(0, 99)))))
    try:
        other = again(document)
    except ValidationError:
        return  # no report could say so
    if other == run:
        return
    # Beside the run itself, and the other way about beside the same run another time.
    assert first_difference(run, other) is not None, (path, value)
    assert first_difference(other, elsewhere(run, 7)) is not None, (path, value)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_an_id_that_stands_for_another_is_found(mid_trip: Report, data: st.DataObject) -> None:
    """Of claims, wherever they are spoken of: one in the place of another."""
    run = mid_trip.runs[0]
    document = plain(run)
    ids = {claim.id for one in run.snapshots for claim in one.store.claims}
    places = [(path, value) for path, value in leaves(document) if value in ids]
    path, value = data.draw(st.sampled_from(places))
    put(document, path, data.draw(st.sampled_from(sorted(ids - {value}))))
    other = again(document)
    for beside in (run, elsewhere(run, 3)):
        assert first_difference(beside, other) is not None, path


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_what_is_not_there_any_more_is_found(mid_trip: Report, data: st.DataObject) -> None:
    run = mid_trip.runs[0]
    document = plain(run)
    lists = [
        ("snapshots",), ("snapshots", 0, "store", "claims"), ("snapshots", 1, "store", "claims"),
        ("snapshots", 1, "store", "events"), ("steps",), ("calls",), ("checks",),
        ("checks", 0, "checks"), ("checks", 0, "checks", 2, "evidence"), ("observations",),
        ("observations", 0, "value"), ("usage",),
    ]  # fmt: skip
    path = data.draw(st.sampled_from(lists))
    there: Any = document
    for key in path:
        there = there[key]
    if not there:
        return
    there.pop(data.draw(st.integers(0, len(there) - 1)))
    other = again(document)
    found, back = first_difference(run, other), first_difference(other, run)
    assert found is not None, path
    assert back is not None, path


def test_the_first_difference_is_a_sentence_with_its_path_and_both_values(reader: Report) -> None:
    run = reader.runs[0]
    document = plain(run)
    claims = document["snapshots"][-1]["store"]["claims"]
    (moved,) = (at for at, claim in enumerate(claims) if "moved" in claim["text"])
    claims[moved]["status"] = "SUPERSEDED"
    found = first_difference(run, again(document))
    assert str(found) == (
        f'reader-move-1.snapshots["consolidate"].store.claims[{moved}].status was "ACTIVE" and is'
        ' "SUPERSEDED".'
    )
    taken, fewer, none = (plain(run) for _ in range(3))
    for each, result in ((taken, {"claims": 2}), (fewer, {"claims": 1}), (none, {})):
        each["steps"][0]["result"] = result
    path = 'reader-move-1.steps["deposit reader-01.md"].result.claims'
    found = first_difference(again(taken), again(fewer))
    assert str(found) == f"{path} was 2 and is 1."
    assert str(first_difference(again(taken), again(none))) == f"{path} was 2 and is not there."
    assert str(first_difference(again(none), again(taken))) == f"{path} was not there and is 2."


def test_of_long_texts_the_place_where_they_part_is_shown(reader: Report) -> None:
    run = reader.runs[0]
    documents = []
    for word in ("here", "there"):
        document = plain(run)
        document["ending"]["detail"] = "a" * 5000 + word + "b" * 5000
        documents.append(again(document))
    found = first_difference(*documents)
    assert found is not None
    assert "ahere" in found.was
    assert "athere" in found.now
    assert len(str(found)) < 600


def older(run: RunRecord) -> RunRecord:
    """As it was when stores were read where a verdict rests on them and nowhere else."""
    case = load_case(run.spec.case, run.spec.fixture_variant)
    judged = {step.name for step in steps(case, run.spec.kind) if step.judged}
    document = plain(run)
    document["snapshots"] = [one for one in document["snapshots"] if one["step"] in judged]
    for step in document["steps"]:
        step["snapshot"] = step["snapshot"] if step["name"] in judged else None
    return again(document)


def test_what_an_older_report_did_not_read_is_told_and_is_no_difference(
    every_store: Report,
) -> None:
    runs = tuple(older(run) for run in every_store.runs)
    assert [len(run.snapshots) for run in runs] == [2, 2, 2, 1, 1]
    before = every_store.model_copy(update={"runs": runs})
    for found in (compare(before, every_store), compare(every_store, before)):
        assert found.identical, found
        (told,) = found.unseen
        assert "deposit session-04.md, deposit session-11.md, deposit session-12-moved.md" in told
    document = plain(runs[0])
    document["snapshots"][0]["store"]["claims"].pop()
    assert first_difference(again(document), every_store.runs[0]) is not None


# ---------------------------------------------------------------- stores as graphs


def store(*claims: Claim, events: tuple[Any, ...] = ()) -> Store:
    return Store(claims=claims, events=events)


def with_store(run: RunRecord, found: Store) -> RunRecord:
    only = run.snapshots[-1].model_copy(update={"store": found})
    return run.model_copy(update={"snapshots": (only,), "checks": (), "observations": ()})


def claim(name: str, text: str = "Said twice.", **fields: Any) -> Claim:
    return Claim(id=name, text=text, status=fields.pop("status", "ACTIVE"), **fields)


def test_claims_that_say_the_same_are_told_apart_by_what_they_lead_to(reader: Report) -> None:
    """Twins: which of them was retired by which winner is all there is to tell."""
    run = reader.runs[0]
    winners = claim("w-east-1", "It is in the east."), claim("w-west-1", "It is in the west.")
    one = with_store(
        run,
        store(
            *winners,
            claim("twin-a-1", status="GONE", retired_by="w-east-1"),
            claim("twin-b-1", status="GONE", retired_by="w-west-1"),
            claim("after-a1", "Leans.", anchor="twin-a-1", restatement=True),
        ),
    )
    same = with_store(
        run,
        store(
            claim("0twin-00", status="GONE", retired_by="9west-00"),
            claim("1twin-00", status="GONE", retired_by="8east-00"),
            claim("2after-0", "Leans.", anchor="1twin-00", restatement=True),
            claim("8east-00", "It is in the east."),
            claim("9west-00", "It is in the west."),
        ),
    )
    assert first_difference(one, same) is None
    other = with_store(
        run,
        store(
            *(
                each.model_copy(update={"anchor": "0twin-00"}) if each.anchor else each
                for each in same.snapshots[0].store.claims
            )
        ),
    )
    found = first_difference(one, other)
    assert found is not None
    assert "claims" in found.path


def test_twins_that_only_later_snapshots_tell_apart(reader: Report) -> None:
    run = reader.runs[0]

    def two(first: tuple[str, str], retired: str) -> RunRecord:
        before = store(*(claim(name) for name in first))
        after = store(
            *(claim(name, status="GONE" if name == retired else "ACTIVE") for name in first)
        )
        snapshots = tuple(
            one.model_copy(update={"store": found})
            for one, found in zip(run.snapshots[-2:], (before, after), strict=True)
        )
        return run.model_copy(update={"snapshots": snapshots, "checks": (), "observations": ()})

    names = "twin-one", "twin-two"
    assert first_difference(two(names, "twin-one"), two(names, "twin-two")) is None
    assert first_difference(two(names, "twin-one"), two(names, "nobody")) is not None


def test_events_are_told_by_the_claims_they_are_about(reader: Report) -> None:
    run = reader.runs[0]

    def examined(name: str, anchor: str) -> RestatementExamined:
        return RestatementExamined(
            claim=name, anchor=anchor, retired_by="winner-1", outcome="independent"
        )

    claims = (
        claim("claim-aa", "A."),
        claim("claim-bb", "B."),
        claim("anchor-1", "Old.", status="GONE", retired_by="winner-1"),
        claim("winner-1", "New."),
    )
    events = examined("claim-aa", "anchor-1"), examined("claim-bb", "anchor-1")
    one = with_store(run, store(*claims, events=events))
    assert first_difference(one, with_store(run, store(*claims, events=events[::-1]))) is None
    twice = with_store(run, store(*claims, events=(events[0], events[0])))
    found = first_difference(one, twice)
    assert found is not None
    assert "events" in found.path
    assert "elsewhere" in str(found)


# ---------------------------------------------------------------- clocks, arms, numbers


def test_the_day_of_a_moment_counts_and_its_second_does_not(reader: Report) -> None:
    run = reader.runs[0]
    document = plain(run)
    first = document["snapshots"][0]["store"]["claims"][0]
    first["asserted_at"] = first["asserted_at"][:10] + "T23:59:59Z"
    assert first_difference(run, again(document)) is None
    first["asserted_at"] = "2026-09-02T12:00:00Z"
    assert "asserted_at" in str(first_difference(run, again(document)))


def test_on_the_wall_clock_a_day_is_as_far_from_its_run(reader: Report) -> None:
    run = reader.runs[0]
    spec = run.spec.model_copy(update={"clock": "now"})

    def on(day: datetime, valid: str) -> RunRecord:
        seen = f"{day:%Y-%m-%d}"
        found = store(
            claim("claim-1", f"Said on {seen}.", asserted_at=day, valid_until=valid),
            claim("claim-2", "Since 2020-02-02.", asserted_at=day),
        )
        steps = tuple(step.model_copy(update={"saw": day, "day": None}) for step in run.steps)
        fresh = {"spec": spec, "started_at": day, "steps": steps}
        return with_store(run, found).model_copy(update=fresh)

    one = on(datetime(2026, 11, 30, 9, tzinfo=UTC), "2026-12-07")
    other = on(datetime(2027, 3, 1, 23, tzinfo=UTC), "2027-03-08")
    assert first_difference(one, other) is None
    assert first_difference(other, one) is None
    for day in ("2027-03-18", "2027-03-09"):
        wrong = on(datetime(2027, 3, 1, 23, tzinfo=UTC), day)
        assert "valid_until" in str(first_difference(one, wrong))
    late = on(datetime(2027, 3, 1, 23, 59, 59, tzinfo=UTC), "2027-03-09")
    assert first_difference(one, late.model_copy(update={"seconds": 5.0})) is None
    # The same on a clock of their own is another result.
    noted = [each.model_copy(update={"spec": run.spec}) for each in (one, other)]
    assert first_difference(*noted) is not None


def test_what_is_not_compared_on_the_wall_clock_is_said(reader: Report) -> None:
    def on(day: int) -> Report:
        runs = tuple(
            run.model_copy(
                update={
                    "spec": run.spec.model_copy(update={"clock": "now"}),
                    "started_at": datetime(2026, 12, day, tzinfo=UTC),
                }
            )
            for run in reader.runs
        )
        clock = reader.clock.model_copy(update={"mode": "now"})
        return reader.model_copy(update={"runs": runs, "clock": clock})

    assert len(compare(on(1), on(1)).unseen) == 1
    unseen = compare(on(1), on(2)).unseen
    assert len(unseen) == 2
    assert "Prompts" in unseen[1]


def test_a_replay_is_held_to_its_recording_but_for_who_answered(reader: Report) -> None:
    run = reader.runs[0]
    assert run.gateway is not None

    def by(arm: str, **gateway: Any) -> RunRecord:
        assert run.gateway is not None
        fresh = {
            "spec": run.spec.model_copy(update={"arm": arm}),
            "gateway": run.gateway.model_copy(update={"arm": arm, **gateway}),
            "calls": tuple(c.model_copy(update={"source": arm}) for c in run.calls),
        }
        return run.model_copy(update=fresh)

    recorded, replayed = by("record", network="bridge"), by("replay", cassette_sha256="1" * 64)
    assert first_difference(recorded, replayed) is None
    assert first_difference(by("replay"), replayed) is not None
    assert "spec.arm" in str(first_difference(by("live"), replayed))
    call = replayed.calls[0].model_copy(update={"prompt_sha256": "f" * 64})
    other = replayed.model_copy(update={"calls": (call, *replayed.calls[1:])})
    assert "prompt_sha256" in str(first_difference(recorded, other))


def scored(report: Report, by: Callable[[float], float]) -> Report:
    """The same report, its scores moved."""
    document = orjson.loads(report.model_dump_json())
    for step in document["runs"][0]["steps"]:
        for page in step["result"].get("pages", ()) if step["verb"] == "ask" else ():
            page["score"] = by(page["score"])
    return Report.model_validate_json(orjson.dumps(document))


def test_scores_are_the_same_to_a_billionth(answered: Report) -> None:
    report = answered
    assert compare(report, scored(report, lambda score: score + 5e-10)).identical
    found = compare(report, scored(report, lambda score: score + 2e-9))
    assert not found.identical
    assert ".score was 0.75 and is 0.750000002." in str(found.runs[0].difference)


def test_money_is_compared_as_money(reader: Report) -> None:
    run = reader.runs[0]
    document = plain(run)
    document["cost_usd"] += "000"
    document["calls"][0]["cost_usd"] += "0"
    assert first_difference(run, again(document)) is None
    document["calls"][0]["cost_usd"] += "1"
    assert "calls[0].cost_usd" in str(first_difference(run, again(document)))


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_one_changed_leaf_of_an_answer_is_found(answered: Report, data: st.DataObject) -> None:
    run = answered.runs[0]
    path, value = data.draw(st.sampled_from(cases_of(run)))
    document = plain(run)
    put(document, path, changed(value, random.Random(data.draw(st.integers(0, 99)))))
    try:
        other = again(document)
    except ValidationError:
        return
    if other != run:
        assert first_difference(run, other) is not None, (path, value)


# ---------------------------------------------------------------- what is held out


def test_of_a_held_out_set_nothing_is_told_but_digests() -> None:
    exam = load_exam("heldout3")
    one = _honesty.report(exam)
    question = exam.questions[3]
    wrong = next(page.name for page in exam.pages if page.name not in question.gold)
    other = _honesty.report(exam, {question.id: [wrong]})
    told = str(compare(one, other, sealed=True).runs[0].difference)
    assert "(sealed) was sha256 " in told
    digests = re.findall(r"sha256 ([0-9a-f]{16})", told)
    assert len(set(digests)) == 2
    for secret in (question.id, wrong, question.q, *question.gold):
        assert secret not in told
    assert wrong in str(compare(one, other).runs[0].difference)
    assert compare(one, one, sealed=True).identical


def test_what_is_sealed_in_a_report_is_sealed_here() -> None:
    assert set(SEALED) >= set(sealing._HELD_BACK) - {"log_tail"}
    assert "log_tail" in NOT_COMPARED[RunRecord]


# ---------------------------------------------------------------- whole reports


@pytest.mark.slow
def test_what_was_asked_counts_too(reader: Report, mid_trip: Report) -> None:
    for field, value in (
        ("model", "another"),
        ("options", {"same_slot_admits": False}),
        ("checks_version", 2),
        ("fixtures", reader.fixtures[:-1]),
        ("images", (reader.images[0].model_copy(update={"config_digest": "sha256:9"}),)),
        ("case", mid_trip.case),
        ("planned", reader.planned[1:]),
    ):
        found = compare(reader, reader.model_copy(update={field: value}))
        assert found.asked is not None, field
        assert not found.identical


def test_a_run_that_is_in_one_report_only_is_found(reader: Report) -> None:
    fewer = reader.model_copy(update={"runs": reader.runs[1:]})
    for one, other in ((reader, fewer), (fewer, reader)):
        found = compare(one, other)
        assert not found.identical
        differing = [each for each in found.runs if each.difference]
        assert [each.run for each in differing] == ["reader-move-1"]
        assert "missing" in str(differing[0].difference)


def test_every_field_is_compared_or_has_a_reason_why_not(reader: Report) -> None:
    nouns = {RunRecord, RunSpec, StepRecord, SnapshotRecord, Call, GatewayRecord}
    assert set(NOT_COMPARED) | set(REPLAYED) <= nouns
    for table in (NOT_COMPARED, REPLAYED):
        for noun, fields in table.items():
            assert set(fields) <= set(noun.model_fields), noun
            assert all(reason for reason in fields.values())
    # A field that is new is compared: nothing lists those that are.
    run = reader.runs[0]
    document = plain(run)
    for path, _ in leaves(document):
        assert compared(path) or path[0] in document
    counted = {str(path[0]) for path, _ in leaves(document) if compared(path)}
    assert set(RunRecord.model_fields) - set(NOT_COMPARED[RunRecord]) >= counted
    copied = copy.deepcopy(document)
    copied["encoder"] = "another"
    assert "encoder" in str(first_difference(run, again(copied)))
