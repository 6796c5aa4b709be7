"""Reports made again: the protocol read off a report, held to what this bench has, and compared."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from runner import images, paths
from runner.archive import media, rerun
from runner.archive._again import OtherBench, apart, prices_of, protocol_of
from runner.archive.watch import Nobody
from runner.errors import BenchError, DamagedArchive, UsageError
from runner.faults import load_fault
from runner.gateway import cassette as cassettes
from runner.model import Outcome
from runner.prices import load_prices, parse_price
from runner.reports import files
from runner.reports.produce import blank, produce
from runner.reports.schema import Report
from runner.runs.clock import Clock
from runner.runs.keep import Keep
from runner.runs.provider import Tape
from runner.runs.watch import Unwatched
from runner.suites.trip_vs_move import load_case
from tests.archive import _made
from tests.archive._altered import put_together, taken_apart
from tests.oci._engine import Engine, running
from tests.runs._memory import MemorySandbox
from tests.runs._protocols import place

ASKED = (
    "suite", "case", "system", "model", "purposes", "mixed", "options", "checks_version", "clock",
    "comparable", "fixtures", "planned",
)  # fmt: skip
"""What a report says of its protocol."""


def tape_of(result: _made.Result) -> Tape | None:
    report = files.load(result.path)
    if report.cassette is None:
        return None
    cassette = cassettes.load(result.path.with_name(report.cassette.name))
    return Tape(report.cassette.name, cassette, cassette.sha256())


def again(report: Report, tape: Tape | None = None) -> Report:
    """The report before its first run, of the protocol that was read off a report."""
    protocol = protocol_of(report, tape)
    there = place(MemorySandbox(Path("/nonexistent")))
    return blank(protocol, there, max_usd_total=report.spend.max_usd_total)


def trip(folder: Path, **fields: Any) -> _made.Result:
    return _made.trip(folder, **{"runs": {"move": 1, "trip-alone": 1}, **fields})


RESULTS: dict[str, Callable[[Path], _made.Result]] = {
    "trip": trip,
    "mid-trip": lambda folder: trip(folder, case="mid-trip"),
    "variant": lambda folder: trip(folder, variant=load_case("reader").variants[0]),
    "now": lambda folder: trip(folder, clock=Clock("now")),
    "a day": lambda folder: trip(folder, clock=Clock("2026-10-14")),
    "other rule": lambda folder: trip(folder, options={"same_slot_admits": False}),
    "older checks": lambda folder: trip(folder, checks_version=2),
    "fault": lambda folder: trip(folder, fault=load_fault("moves-on-every-trip")),
    "pinned": lambda folder: trip(folder, pins={"update": "claude-haiku-4-5"}),
    "ceiling": lambda folder: trip(
        folder, max_usd=Decimal("1.5"), ceiling="measured", step_deadline_s=77.0
    ),
    "gate": _made.gate,
    "honesty": _made.honesty,
    "held out": lambda folder: _made.honesty(folder, "heldout3"),
    "rules": lambda folder: _made.honesty(folder, "dev3", "bm25-rules"),
    "learning": _made.learning,
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_report_tells_all_of_its_protocol(name: str, tmp_path: Path) -> None:
    report = files.load(RESULTS[name](tmp_path).path)
    fresh = again(report)
    for field in ASKED:
        if field != "comparable" or report.clock.mode != "now":
            assert getattr(fresh, field) == getattr(report, field), field
    for field in ("max_usd_per_run", "max_usd_total", "ceiling"):
        assert getattr(fresh.spend, field) == getattr(report.spend, field)
    protocol = protocol_of(report, None)
    spec = report.runs[0].spec
    assert protocol.step_deadline_s == spec.step_deadline_s
    assert (protocol.fault.name if protocol.fault else None) == spec.fault
    assert protocol.pins == spec.pins
    assert protocol.arm == "scripted"


def test_what_a_model_answered_is_replayed(tmp_path: Path) -> None:
    recorded = _made.recorded(trip(tmp_path), tmp_path / "recorded")
    replayed = _made.replayed(recorded, tmp_path / "replayed")
    for result in (recorded, replayed):
        report = files.load(result.path)
        tape = tape_of(result)
        protocol = protocol_of(report, tape)
        assert protocol.arm == "replay"
        assert protocol.tape is tape
        assert again(report, tape).cassette == report.cassette
        with pytest.raises(UsageError, match="their recording is not in the archive"):
            protocol_of(report, None)


def test_what_a_live_model_answered_is_gone(tmp_path: Path) -> None:
    report = files.load(trip(tmp_path).path)
    with pytest.raises(UsageError, match="nothing recorded what the model answered"):
        protocol_of(report.model_copy(update={"arm": "live"}), None)


# ---------------------------------------------------------------- what this bench has not


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of its own, whose fixtures a test changes."""
    root = tmp_path / "checkout"
    root.mkdir()
    for file in paths.root().iterdir():
        if file.name not in ("fixtures", "images"):
            (root / file.name).symlink_to(file)
    shutil.copytree(paths.fixtures(), root / "fixtures")
    shutil.copytree(paths.images(), root / "images", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("BENCH_ROOT", str(root))
    return root


def changed(file: Path) -> None:
    answer = b"[[answer]]\n"
    file.write_bytes(file.read_bytes().replace(answer, answer + b"# another\n") + b"\n# another\n")


@pytest.mark.parametrize(
    ("make", "file", "told"),
    [
        ("trip", "fixtures/scripted/engine/reader.toml", "its scripted/engine/reader.toml is"),
        ("trip", "fixtures/cases/reader.toml", "its cases/reader.toml is"),
        (
            "fault",
            "fixtures/scripted/faults/moves-on-every-trip.toml",
            "its scripted/faults/moves-",
        ),
        ("gate", "fixtures/pairs/past-values.toml", "its pairs/past-values is"),
    ],
)
def test_other_fixtures_are_named(
    make: str, file: str, told: str, tmp_path: Path, checkout: Path
) -> None:
    report = files.load(RESULTS[make](tmp_path / "made").path)
    protocol_of(report, None)
    changed(checkout / file)
    with pytest.raises(OtherBench) as caught:
        protocol_of(report, None)
    assert told in caught.value.message


def test_fixtures_that_are_gone_are_named(tmp_path: Path, checkout: Path) -> None:
    report = files.load(trip(tmp_path / "made").path)
    (checkout / "fixtures/scripted/engine/reader.toml").unlink()
    with pytest.raises(OtherBench, match="no scripted answers of engine for reader"):
        protocol_of(report, None)
    (checkout / "fixtures/cases/reader.toml").unlink()
    with pytest.raises(BenchError):
        protocol_of(report, None)


def test_a_page_of_a_vault_that_changed_is_seen(tmp_path: Path, checkout: Path) -> None:
    report = files.load(_made.honesty(tmp_path / "made").path)
    pages = sorted((checkout / "fixtures/honesty").rglob("*.md"))
    vault = [page for page in pages if "vault1" in page.parts]
    changed(vault[0])
    with pytest.raises(OtherBench, match="honesty/vault1"):
        protocol_of(report, None)


def test_systems_versions_and_faults_of_another_bench(tmp_path: Path) -> None:
    report = files.load(trip(tmp_path).path)
    for update, told in (
        ({"name": "unheard-of"}, "cannot run unheard-of 0.1.0"),
        ({"version": "9.9"}, "cannot run engine 9.9"),
    ):
        system = report.system.model_copy(update=update)
        with pytest.raises(OtherBench, match=told):
            protocol_of(report.model_copy(update={"system": system}), None)
    spec = report.runs[0].spec.model_copy(update={"fault": "unheard-of"})
    runs = (report.runs[0].model_copy(update={"spec": spec}),)
    with pytest.raises(OtherBench, match="no fault 'unheard-of'"):
        protocol_of(report.model_copy(update={"runs": runs}), None)


def test_runs_that_this_bench_would_not_plan(tmp_path: Path) -> None:
    report = files.load(trip(tmp_path).path)
    odd = tuple(one.model_copy(update={"id": f"{one.id}-x"}) for one in report.planned)
    with pytest.raises(OtherBench, match="plans other runs"):
        protocol_of(report.model_copy(update={"planned": odd}), None)


def test_the_prices_are_those_of_the_report(tmp_path: Path) -> None:
    report = files.load(trip(tmp_path).path)
    assert prices_of(report) == load_prices()
    model, price = parse_price(f"{report.model}=7,9")
    gateway = report.runs[0].gateway
    assert gateway is not None
    dear = report.runs[0].model_copy(
        update={"gateway": gateway.model_copy(update={"prices": {model: price.rates()}})}
    )
    found = prices_of(report.model_copy(update={"runs": (dear,)}))
    assert found.resolve(report.model) == price
    assert "the report" in found.source


def test_what_may_come_out_otherwise_is_said(tmp_path: Path) -> None:
    report = files.load(trip(tmp_path).path)
    source = report.images[1].source
    assert apart(report, source) == ""
    assert "other files" in apart(report, "0" * 64)
    older = report.model_copy(update={"bench_version": "0.0.9"})
    assert "is of bench 0.0.9" in apart(older, source)


# ---------------------------------------------------------------- archives


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    return _made.archived(trip(folder), folder / "trip.bench")


def test_what_is_read_of_an_archive(whole: Path) -> None:
    found = rerun.read(whole)
    assert found.system.name.startswith("memory-bench/engine:")
    assert found.gateway.name.startswith("memory-bench/bench:")
    assert (found.remark, found.sealed) == ("", False)
    with running(Engine()) as engine:
        client = engine.client()
        assert len(rerun.missing(client, found)) == 2
        done = rerun.load(client, found, Nobody())
        assert [one.was_there for one in done] == [False, False]
        assert rerun.missing(client, found) == ()
        client.close()


def test_what_is_no_archive_of_a_report_says_so(whole: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_bytes(b'{"report_version": 1}')
    broken = tmp_path / "broken.bench"
    raw = bytearray(whole.read_bytes())
    raw[len(raw) // 2] ^= 1
    broken.write_bytes(raw)
    images_only = taken_apart(whole)
    images_only.hung = [one for one in images_only.hung if one.kind not in media.OF_A_REPORT]
    alone = put_together(images_only, tmp_path / "alone.bench")
    cases: list[tuple[Path, type[BenchError], str]] = [
        (report, UsageError, "is a report by itself"),
        (tmp_path, UsageError, "is a folder"),
        (tmp_path / "nothing", UsageError, "cannot be read"),
        (broken, DamagedArchive, "does not hold"),
        (alone, UsageError, "holds images and no report"),
    ]
    for path, kind, told in cases:
        with pytest.raises(kind, match=told):
            rerun.read(path)


@pytest.mark.slow
def test_without_the_sealed_answers_nothing_can_be_held_to_them(tmp_path: Path) -> None:
    made = _made.archived(_made.honesty(tmp_path, "heldout3"), tmp_path / "h.bench")
    assert rerun.read(made).sealed
    parts = taken_apart(made)
    parts.hung = [one for one in parts.hung if one.kind != media.SEALED]
    without = put_together(parts, tmp_path / "without.bench")
    with pytest.raises(BenchError, match="sealed"):
        rerun.read(without)


def test_another_bench_is_told_how_to_run_the_archived_one(whole: Path, checkout: Path) -> None:
    changed(checkout / "fixtures/scripted/engine/reader.toml")
    with pytest.raises(OtherBench) as caught:
        rerun.read(whole)
    reference = bench_in(whole)
    assert f"bench images restore {whole} --only sha256:" in caught.value.hint
    assert rerun.command(reference, whole) in caught.value.hint
    assert f"-v '{whole.parent}:/results'" in caught.value.hint


def bench_in(path: Path) -> str:
    return next(one.reference for one in taken_apart(path).images if "/bench:" in one.reference)


def test_a_bench_of_other_files_is_a_remark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _made.archived(trip(tmp_path), tmp_path / "trip.bench")
    monkeypatch.setattr(images, "source", lambda _: "0" * 64)
    found = rerun.read(made)
    assert "by a bench of other files" in found.remark
    assert "docker run" in found.remark


# ---------------------------------------------------------------- run again


def made_again(found: rerun.Again, folder: Path) -> Report:
    """As it is run on an engine, but in this process."""
    there = place(MemorySandbox(folder / "boxes"))
    return produce(
        found.protocol,
        found.prices,
        replace(there, system=found.system, gateway=found.gateway),
        output=folder / "again.json",
        workers=2,
        watch=Unwatched(),
        keep=Keep(None),
    )


def test_a_result_made_again_is_identical(whole: Path, tmp_path: Path) -> None:
    found = rerun.read(whole)
    fresh = made_again(found, tmp_path)
    compared = rerun.beside(found, fresh)
    assert compared.identical, compared
    assert rerun.stopped(found, fresh) == ()


def test_a_digit_that_no_digest_shows_is_found(whole: Path, tmp_path: Path) -> None:
    parts = taken_apart(whole)

    def other(document: dict[str, Any]) -> None:
        document["runs"][0]["calls"][0]["max_tokens_asked"] = 4096

    parts.report(other)
    found = rerun.read(put_together(parts, tmp_path / "altered.bench"))
    compared = rerun.beside(found, made_again(found, tmp_path))
    first, second = compared.runs
    assert "calls[0].max_tokens_asked" in str(first.difference)
    assert second.difference is None
    assert not compared.identical


def test_runs_that_were_stopped_say_nothing_of_the_archive(whole: Path, tmp_path: Path) -> None:
    found = rerun.read(whole)
    fresh = made_again(found, tmp_path)
    first = fresh.runs[0]
    for outcome, counts in (
        (Outcome.ERRORED, True),
        (Outcome.INCOMPLETE, True),
        (Outcome.INVALID, False),
        (Outcome.FAILED, False),
    ):
        ending = first.ending.model_copy(update={"outcome": outcome})
        runs = (first.model_copy(update={"ending": ending}), *fresh.runs[1:])
        stopped = rerun.stopped(found, fresh.model_copy(update={"runs": runs}))
        assert stopped == ((first.spec.id,) if counts else ())
