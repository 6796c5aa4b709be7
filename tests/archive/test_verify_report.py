"""A report by itself: what it takes to hold, and that each forgery is found by the check for it."""

import gzip
import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from runner.archive.verify import Sheet, State, verify
from runner.errors import UsageError
from runner.model import Escape
from tests.archive._made import Document, Result, forged, gate, honesty, learning, states, trip
from tests.archive._made import recorded as recording
from tests.reports import _upstream as upstream

pytestmark = pytest.mark.slow

ALONE = {"inputs", "scripted", "snapshots"}
"""What lies in an archive, and not in a report."""


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """A report of every suite, and one of a recording."""
    folder = tmp_path_factory.mktemp("made")
    found = {
        "trip": trip(folder / "trip"),
        "mid-trip": trip(folder / "mid-trip", case="mid-trip"),
        "gate": gate(folder / "gate"),
        "dev": honesty(folder / "dev", runs=2),
        "heldout": honesty(folder / "heldout", "heldout"),
        "learning": learning(folder / "learning"),
    }
    found["recorded"] = recording(found["trip"], folder / "recorded")
    return found


@pytest.fixture
def copy(made: dict[str, Result], tmp_path: Path) -> Callable[[str], Path]:
    """A copy of one of them, with all that lies beside it."""

    def of(name: str) -> Path:
        here = tmp_path / name
        shutil.copytree(made[name].path.parent, here, ignore=shutil.ignore_patterns("boxes"))
        return here / made[name].path.name

    return of


def wrong(sheet: Sheet) -> dict[str, str]:
    """The checks that do not hold, each with what is wrong first."""
    return {line.id: line.first for line in sheet.of(State.WRONG)}


@pytest.mark.parametrize(
    "name", ["trip", "mid-trip", "gate", "dev", "heldout", "learning", "recorded"]
)
def test_a_report_of_every_suite_holds(made: dict[str, Result], name: str) -> None:
    verified = verify(made[name].path)
    sheet = verified.sheet
    assert sheet.holds, wrong(sheet)
    assert {line.id for line in sheet.of(State.UNCHECKED)} <= ALONE
    always = {"report", "digests", "runs", "case", "steps", "checks", "verdict", "valid", "costs"}
    assert always <= {line.id for line in sheet.of(State.HOLDS)}
    assert all(line.looked_at > 0 for line in sheet.of(State.HOLDS))
    assert verified.report is not None
    assert verified.report.suite in sheet.about


def test_a_report_from_before_there_were_read_outs_holds(tmp_path: Path) -> None:
    """A system that was asked no questions beside its notes was asked all there was."""
    old = Path(__file__).parents[1] / "reports" / "data" / "before-read-outs.json.gz"
    path = tmp_path / "old.json"
    path.write_bytes(gzip.decompress(old.read_bytes()))
    sheet = verify(path).sheet
    assert sheet.holds, wrong(sheet)
    assert sheet.line("steps").state is State.HOLDS


def test_what_is_not_there_is_said_and_never_holds(made: dict[str, Result]) -> None:
    sheet = verify(made["trip"].path).sheet
    for id_ in ALONE:
        line = sheet.line(id_)
        assert (line.state, line.looked_at) == (State.UNCHECKED, 0)
        assert "archive" in line.first


# ---------------------------------------------------------------- forged, digests made anew


def run(document: Document, number: int = 0) -> Document:
    found: Document = document["runs"][number]
    return found


def _drop_step(document: Document) -> None:
    steps = run(document)["steps"]
    del steps[next(place for place, one in enumerate(steps) if one["verb"] == "deposit")]


def _other_day(document: Document) -> None:
    run(document)["steps"][0]["day"] = "2026-01-01"


def _drop_snapshot(document: Document) -> None:
    gone = run(document, 3)["snapshots"].pop()
    for step in run(document, 3)["steps"]:
        if step["snapshot"] == gone["sha256"]:
            step["snapshot"] = None


def _drop_early_snapshot(document: Document) -> None:
    gone = run(document)["snapshots"].pop(0)
    for step in run(document)["steps"]:
        if step["snapshot"] == gone["sha256"]:
            step["snapshot"] = None


def _published(document: Document) -> None:
    document["case"]["fixtures"] = "upstream"
    for one in document["runs"]:
        one["spec"]["fixtures"] = "upstream"


def _cheaper(document: Document) -> None:
    call = run(document)["calls"][0]
    call["usage"]["output"] -= 1


FORGERIES: dict[str, tuple[str, str, Callable[[Document], object]]] = {
    "another version": ("trip", "report", lambda d: d.update(report_version=2)),
    "a field that no report has": ("trip", "report", lambda d: d.update(score=1)),
    "a field of another type": ("dev", "report", lambda d: run(d).update(seconds="fast")),
    "a run twice": ("trip", "runs", lambda d: d["runs"].append(run(d))),
    "a run nobody planned": ("gate", "runs", lambda d: d["planned"].pop()),
    "a run on another model": ("trip", "runs", lambda d: run(d)["spec"].update(model="other")),
    "a mixture not told": ("trip", "runs", lambda d: d.update(mixed=True)),
    "a note": ("trip", "case", lambda d: d["case"]["notes"][0].update(text="I stay.\n")),
    "a word the checks look for": (
        "trip",
        "case",
        lambda d: d["case"]["words"].update(residence=["nothing"]),
    ),
    "a pair": (
        "gate",
        "case",
        lambda d: d["case"]["sets"][0]["pairs"][0].update(expected="report"),
    ),
    "a question": ("dev", "case", lambda d: d["case"]["questions"][0].update(q="What now?")),
    "words that were never published": ("trip", "case", _published),
    "a step left out": ("trip", "steps", _drop_step),
    "a step on another day": ("trip", "steps", _other_day),
    "steps in another order": (
        "gate",
        "steps",
        lambda d: run(d)["steps"].reverse(),
    ),
    "a question asked as another": (
        "dev",
        "steps",
        lambda d: run(d)["steps"].sort(key=lambda step: step["name"]),
    ),
    "a snapshot left out": ("trip", "steps", _drop_snapshot),
    "an early snapshot left out": ("mid-trip", "steps", _drop_early_snapshot),
    "a check": (
        "trip",
        "checks",
        lambda d: run(d)["checks"][1]["checks"][2].update(passed=False),
    ),
    "an observation": ("trip", "checks", lambda d: run(d, 4)["observations"][0].update(value=[])),
    "an ending": ("trip", "checks", lambda d: run(d, 1)["ending"].update(outcome="failed")),
    "a claim made active": (
        "mid-trip",
        "checks",
        lambda d: [
            one.update(status="ACTIVE", reason=None)
            for one in run(d)["snapshots"][-1]["store"]["claims"]
        ],
    ),
    "an answer of a probe": (
        "gate",
        "checks",
        lambda d: [step["result"].update(update="changes") for step in run(d)["steps"]],
    ),
    "a tally": ("trip", "verdict", lambda d: d["verdict"]["tallies"][0].update(planned=2)),
    "a bar": ("gate", "verdict", lambda d: d["verdict"].update(bar_met=None)),
    "an answer to a question": (
        "dev",
        "verdict",
        lambda d: next(
            step["result"]["pages"].clear() or step["result"].update(refused=True)
            for step in run(d)["steps"]
            if step["result"].get("pages") and step["verb"] == "ask"
        ),
    ),
    "an interval": (
        "dev",
        "verdict",
        lambda d: next(iter(d["verdict"]["runs"][0]["result"]["unstratified"].values())).update(
            low=0.0123
        ),
    ),
    "a rate": (
        "heldout",
        "verdict",
        lambda d: d["verdict"]["runs"][0]["result"]["metrics"].update(wrong=0, right=99),
    ),
    "what was learned": (
        "learning",
        "verdict",
        lambda d: d["verdict"].update(warnings=["none"]),
    ),
    "a way out that was found": (
        "trip",
        "valid",
        lambda d: run(d)["escapes"].append(
            Escape(probe="dns", target="x", result="escaped").model_dump()
        ),
    ),
    "another model that answered": (
        "trip",
        "valid",
        lambda d: run(d)["calls"][0].update(served_model="claude-haiku-4-5"),
    ),
    "a reply that was cut": (
        "trip",
        "valid",
        lambda d: run(d)["calls"][-1].update(stop_reason="max_tokens"),
    ),
    "what a call took": ("trip", "costs", _cheaper),
    "a price": (
        "trip",
        "costs",
        lambda d: run(d)["gateway"]["prices"]["claude-sonnet-5-5"].update(output="1"),
    ),
    "what all of it cost": ("trip", "costs", lambda d: d["spend"].update(cost_usd="0")),
    "another table": (
        "trip",
        "tables",
        lambda d: run(d, 2)["gateway"]["tables"].update({"engine/reader.toml": "0" * 64}),
    ),
    "a table that nobody used": (
        "trip",
        "tables",
        lambda d: d["fixtures"].append({"name": "scripted/x.toml", "sha256": "0" * 64}),
    ),
    "another cassette": (
        "recorded",
        "cassette",
        lambda d: d["cassette"].update(sha256="0" * 64),
    ),
    "a recorded call left out": (
        "recorded",
        "recorded",
        lambda d: run(d)["calls"].pop(),
    ),
    "a call that was never recorded": (
        "recorded",
        "recorded",
        lambda d: run(d)["calls"][0].update(prompt_sha256="0" * 64),
    ),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_a_forgery_is_found_by_the_check_for_it(copy: Callable[[str], Path], what: str) -> None:
    name, check, how = FORGERIES[what]
    path = forged(copy(name), how)
    sheet = verify(path).sheet
    assert not sheet.holds
    assert check in wrong(sheet), states(sheet)
    assert wrong(sheet)[check]
    assert "digests" not in wrong(sheet)


def test_a_failure_cannot_be_turned_into_a_pass(tmp_path: Path) -> None:
    path = trip(tmp_path, options={"same_slot_admits": False}).path
    assert verify(path).sheet.holds

    def whitewash(document: Document) -> None:
        for one in document["runs"]:
            one["ending"] = {"outcome": "passed", "kind": "checks", "detail": ""}
            for result in one["checks"]:
                result["passed"] = True
                for check in result["checks"]:
                    check["passed"] = True

    assert "checks" in wrong(verify(forged(path, whitewash)).sheet)


def test_a_careless_change_is_found_by_the_digests(copy: Callable[[str], Path]) -> None:
    path = copy("trip")
    forged(path, lambda d: d.update(bench_version="9.9"), digests=False)
    sheet = verify(path).sheet
    assert set(wrong(sheet)) == {"digests"}
    assert "bench_version" in wrong(sheet)["digests"]
    forged(path, lambda d: d.pop("integrity"), digests=False)
    assert "digests" in wrong(verify(path).sheet)


@pytest.mark.parametrize("raw", [b"{", b"{}", b'{"report_version": 1}', b"{" + b"[" * 100_000])
def test_what_is_no_report_says_so(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "no-report.json"
    path.write_bytes(raw)
    sheet = verify(path).sheet
    assert set(wrong(sheet)) == {"report"}
    assert not sheet.holds


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        verify(tmp_path / "nothing")
    with pytest.raises(UsageError, match="cannot be read"):
        verify(tmp_path)


def test_a_report_of_linkedparticles_is_for_another_command(tmp_path: Path) -> None:
    path = upstream.written(tmp_path, upstream.gate())
    with pytest.raises(UsageError, match="linkedparticles") as caught:
        verify(path)
    assert "bench rescore" in caught.value.hint


# ---------------------------------------------------------------- what lies beside it


def test_without_its_sealed_answers_a_report_is_not_computed_again(
    copy: Callable[[str], Path],
) -> None:
    path = copy("heldout")
    path.with_name("heldout.sealed.gz").unlink()
    sheet = verify(path).sheet
    assert sheet.holds
    unchecked = {line.id for line in sheet.of(State.UNCHECKED)}
    assert unchecked >= {"sealed", "steps", "checks", "verdict"}
    assert "heldout.sealed.gz" in sheet.line("sealed").first


def test_sealed_answers_are_the_reports_own(copy: Callable[[str], Path]) -> None:
    path = copy("heldout")
    sealed = path.with_name("heldout.sealed.gz")
    whole = sealed.read_bytes()
    sealed.write_bytes(whole[:-1] + b"\xff")
    assert "sealed" in wrong(verify(path).sheet)

    document = orjson.loads(gzip.decompress(whole))
    for one in document["runs"].values():
        for step in one["steps"]:
            if step["verb"] == "ask":
                step["result"] |= {"refused": True, "pages": []}
    other = gzip.compress(orjson.dumps(document, option=orjson.OPT_SORT_KEYS), mtime=0)
    sealed.write_bytes(other)
    told = hashlib.sha256(other).hexdigest()
    forged(path, lambda d: d["sealed"].update(sha256=told))
    sheet = verify(path).sheet
    assert sheet.line("sealed").state is State.HOLDS
    assert "verdict" in wrong(sheet)


def test_a_set_that_is_held_out_and_not_sealed_is_said(copy: Callable[[str], Path]) -> None:
    path = forged(copy("heldout"), lambda d: d.update(sealed=None))
    sheet = verify(path).sheet
    assert sheet.line("sealed").state is State.UNCHECKED
    assert not sheet.holds  # its answers are nowhere, and so come to nothing


def test_a_report_leads_to_no_other_folder(copy: Callable[[str], Path], tmp_path: Path) -> None:
    path = copy("recorded")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path.with_name("a.cassette").rename(elsewhere / "a.cassette")
    for name in (str(elsewhere / "a.cassette"), "../elsewhere/a.cassette", "..", "", "a\0"):
        forged(path, lambda d, name=name: d["cassette"].update(name=name))  # type: ignore[misc]
        assert verify(path).sheet.line("cassette").state is State.UNCHECKED


def test_what_this_bench_has_no_file_of_is_taken_as_it_stands(
    copy: Callable[[str], Path],
) -> None:
    """A case of another bench: its own rows are all there is, and the line says so."""

    def other(document: Document) -> Any:
        document["case"]["sha256"] = "0" * 64
        for one in document["fixtures"]:
            if one["name"] == "cases/reader.toml":
                one["sha256"] = "0" * 64

    sheet = verify(forged(copy("trip"), other)).sheet
    assert sheet.line("case").state is State.UNCHECKED
    assert sheet.holds
