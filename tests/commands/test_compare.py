"""`bench compare`, as it is typed."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.faults import load_fault
from runner.reports import files, integrity
from tests.commands.conftest import Bench
from tests.reports._honesty import FAILED
from tests.reports._honesty import report as honest
from tests.reports.compare._made import ENDED, gated
from tests.reports.conftest import produced
from tests.suites.memory_honesty._kit import OLD_BACKUPS, exam

Forge = Callable[[Path, Callable[[dict[str, Any]], object]], None]


@pytest.fixture(scope="module")
def homeless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of the reader's case on a model that never learns of a home."""
    folder = tmp_path_factory.mktemp("homeless")
    fault = load_fault("learns-nothing-of-the-home")
    produced(folder / "box", folder / "homeless.json", fault=fault)
    return folder / "homeless.json"


@pytest.mark.slow
def test_the_same_and_what_is_worse(bench: Bench, reader: Path, homeless: Path) -> None:
    done = bench("compare", reader, reader)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("trip-vs-move: Nothing changed.")
    done = bench("compare", reader, homeless)
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith("trip-vs-move: B does not hold what A held.")
    assert max(map(len, done.out.splitlines())) <= 80
    for code, options in (
        (1, ("--fail-on", "worse")),
        (1, ("--fail-on", "changed")),
        (0, ("--fail-on", "significant")),
        (0, ("--fail-on", "never")),
    ):
        assert bench("compare", reader, homeless, *options).code == code, options
    assert bench("compare", homeless, reader).code == 0
    assert bench("compare", homeless, reader, "--fail-on", "changed").code == 1


def test_every_form(bench: Bench, reader: Path, homeless: Path) -> None:
    done = bench("compare", reader, homeless, "--format", "json")
    told = json.loads(done.out)
    assert (done.code, told["exit_code"], told["fail_on"]) == (1, 1, "worse")
    assert told["findings"] == {"worse": 6, "better": 0, "changed": 2}
    assert told["compared"]["system"] == {"a": "engine", "b": "engine", "same": True}
    first = told["sheets"]["what-changed"]["rows"][0]
    assert (first["way"], first["what"], first["p"]) == ("worse", "move runs that passed", 0.1)
    done = bench("compare", reader, homeless, "--format", "csv")
    rows = [*csv.DictReader(done.out.splitlines())]
    assert {row["sheet"] for row in rows} >= {"what-changed", "outcomes", "effort", "compared"}
    done = bench("compare", reader, homeless, "--format", "markdown")
    assert done.out.startswith("## trip-vs-move: B does not hold what A held\n")
    assert done.out.index("### What changed") < done.out.index("<details>")
    assert done.out.rstrip().endswith("</details>")


def test_what_cannot_be_compared(bench: Bench, reader: Path, mid_trip: Path) -> None:
    for says, arguments in (
        ("case: reader in A, mid-trip in B", (reader, mid_trip)),
        ("cannot be read", (reader, "nothing.json")),
        ("Checks version 9 is not defined", (reader, reader, "--checks-version", "9")),
        ("--alpha 1.0 is not between", (reader, reader, "--alpha", "1")),
        ("There is no measure 'weight'", (reader, reader, "--max-ratio", "weight=2")),
        ("--max-ratio cost=-1 is no ratio", (reader, reader, "--max-ratio", "cost=-1")),
        ("--max-ratio answer: A and B do not both", (reader, reader, "--max-ratio", "answer=2")),
        ("fail-on", (reader, reader, "--fail-on", "sometimes")),
    ):
        done = bench("compare", *arguments)
        assert (done.code, done.out) == (2, ""), arguments
        assert says in " ".join(done.err.split()), arguments


def test_an_altered_report_is_not_compared(
    bench: Bench, reader: Path, tmp_path: Path, forge: Forge
) -> None:
    altered, forged = tmp_path / "altered.json", tmp_path / "forged.json"
    altered.write_bytes(reader.read_bytes().replace(b"Mumbai", b"Mombai", 1))
    forged.write_bytes(reader.read_bytes())
    forge(forged, lambda document: document["runs"][0]["ending"].update(outcome="failed"))
    assert integrity.altered(json.loads(forged.read_bytes())) == ()
    for one in (altered, forged):
        for pair in ((reader, one), (one, reader)):
            done = bench("compare", *pair, "--fail-on", "never")
            assert (done.code, done.out) == (7, "")


def test_more_than_was_allowed(bench: Bench, reader: Path, homeless: Path) -> None:
    """The homeless model is asked less, so the good one takes more than twice as much."""
    options = ("--fail-on", "never", "--max-ratio", "cost=2")
    done = bench("compare", homeless, reader, *options)
    assert done.code == 1
    assert "US$ a run: 0.0" in done.out
    assert bench("compare", reader, homeless, *options).code == 0


def test_runs_without_a_verdict_decide_before_all_else(bench: Bench, tmp_path: Path) -> None:
    good, errored, half = (tmp_path / f"{name}.json" for name in ("good", "errored", "half"))
    files.save(gated(), good)
    broken = gated(ended={("development", 2): ENDED})
    files.save(broken, errored)
    files.save(broken.model_copy(update={"runs": gated().runs[:4]}), half)
    for options in ((), ("--fail-on", "never")):
        done = bench("compare", good, errored, *options)
        assert done.code == 5
        assert done.out.startswith("update-gate: Not told: 1 run has no verdict in B.")
    assert bench("compare", errored, good).code == 0


@pytest.mark.slow
def test_honesty_is_held_to_a_test_and_a_held_out_set_stays_closed(
    bench: Bench, tmp_path: Path
) -> None:
    good, bad, failed = (tmp_path / f"{name}.json" for name in ("good", "bad", "failed"))
    files.save(honest(exam("heldout")), good)
    files.save(honest(exam("heldout"), {"q001": [OLD_BACKUPS]}), bad)
    files.save(honest(exam("heldout"), ended=FAILED), failed)
    assert bench("compare", good, bad).code == 0, "one question is no more than chance"
    done = bench("compare", good, bad, "--fail-on", "worse")
    assert done.code == 1
    assert "q001" not in done.out
    assert bench("compare", good, failed).code == 5
    (tmp_path / "bad.sealed.gz").unlink()
    done = bench("compare", good, bad)
    assert (done.code, done.out) == (2, "")
    assert "sealed in bad.sealed.gz" in done.err
