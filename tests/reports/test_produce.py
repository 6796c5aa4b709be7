import signal
import threading
import time
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from runner.errors import UsageError
from runner.faults import load_fault
from runner.reports import files
from runner.reports.produce import OutputLost, new_name
from runner.reports.rescore import verify
from runner.runs.clock import Clock
from runner.suites.trip_vs_move import load_case
from tests._trip import verdict_of
from tests.reports.conftest import produced
from tests.runs._memory import MemoryBox, MemorySandbox, Verb, fail, hang
from tests.runs._protocols import protocol

pytestmark = pytest.mark.slow


def test_the_published_protocol_passes_and_says_what_it_is(reader: Path, mid_trip: Path) -> None:
    for path in (reader, mid_trip):
        report = files.load(path)
        assert report.verdict is not None
        assert verdict_of(report).bar_met is True
        assert [run.spec.id for run in report.runs] == [item.id for item in report.planned]
        assert report.missing == ()
        assert report.finished_at is not None
        assert report.spend.simulated
        assert report.spend.cost_usd > 0
        names = {fixture.name for fixture in report.fixtures}
        assert f"cases/{report.case.name}.toml" in names
        assert f"scripted/engine/{report.case.name}.toml" in names
        assert {f"notes/{note.name}" for note in load_case(report.case.name).notes} <= names
        assert set(report.clock.days) == {step.name for step in report.runs[0].steps}


def test_the_rule_before_it_fails_every_move_and_no_trip(tmp_path: Path) -> None:
    for case in ("reader", "mid-trip"):
        report = produced(
            tmp_path / case, tmp_path / f"{case}.json", case, options={"same_slot_admits": False}
        )
        assert report.verdict is not None
        assert verdict_of(report).tally("move").passed == 0
        assert verdict_of(report).tally("trip-alone").passed == 2
        assert verdict_of(report).bar_met is False


def test_what_sets_runs_apart_from_the_published_ones_is_said(tmp_path: Path) -> None:
    report = produced(
        tmp_path / "boxes",
        tmp_path / "report.json",
        "mid-trip",
        runs={"move": 1},
        clock=Clock("2026-12-24"),
        variant=load_case("mid-trip").variants[0],
        pins={"update": "claude-haiku-4-5"},
        fault=load_fault("never-replaces"),
    )
    why = " ".join(report.comparable.why)
    assert not report.comparable.holds
    for part in ("2026-12-24", report.case.variant or "-", "scripted", "particles", "one model"):
        assert part in why, part
    assert load_fault("never-replaces").title in why
    assert report.mixed
    assert any("update on claude-haiku-4-5" in note for note in report.notes)
    assert report.verdict is not None
    assert verdict_of(report).bar_met is None


def test_a_run_is_on_disk_the_moment_it_ends(tmp_path: Path) -> None:
    """The third run looks at the file that the two before it left."""
    output, seen = tmp_path / "report.json", []

    def look(box: MemoryBox, request: Mapping[str, Any], verb: Verb) -> Any:
        if request["name"] == "reader-01.md":
            report = files.load(output)
            verify(report)
            seen.append((len(report.runs), len(report.missing), report.finished_at))
        return verb(request)

    sandbox = MemorySandbox(tmp_path / "boxes", deposit=look)
    produced(tmp_path, output, sandbox=sandbox, workers=1)
    # A run may begin while the one before it is being written.
    assert [runs + missing for runs, missing, _ in seen] == [5] * 5
    assert all(runs >= number - 1 for number, (runs, _, _) in enumerate(seen))
    assert {finished for *_, finished in seen} == {None}
    assert len(files.load(output).runs) == 5


def half(tmp_path: Path) -> Path:
    """A report stopped by Ctrl-C after its first two runs, while the others were at work."""
    output = tmp_path / "half.json"

    def some(box: MemoryBox, request: Mapping[str, Any], verb: Verb) -> Any:
        own = box.run_id.endswith(("move-1", "move-2"))
        return verb(request) if own else hang(box, request, verb)

    def press() -> None:
        while not output.exists() or len(files.load(output).runs) < 2:
            time.sleep(0.005)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    sandbox = MemorySandbox(tmp_path / "stopped", deposit=some)
    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt):
        produced(tmp_path, output, sandbox=sandbox)
    return output


def test_a_half_written_report_loads_and_says_what_is_missing(tmp_path: Path) -> None:
    report = files.load(half(tmp_path))
    verify(report)
    kinds = {run.spec.id: run.ending.kind for run in report.runs}
    assert kinds.pop("reader-move-1") == kinds.pop("reader-move-2") == "checks"
    assert set(kinds.values()) <= {"interrupted"}
    missing = {item.id for item in report.missing}
    assert missing | kinds.keys() == {
        "reader-move-3",
        "reader-trip-alone-1",
        "reader-trip-alone-2",
    }
    assert report.finished_at is None
    assert report.verdict is not None
    assert verdict_of(report).bar_met is None


def test_a_half_written_report_is_finished_and_keeps_what_it_had(tmp_path: Path) -> None:
    path = half(tmp_path)
    before = files.load(path)
    sandbox = MemorySandbox(tmp_path / "resumed")
    after = produced(tmp_path, path, sandbox=sandbox, resume=before)
    assert sandbox.boxes.keys() == {
        "reader-move-3",
        "reader-trip-alone-1",
        "reader-trip-alone-2",
    }
    assert after.runs[:2] == before.runs[:2]
    assert after.started_at == before.started_at
    assert after.missing == ()
    assert after.verdict is not None
    assert verdict_of(after).bar_met is True
    saved = files.load(path)
    verify(saved)
    assert saved.runs == after.runs


def test_a_run_that_ended_otherwise_is_not_run_again(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    bad = MemorySandbox(tmp_path / "bad", consolidate=fail("provider"))
    before = produced(tmp_path, path, sandbox=bad)
    idle = MemorySandbox(tmp_path / "idle")
    after = produced(tmp_path, path, sandbox=idle, resume=before)
    assert idle.boxes == {}
    assert {run.ending.kind for run in after.runs} == {"provider"}


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"model": "claude-haiku-4-5"}, "model"),
        ({"options": {"same_slot_admits": False}}, "options"),
        ({"clock": Clock("now")}, "clock"),
        ({"checks_version": 2}, "checks_version"),
        ({"runs": {"move": 4, "trip-alone": 2}}, "planned"),
        ({"pins": {"update": "claude-haiku-4-5"}}, "purposes"),
        ({"fault": load_fault("never-replaces")}, "fixtures"),
        ({"max_usd": Decimal(1)}, "spend.max_usd_per_run"),
        ({"ceiling": "measured"}, "spend.ceiling"),
    ],
)
def test_only_the_same_protocol_is_resumed(
    reader: Path, tmp_path: Path, fields: dict[str, Any], named: str
) -> None:
    before = reader.read_bytes()
    with pytest.raises(UsageError, match=f"differs in {named}"):
        produced(tmp_path / "boxes", reader, resume=files.load(reader), **fields)
    assert reader.read_bytes() == before


def test_when_the_report_cannot_be_written_any_more_it_is_rescued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rescue = tmp_path / "rescue"
    rescue.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(rescue))
    folder = tmp_path / "results"
    folder.mkdir()
    output = folder / "report.json"

    def vanish(box: MemoryBox, request: Mapping[str, Any], verb: Verb) -> Any:
        result = verb(request)
        output.unlink(missing_ok=True)
        if folder.is_dir():
            folder.rename(tmp_path / "elsewhere")
        return result

    sandbox = MemorySandbox(tmp_path / "boxes", consolidate=vanish)
    with pytest.raises(OutputLost) as caught:
        produced(tmp_path, output, sandbox=sandbox)
    assert caught.value.exit_code == 6
    saved = rescue / "report.rescued.json"
    assert str(saved) in caught.value.hint
    report = files.load(saved)
    verify(report)
    assert len(report.runs) >= 1
    assert not sandbox.opened


def test_names_tell_reports_apart() -> None:
    names = {new_name(protocol()) for _ in range(20)}
    assert len(names) == 20
    variant = load_case("reader").variants[0]
    assert variant in new_name(protocol(variant=variant))
    for name in names:
        assert name.startswith("trip-vs-move-reader-engine-claude-sonnet-5-5-scripted-")
        assert name.endswith(".json")
        assert "/" not in name
