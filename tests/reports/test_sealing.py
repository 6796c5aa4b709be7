"""What a report of a held-out set publishes, what it seals, and that the two are one report."""

import gzip
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from rich.console import Console

from runner.commands._options import Output
from runner.commands._show import print_report
from runner.errors import AlteredReport, UsageError
from runner.model import Call
from runner.reports import files, integrity, sealing
from runner.reports.rescore import verify
from runner.reports.schema import Report
from runner.suites.memory_honesty import Exam, HonestyVerdict, load_exam
from tests.reports._honesty import FAILED, report
from tests.suites.memory_honesty._kit import BACKUPS, LEAVE, exam

pytestmark = pytest.mark.slow

Forge = Callable[[Path, Callable[[dict[str, Any]], object]], None]
NAME = "report.sealed.gz"


def call(seq: int, step: str, **more: Any) -> Call:
    return Call(
        seq=seq,
        step=step,
        purpose="answer",
        requested_model="model-a",
        outcome="refused",
        error="script_missing",
        prompt_sha256="0" * 64,
        **more,
    )


@pytest.fixture(scope="session")
def registered() -> Report:
    """Of the registered set, with an answer of every kind."""
    asked = load_exam("heldout")
    of_kind = {kind: [one for one in asked.asked() if one.kind == kind] for kind in asked.counts}
    correction, current, refuse = (of_kind[kind][0] for kind in ("correction", "current", "refuse"))
    said = {
        correction.id: (correction.old or "",),
        current.id: None,
        refuse.id: (refuse.neighbour or "",),
    }
    return report(asked, said, runs=2)


@pytest.fixture
def small() -> Report:
    """Of six questions about six pages."""
    calls = (call(1, "index"), call(2, "ask q002", source="q002-release", detail="near: Release?"))
    return report(exam("heldout"), {"q001": [LEAVE, BACKUPS]}, calls=calls)


@pytest.fixture
def saved(small: Report, tmp_path: Path) -> Path:
    path = tmp_path / "report.json"
    files.save(small, path)
    return path


# ---------------------------------------------------------------- closed and opened


def test_closed_and_opened_again_it_is_the_same(registered: Report, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    files.save(registered, path)
    assert {one.name for one in tmp_path.iterdir()} == {"report.json", NAME}
    again = files.load(path)
    assert again.model_copy(update={"integrity": {}}) == registered
    verify(again)
    before = path.read_bytes(), path.with_name(NAME).read_bytes()
    files.save(again, path)
    assert (path.read_bytes(), path.with_name(NAME).read_bytes()) == before


def test_what_is_published_tells_aggregates_only(registered: Report, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    files.save(registered, path)
    published = path.read_text()
    assert isinstance(registered.case, Exam)
    for question in registered.case.questions:
        assert question.q not in published
        assert f'"{question.id}"' not in published
        assert f"ask {question.id}" not in published
    for field in ('"cited"', '"gold"', '"receipt"', '"neighbour"'):
        assert field not in published
    document = orjson.loads(published)
    assert document["case"]["questions"] == []
    assert document["case"]["counts"] == {"correction": 9, "current": 6, "refuse": 10}
    for run in document["runs"]:
        assert (run["steps"], run["observations"], run["log_tail"]) == ([], [], "")
        assert run["ending"] == {"outcome": "passed", "kind": "graded", "detail": ""}
    # A page is named where its status is told, once, and never as an answer.
    del document["case"]["pages"]
    told = orjson.dumps(document).decode()
    assert not any(page.name in told for page in registered.case.pages)
    found = document["verdict"]["runs"][0]["result"]["metrics"]
    assert (found["wrong"], found["stale"], found["neighbour_cited"]) == (2, 1, 1)
    assert found["false_refusals"] == {"hits": 1, "of": 15}


def test_a_model_call_is_told_of_and_not_what_it_was_for(saved: Path, small: Report) -> None:
    calls = orjson.loads(saved.read_bytes())["runs"][0]["calls"]
    assert [one["step"] for one in calls] == ["index", "ask"]
    assert {(one["source"], one["detail"]) for one in calls} == {(None, "")}
    assert files.load(saved).runs[0].calls == small.runs[0].calls


def test_a_run_that_failed_says_of_what_kind_and_not_at_which_question(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    failed = report(exam("heldout"), ended=FAILED)
    files.save(failed, path)
    run = orjson.loads(path.read_bytes())["runs"][0]
    assert run["ending"] == {"outcome": "errored", "kind": "degraded", "detail": ""}
    assert "How often?" not in path.read_text()
    assert files.load(path).runs[0].ending == FAILED
    assert files.load(path).runs[0].log_tail == "the end of a log"


def test_development_sets_are_not_sealed(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    whole = report(exam("dev"))
    assert sealing.close(whole, NAME) == (whole, None)
    files.save(whole, path)
    assert [one.name for one in tmp_path.iterdir()] == ["report.json"]
    assert files.load(path).model_copy(update={"integrity": {}}) == whole


def test_json_on_standard_output_is_the_closed_form(
    small: Report, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    print_report(small, Output.JSON, Console())
    printed = capfd.readouterr().out
    document = orjson.loads(printed)
    assert (document["case"]["questions"], document["runs"][0]["steps"]) == ([], [])
    assert document["sealed"]["name"] == "answers.sealed.gz"
    assert integrity.altered(document) == ()
    path = tmp_path / "printed.json"
    path.write_text(printed)
    with pytest.raises(UsageError, match=r"sealed in answers\.sealed\.gz"):
        files.load(path)


def test_a_sealed_file_carries_no_time_and_one_form(small: Report, saved: Path) -> None:
    sealed = saved.with_name(NAME).read_bytes()
    assert sealing.close(small, NAME)[1] == sealed
    raw = gzip.decompress(sealed)
    assert raw == orjson.dumps(orjson.loads(raw), option=orjson.OPT_SORT_KEYS)
    document = orjson.loads(saved.read_bytes())
    assert document["sealed"] == {"name": NAME, "sha256": hashlib.sha256(sealed).hexdigest()}


# ---------------------------------------------------------------- what is not the report's own


def test_any_flipped_byte_is_found(saved: Path) -> None:
    whole = saved.with_name(NAME).read_bytes()
    public = Report.model_validate_json(saved.read_bytes())
    for place in range(len(whole)):
        for flip in (0x01, 0x80, 0xFF):
            changed = bytearray(whole)
            changed[place] ^= flip
            with pytest.raises(AlteredReport, match=NAME):
                sealing.open_(public, bytes(changed))


def test_half_a_file_is_found_at_every_length(saved: Path) -> None:
    sealed = saved.with_name(NAME)
    whole = sealed.read_bytes()
    for length in range(0, len(whole), 97):
        sealed.write_bytes(whole[:length])
        with pytest.raises(AlteredReport, match=NAME):
            files.load(saved)


def test_without_its_sealed_file_a_report_cannot_be_computed_again(saved: Path) -> None:
    saved.with_name(NAME).unlink()
    with pytest.raises(UsageError, match="not beside it") as caught:
        files.load(saved)
    assert caught.value.exit_code == 2
    assert caught.value.hint is not None
    assert "figures" in caught.value.hint


def test_the_sealed_file_of_another_report_is_refused(saved: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    files.save(report(exam("heldout"), {"q003": None}), other)
    saved.with_name(NAME).write_bytes(other.with_name("other.sealed.gz").read_bytes())
    with pytest.raises(AlteredReport, match="its digest differs") as caught:
        files.load(saved)
    assert caught.value.exit_code == 7


def test_a_file_that_unpacks_to_too_much_is_refused(
    saved: Path, forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealing, "MAX_BYTES", 1 << 20)
    files.load(saved)
    put(saved, forge, gzip.compress(b" " * (4 << 20)))
    with pytest.raises(AlteredReport, match="unpacks to more than 1048576 bytes"):
        files.load(saved)


def test_a_report_leads_to_no_other_folder(saved: Path, forge: Forge, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    sealed = saved.with_name(NAME)
    sealed.rename(elsewhere / NAME)
    for name in (f"elsewhere/{NAME}", str(elsewhere / NAME)):
        lead(saved, forge, name)
        with pytest.raises(UsageError, match=f"sealed in {NAME}"):
            files.load(saved)
    (elsewhere / NAME).rename(sealed)
    assert files.load(saved).case.name == "memory-honesty"  # the one beside it, by its base name
    for name in ("..", "/", "", "a\0b"):
        lead(saved, forge, name)
        with pytest.raises(UsageError, match="not beside it"):
            files.load(saved)


# ---------------------------------------------------------------- forged together with its report


@pytest.mark.parametrize(
    ("sealed", "says"),
    [
        (b"", "no sealed part"),
        (b"no gzip", "cannot be unpacked"),
        (gzip.compress(b"{}", mtime=0)[:-3], "cannot be unpacked"),
        (gzip.compress(b"{}", mtime=0)[:10] + b"\xff" * 20, "cannot be unpacked"),
        (gzip.compress(b"no json", mtime=0), "no sealed part"),
        (gzip.compress(b"[]", mtime=0), "no sealed part"),
        (gzip.compress(b"{}", mtime=0), "no sealed part"),
    ],
)
def test_what_is_no_sealed_file_is_refused(
    saved: Path, forge: Forge, sealed: bytes, says: str
) -> None:
    put(saved, forge, sealed)
    with pytest.raises(AlteredReport, match=says):
        files.load(saved)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        (lambda document: document.pop("case"), "no sealed part"),
        (lambda document: document["runs"].clear(), "no sealed part"),
        (lambda document: document.update(runs=[]), "no sealed part"),
        (lambda document: document["runs"].update({RUN: "run"}), "no sealed part"),
        (lambda document: document["runs"][RUN].pop("steps"), "no sealed part"),
        (lambda document: document["runs"][RUN].update(steps=5), "no sealed part"),
        (lambda document: document["case"].update(top_k=3), "do not say the same"),
        (lambda document: document["case"].update(held_out=False), "do not say the same"),
        (lambda document: document["runs"][RUN]["calls"].pop(), "do not say the same"),
        (
            lambda document: document["runs"][RUN]["ending"].update(outcome="errored"),
            "do not say the same",
        ),
    ],
)
def test_a_sealed_part_that_contradicts_its_report_is_refused(
    saved: Path, forge: Forge, how: Callable[[dict[str, Any]], object], says: str
) -> None:
    reseal(saved, forge, how)
    with pytest.raises(AlteredReport, match=says):
        files.load(saved)


def test_a_sealed_part_changes_nothing_else_of_a_run(saved: Path, forge: Forge) -> None:
    reseal(saved, forge, lambda document: document["runs"][RUN].update(seconds=0.0, usage=[]))
    assert files.load(saved).runs[0].seconds == 1.0


def test_answers_that_were_changed_in_both_come_to_another_verdict(
    saved: Path, forge: Forge
) -> None:
    def refuses(document: dict[str, Any]) -> None:
        for step in document["runs"][RUN]["steps"]:
            if step["name"] == "ask q001":
                step["result"]["refused"] = True

    reseal(saved, forge, refuses)
    forged = files.load(saved)
    assert isinstance(forged.verdict, HonestyVerdict)
    with pytest.raises(AlteredReport, match="verdict is not what the runs come to"):
        verify(forged)


RUN = "memory-honesty-heldout-1"


def reseal(path: Path, forge: Forge, how: Callable[[dict[str, Any]], object]) -> None:
    """Change what is sealed, and make the report's digest of it anew."""
    sealed = path.with_name(NAME)
    document = orjson.loads(gzip.decompress(sealed.read_bytes()))
    how(document)
    raw = orjson.dumps(document, option=orjson.OPT_SORT_KEYS)
    put(path, forge, gzip.compress(raw, mtime=0))


def put(path: Path, forge: Forge, sealed: bytes) -> None:
    """Put other bytes beside a report, which then carries their digest."""
    path.with_name(NAME).write_bytes(sealed)
    forge(path, lambda report: report["sealed"].update(sha256=hashlib.sha256(sealed).hexdigest()))


def lead(path: Path, forge: Forge, name: str) -> None:
    """Have a report name another file."""
    forge(path, lambda report: report["sealed"].update(name=name))
