"""What belongs to a report, found and held to its digests."""

import gzip
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from runner import paths
from runner.archive import media
from runner.archive._evidence import Evidence, Piece, gather
from runner.errors import AlteredReport, UsageError
from runner.faults import load_fault
from runner.model import ImageIdentity
from runner.reports import files
from runner.reports.recording import Recorder
from runner.reports.schema import Fixture
from runner.runs.clock import Clock
from runner.runs.pair_tables import UPSTREAM_FILES
from runner.runs.plan import specs
from runner.runs.protocol import Protocol
from runner.suites.honesty_learning import load_lesson
from runner.suites.memory_honesty import Exam, load_exam
from runner.suites.registry import suite_of
from runner.suites.update_gate import load_gate, parse_upstream
from runner.systems.catalog import load
from tests.archive._kit import blank_report, save, with_snapshots
from tests.oci._kit import sha
from tests.reports._honesty import report as honesty_report
from tests.reports.test_recording import entry
from tests.runs._protocols import MODEL, protocol

Forge = Callable[[Path, Callable[[dict[str, Any]], object]], None]


def nothing(_image: ImageIdentity) -> Mapping[str, bytes]:
    return {}


def gathered(path: Path, **how: Any) -> Evidence:
    usual: dict[str, Any] = {"kept": None, "cassette": None, "published": nothing}
    return gather(path, files.load(path), **{**usual, **how})


def of(found: Evidence, kind: str) -> list[Piece]:
    return [one for one in found.pieces if one.kind == kind]


def inputs(found: Evidence) -> dict[str, bytes]:
    told = {}
    for one in of(found, media.INPUTS):
        assert isinstance(one.source, bytes)
        assert sha(one.source)[7:] == one.sha256
        told[one.title] = one.source
    return told


# ---------------------------------------------------------------- the report


def test_a_report_is_taken_as_its_file_is(report: Path) -> None:
    found = gathered(report)
    assert found.pieces[0] == Piece(
        media.REPORT, "report.json", report.read_bytes(), sha(report.read_bytes())[7:]
    )
    assert not of(found, media.SEALED) + of(found, media.CASSETTE) + of(found, media.SNAPSHOT)


def test_a_report_that_was_altered_or_is_none(report: Path) -> None:
    document = orjson.loads(report.read_bytes())
    document["model"] = "another"
    report.write_bytes(orjson.dumps(document))
    with pytest.raises(AlteredReport, match="changed after it was written: model"):
        gathered(report)
    with pytest.raises(UsageError, match="cannot be read"):
        gathered(report.with_name("nothing.json"))


# ---------------------------------------------------------------- sealed answers


@pytest.fixture
def held_out(tmp_path: Path) -> Path:
    report = honesty_report(load_exam("heldout"))
    return save(report, tmp_path / "held.json")


@pytest.mark.slow
def test_sealed_answers_come_along(held_out: Path) -> None:
    found = gathered(held_out)
    (sealed,) = of(found, media.SEALED)
    assert sealed.title == "held.sealed.gz"
    assert sealed.source == held_out.with_name("held.sealed.gz").read_bytes()
    assert isinstance(found.report.case, Exam)
    assert found.report.case.questions  # whole in memory; not in the file that is archived
    assert b'"questions": []' in found.pieces[0].source  # type: ignore[operator]
    titles = inputs(found)
    assert gzip.decompress(titles["honesty/heldout.jsonl.gz"]).count(b"\n") == 25
    assert "honesty/heldout.jsonl" not in titles


@pytest.mark.slow
def test_sealed_answers_that_are_missing_or_others(held_out: Path) -> None:
    sealed = held_out.with_name("held.sealed.gz")
    raw = sealed.read_bytes()
    sealed.write_bytes(gzip.compress(b"{}"))
    with pytest.raises(AlteredReport, match="does not hold the answers"):
        gathered(held_out)
    sealed.unlink()
    with pytest.raises(UsageError, match="not beside it"):
        gathered(held_out)
    # Under its own name wherever the report is called otherwise.
    moved = held_out.with_name("moved.json")
    sealed.write_bytes(raw)
    held_out.rename(moved)
    (found,) = of(gathered(moved), media.SEALED)
    assert found.title == "held.sealed.gz"


# ---------------------------------------------------------------- cassettes


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    recording = protocol(arm="record")
    recorder = Recorder(tmp_path / "of.cassette", recording)
    recorder.prepare()
    for spec in specs(recording):
        recorder(spec.id, [entry()])
    return save(blank_report(of=recording, cassette=recorder.used), tmp_path / "recorded.json")


def test_a_cassette_lies_beside_its_report_or_where_it_is_said_to(
    recorded: Path, tmp_path: Path
) -> None:
    beside = recorded.with_name("of.cassette")
    (found,) = of(gathered(recorded), media.CASSETTE)
    assert (found.title, found.source) == ("of.cassette", beside.read_bytes())
    elsewhere = tmp_path / "elsewhere" / "other.name"
    elsewhere.parent.mkdir()
    beside.rename(elsewhere)
    with pytest.raises(UsageError, match=r"of.cassette, is not at"):
        gathered(recorded)
    (found,) = of(gathered(recorded, cassette=elsewhere), media.CASSETTE)
    assert (found.title, found.source) == ("of.cassette", elsewhere.read_bytes())
    with pytest.raises(UsageError, match="is not at"):
        gathered(recorded, cassette=tmp_path / "nothing")


def test_another_cassette_is_refused(recorded: Path, report: Path, tmp_path: Path) -> None:
    beside = recorded.with_name("of.cassette")
    other = Recorder(tmp_path / "other.cassette", protocol(arm="record"))
    other.prepare()
    other("reader-move-1", [entry("something else")])
    with pytest.raises(AlteredReport, match="is not the cassette of"):
        gathered(recorded, cassette=tmp_path / "other.cassette")
    beside.write_bytes(beside.read_bytes()[:-5])
    with pytest.raises(AlteredReport, match="is no cassette"):
        gathered(recorded)
    with pytest.raises(UsageError, match="was made without a cassette"):
        gathered(report, cassette=beside)


# ---------------------------------------------------------------- snapshots


def test_snapshots_are_taken_by_their_digests_each_once(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    path = save(with_snapshots(blank_report(), kept), tmp_path / "report.json")
    assert of(gathered(path), media.SNAPSHOT) == []
    found = of(gathered(path, kept=kept), media.SNAPSHOT)
    assert len(found) == 3
    for one in found:
        assert one.source == kept / "snapshots" / one.title
        assert one.title == f"{one.sha256}.tar"
    first = found[0]
    assert isinstance(first.source, Path)
    first.source.write_bytes(b"others")
    with pytest.raises(AlteredReport, match="is not the snapshot"):
        gathered(path, kept=kept)
    first.source.unlink()
    with pytest.raises(UsageError, match=f"1 of the report's 3 snapshots.*{first.sha256[:12]}"):
        gathered(path, kept=kept)
    with pytest.raises(UsageError, match="3 of the report's 3"):
        gathered(path, kept=tmp_path)


# ---------------------------------------------------------------- inputs


def test_the_inputs_of_a_case_are_its_file_its_notes_and_its_table(report: Path) -> None:
    found = gathered(report)
    told = inputs(found)
    assert set(told) == {
        "cases/reader.toml",
        "notes/reader-01.md",
        "notes/reader-02-moved.md",
        "scripted/engine/reader.toml",
    }
    assert told["cases/reader.toml"] == (paths.fixtures() / "cases/reader.toml").read_bytes()
    listed = {one.name: one.sha256 for one in found.report.fixtures}
    assert {one.fixture: one.sha256 for one in of(found, media.INPUTS)} == listed


@pytest.mark.parametrize(
    "made",
    [
        lambda: protocol("mid-trip", variant="lyon-porto"),
        lambda: protocol(fault=load_fault("drops-the-home")),
    ],
)
def test_variants_and_faults(tmp_path: Path, made: Callable[[], Protocol]) -> None:
    asked = made()
    report = blank_report(of=asked)
    kept = tmp_path / "kept"
    found = gathered(save(with_snapshots(report, kept, asked), tmp_path / "report.json"))
    assert {one.fixture for one in of(found, media.INPUTS)} == {one.name for one in report.fixtures}


def of_suite(case: Any, system: str, runs: Mapping[str, int]) -> Protocol:
    able = load(system)
    return Protocol(
        case=case,
        system=able,
        arm="scripted",
        model=MODEL,
        runs=runs,
        clock=Clock("now"),
        options=able.settle({}),
    )


def test_pairs(tmp_path: Path) -> None:
    asked = of_suite(load_gate(), "engine", {"development": 1})
    told = inputs(gathered(save(blank_report(of=asked), tmp_path / "report.json")))
    assert "pairs/development.toml" in told
    assert any(title.startswith("scripted/engine/") for title in told)


@pytest.mark.parametrize("marker", ["front-matter", "prose", "link"])
def test_a_vault_is_its_listing_and_its_pages(tmp_path: Path, marker: Any) -> None:
    asked = of_suite(load_exam("dev", marker=marker), "bm25", {"dev": 1})
    told = inputs(gathered(save(blank_report(of=asked), tmp_path / "report.json")))
    vault = "honesty/vault1" if marker == "front-matter" else f"honesty/vault1 ({marker})"
    listing = told.pop(f"{vault}.sha256").decode()
    assert told.pop("honesty/dev.jsonl").count(b"\n") == 30
    assert {
        f"{vault}/{line.split('  ', 1)[1]}": line.split()[0] for line in listing.splitlines()
    } == {title: sha(data)[7:] for title, data in told.items()}


def test_tables_that_are_made_when_they_are_asked(tmp_path: Path) -> None:
    lesson = load_lesson("vault1")
    kinds = suite_of(lesson).kinds(lesson)
    asked = of_suite(lesson, "router", dict.fromkeys(kinds, 1))
    told = inputs(gathered(save(blank_report(of=asked), tmp_path / "report.json")))
    assert [title for title in told if title.startswith("scripted/router/")]
    assert "honesty/learn.jsonl" in told


def test_an_input_that_is_not_what_it_was(tmp_path: Path) -> None:
    report = blank_report()
    gone = (
        Fixture(name="scripted/engine/reader.toml", sha256="0" * 64),
        Fixture(name="scripted/engine/nothing.toml", sha256="0" * 64),
        Fixture(name="../../etc/passwd", sha256="0" * 64),
        Fixture(name="honesty/vault9", sha256="0" * 64),
    )
    path = tmp_path / "report.json"
    save(report.model_copy(update={"fixtures": (*report.fixtures[:3], *gone)}), path)
    with pytest.raises(UsageError) as caught:
        gathered(path)
    assert caught.value.message.endswith(
        "made of: scripted/engine/reader.toml, scripted/engine/nothing.toml, ../../etc/passwd,"
        " honesty/vault9."
    )
    assert "BENCH_ROOT" in caught.value.hint


def test_the_publishers_own_files_come_out_of_the_image(tmp_path: Path) -> None:
    raw = orjson.dumps(
        {
            "about": "Two pairs.",
            "labelled_by": "nobody",
            "rows": [
                {"id": "a", "class": "c", "older": "o", "newer": "n", "expected": "changes"},
                {"id": "b", "class": "c", "older": "o", "newer": "m", "expected": "not_changes"},
            ],
        }
    )
    published = parse_upstream(raw, "development")
    own = load_gate(("development",))
    gate = own.model_copy(update={"sets": (published,), "fixtures": "upstream"})
    asked = of_suite(gate, "engine", {"development": 1})
    path = save(blank_report(of=asked), tmp_path / "report.json")
    with pytest.raises(UsageError, match="pairs/development"):
        gathered(path)
    file = UPSTREAM_FILES["development"]
    seen: list[str] = []

    def published_files(image: ImageIdentity) -> Mapping[str, bytes]:
        seen.append(image.name)
        return {} if "engine" in image.name else {file: raw}

    told = inputs(gathered(path, published=published_files))
    assert told[f"pairs/{file}"] == raw
    assert seen == ["memory-bench/engine:0123456789ab", "memory-bench/bench:ba9876543210"]
