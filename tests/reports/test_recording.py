"""Cassettes of protocols: written run by run, and refused where they cannot answer."""

from pathlib import Path
from typing import Any

import pytest

from runner.errors import AlteredReport, CannotStart, UsageError
from runner.gateway.cassette import Entry, key_of, load
from runner.reports.recording import Recorder, check_tape, open_tape
from runner.runs.plan import specs
from runner.runs.protocol import Protocol
from tests.runs._protocols import MODEL, protocol


def entry(text: str = "hi") -> Entry:
    return Entry(
        path="/v1/messages",
        step="deposit reader-01.md",
        purpose="extraction",
        model=MODEL,
        key=key_of("/v1/messages", False, text.encode()),
        canonical=text,
        status=200,
        body="{}",
    )


def recorded(path: Path, **fields: Any) -> Path:
    """A recording of every run of a protocol."""
    of = protocol(arm="record", **fields)
    recorder = Recorder(path, of)
    recorder.prepare()
    for spec in specs(of):
        recorder(spec.id, [entry()])
    return path


def replay(path: Path, **fields: Any) -> Protocol:
    return protocol(arm="replay", tape=open_tape(path), **fields)


def test_it_is_on_disk_the_moment_a_run_ends(tmp_path: Path) -> None:
    path = tmp_path / "in" / "c.cassette"
    recorder = Recorder(path, protocol(arm="record"))
    recorder.prepare()
    assert recorder.used is None
    recorder("reader-move-1", [entry("a")])
    first = load(path)
    assert recorder.used is not None
    assert (recorder.used.name, recorder.used.sha256) == ("c.cassette", first.sha256())
    recorder("reader-move-1", [entry("a")])  # a record may be handed over twice
    recorder("reader-move-2", [entry("b")])
    second = load(path)
    assert {run: len(entries) for run, entries in second.runs.items()} == {
        "reader-move-1": 1,
        "reader-move-2": 1,
    }
    assert (second.system, second.case, second.models) == ("engine", "reader", (MODEL,))
    assert recorder.used.sha256 == second.sha256() != first.sha256()


def test_a_recording_is_never_written_over(tmp_path: Path) -> None:
    path = recorded(tmp_path / "c.cassette")
    before = path.read_bytes()
    with pytest.raises(UsageError, match="exists already"):
        Recorder(path, protocol(arm="record")).prepare()
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_found_before_anything_is_spent(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotStart, match="cannot be written"):
        Recorder(tmp_path / "file" / "c.cassette", protocol(arm="record")).prepare()


def test_what_was_recorded_of_it_can_be_replayed(tmp_path: Path) -> None:
    path = recorded(tmp_path / "c.cassette")
    check_tape(replay(path))
    check_tape(replay(path, runs={"move": 1}))  # fewer is fine


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"case": "mid-trip"}, "is a recording of trip-vs-move engine reader"),
        ({"variant": "bremen"}, "is a recording of trip-vs-move engine reader"),
        ({"model": "claude-sonnet-4-6"}, "no answers of claude-sonnet-4-6"),
        ({"runs": {"move": 4}}, "does not hold the runs reader-move-4"),
    ],
)
def test_what_was_not_recorded_is_refused(
    fields: dict[str, Any], says: str, tmp_path: Path
) -> None:
    path = recorded(tmp_path / "c.cassette")
    if "variant" in fields:
        from runner.suites.trip_vs_move import load_case

        fields = {"variant": load_case("reader").variants[0]}
    case = fields.pop("case", "reader")
    with pytest.raises(UsageError, match=says):
        check_tape(protocol(case, arm="replay", tape=open_tape(path), **fields))


def test_an_altered_cassette_is_refused(tmp_path: Path) -> None:
    path = recorded(tmp_path / "c.cassette")
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(AlteredReport):
        open_tape(path)


def test_a_replay_needs_one() -> None:
    with pytest.raises(UsageError, match="needs --cassette"):
        check_tape(protocol(arm="replay"))
