import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest

from runner.reports import files
from runner.reports.rescore import verify
from runner.reports.schema import Report
from tests.commands.conftest import Bench
from tests.reports import _upstream as upstream
from tests.reports.conftest import produced

Forge = Callable[[Path, Callable[[dict[str, Any]], object]], None]


def test_a_report_that_passed_passes_again(bench: Bench, reader: Path) -> None:
    before = reader.read_bytes()
    done = bench("rescore", reader)
    assert (done.code, done.err) == (0, "")
    assert "passed 3 of 3" in done.out
    assert "passed 2 of 2" in done.out
    assert reader.read_bytes() == before


@pytest.mark.parametrize("version", ["1", "2", "3"])
def test_other_checks(bench: Bench, mid_trip: Path, version: str) -> None:
    done = bench("rescore", mid_trip, "--checks-version", version)
    assert done.code == 0
    assert f"checks version {version}" in done.out


def test_checks_that_the_case_does_not_know(bench: Bench, reader: Path) -> None:
    for version in ("0", "1", "4"):
        done = bench("rescore", reader, "--checks-version", version)
        assert done.code == 2
        assert "2, 3" in done.err


def test_json_is_a_report_and_nothing_else(bench: Bench, mid_trip: Path, tmp_path: Path) -> None:
    done = bench("rescore", mid_trip, "--checks-version", "1", "--format", "json")
    assert done.code == 0
    assert done.err == ""
    Report.model_validate_json(done.out)
    printed = tmp_path / "printed.json"
    printed.write_text(done.out)
    report = files.load(printed)
    verify(report)
    assert report.checks_version == 1


def test_the_result_goes_to_a_new_file_only(bench: Bench, mid_trip: Path, tmp_path: Path) -> None:
    done = bench("rescore", mid_trip, "--checks-version", "2", "--output", "new/again.json")
    assert done.code == 0
    verify(files.load(Path("new/again.json")))
    assert files.load(Path("new/again.json")).checks_version == 2
    again = bench("rescore", mid_trip, "--output", "new/again.json")
    assert again.code == 2
    assert "exists already" in again.err
    assert bench("rescore", mid_trip, "--output", "/proc/again.json").code == 6
    assert list(tmp_path.glob("*.part")) == []


def test_an_altered_report(bench: Bench, reader: Path, forge: Forge) -> None:
    document = orjson.loads(reader.read_bytes())
    document["runs"][0]["cost_usd"] = "0"
    reader.write_bytes(orjson.dumps(document))
    done = bench("rescore", reader)
    assert (done.code, done.out) == (7, "")
    assert "runs[0].cost_usd" in done.err
    forge(reader, lambda doc: doc.update(notes=[]))
    done = bench("rescore", reader)
    assert done.code == 7
    assert "runs[0].cost_usd is not what the costs of its calls come to" in done.err


def test_a_failed_report(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "failed.json"
    produced(tmp_path / "boxes", path, options={"same_slot_admits": False})
    done = bench("rescore", path)
    assert done.code == 1
    assert "0 of 3" in done.out
    assert "--no-same-slot-admits" in done.out


@pytest.mark.parametrize(
    ("outcome", "kind", "code"),
    [("incomplete", "ceiling", 3), ("invalid", "escape", 4), ("errored", "provider", 5)],
)
def test_the_gravest_ending_decides(
    bench: Bench, reader: Path, forge: Forge, outcome: str, kind: str, code: int
) -> None:
    """Also over a run that failed; made here by taking a verdict away, which rescoring allows."""

    def change(document: dict[str, Any]) -> None:
        run = document["runs"][0]
        run["ending"] = {"outcome": outcome, "kind": kind, "detail": ""}
        run["checks"], run["observations"] = [], []
        tally = document["verdict"]["tallies"][0]
        tally["outcomes"], tally["reasons"] = {outcome: 1, "passed": 2}, {kind: 1}
        document["verdict"]["bar_met"] = None
        document["verdict"]["bar_note"] = "Not told: 1 of the runs have no verdict."

    forge(reader, change)
    done = bench("rescore", reader)
    assert done.code == code, done.err
    assert kind in done.out


def test_a_half_written_report(bench: Bench, reader: Path, forge: Forge) -> None:
    def halve(document: dict[str, Any]) -> None:
        del document["runs"][3:]
        cost = sum(Decimal(run["cost_usd"]) for run in document["runs"])
        document["spend"]["cost_usd"] = str(cost)
        document["verdict"]["tallies"][1].update(outcomes={}, reasons={})
        document["verdict"].update(
            bar_met=None, bar_note="Not told: 2 of the runs have no verdict."
        )

    forge(reader, halve)
    done = bench("rescore", reader)
    assert done.code == 3, done.err
    assert done.out.count("not run") == 3
    assert "passed 0 of 0, 2 without a verdict (2 not run)" in done.out
    assert "trip-alone 1" in done.out


def test_no_report(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "no-report.json"
    path.write_text("{}")
    done = bench("rescore", path)
    assert done.code == 7
    assert "no report of this bench" in done.err


# ---------------------------------------------------------------- linkedparticles' own reports


def test_a_report_of_linkedparticles_is_held_to_its_rows(bench: Bench, tmp_path: Path) -> None:
    report = upstream.trip(*(upstream.move(n) for n in (1, 2, 3)), *map(upstream.alone, (1, 2)))
    path = upstream.written(tmp_path, report)
    done = bench("rescore", path)
    assert done.code == 0, done.err
    assert "Everything it says comes out again." in done.out
    again = tmp_path / "again.json"
    done = bench("rescore", path, "--format", "json", "--output", again)
    assert done.code == 0, done.err
    assert json.loads(done.out) == json.loads(again.read_bytes())
    assert bench("rescore", path, "--output", again).code == 2

    report["runs"][0]["passed"] = False
    done = bench("rescore", upstream.written(tmp_path, report))
    assert done.code == 7
    assert "move 1" in done.out


def test_an_update_gate_report_of_linkedparticles_too(bench: Bench, tmp_path: Path) -> None:
    done = bench("rescore", upstream.written(tmp_path, upstream.gate()))
    assert done.code in (0, 1), done.err
    assert "comes out again" in done.out
