"""``bench rerun`` and ``--image``, as far as no engine is needed."""

import json
from pathlib import Path

import pytest

from runner.commands import rerun as command
from runner.reports.same import Comparison, Difference, RunComparison
from tests.archive import _made
from tests.commands.conftest import Bench


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    made = _made.trip(folder, runs={"move": 1, "trip-alone": 1})
    return _made.archived(made, folder / "trip.bench")


def test_what_cannot_be_made_again_ends_before_an_engine_is_asked(
    bench: Bench, archive: Path, reader: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.bench"
    broken.write_bytes(archive.read_bytes()[:-700])
    there = tmp_path / "there.json"
    there.write_text("{}")
    for arguments, code, told in (
        ((reader,), 2, "is a report by itself"),
        ((tmp_path / "nothing",), 2, "cannot be read"),
        ((broken,), 7, "does not hold"),
        ((archive, "-o", there), 2, "exists already"),
        ((archive,), 6, "No container engine answers"),
    ):
        done = bench("rerun", *arguments)
        assert done.code == code, done.err
        assert told in done.err
        assert done.out == ""


SAME = RunComparison("one-1", None)
OTHER = RunComparison("one-2", Difference("one-2.ending.kind", '"checks"', '"\\u001b[2J"'))


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        (Comparison(None, (SAME,)), ["one-1: identical", "Identical: 1 run."]),
        (
            Comparison(None, (SAME, OTHER), ("The day.",)),
            ["one-1: identical", 'one-2: one-2.ending.kind was "checks" and is "\\u001b[2J".',
             "Not identical: 1 run of 2."],
        ),
        (
            Comparison(Difference("report.model", "a", "b"), (SAME,)),
            ["one-1: identical", "report.model was a and is b.", "Not identical."],
        ),
    ],
)  # fmt: skip
def test_a_line_a_run(
    found: Comparison, lines: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    from rich.console import Console

    command._print(found, Console())
    out = capfd.readouterr().out
    assert out.splitlines()[: len(lines)] == lines
    assert out.rstrip().endswith("The day." if found.unseen else "of the machine.")
    document = json.loads(json.dumps(command._document(found)))
    assert document["identical"] is found.identical
    assert [run["identical"] for run in document["runs"]] == [
        run.difference is None for run in found.runs
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--image", "engine"), 2, "is no digest of an image"),
        (("--image", "0123456789a"), 2, "12 or more"),
        (("--image", "0" * 12), 6, "No container engine answers"),
        (("update-gate", "--image", "latest"), 2, "is no digest of an image"),
        (("honesty", "--image", "latest"), 2, "is no digest of an image"),
        (
            ("honesty", "--systems", "bm25,router", "--image", "0" * 12), 2,
            "the image of one system, and these run from several: bm25, router",
        ),
        (
            ("honesty", "--systems", "bm25,dense", "--image", "0" * 12), 6,
            "No container engine answers",
        ),
    ],
)  # fmt: skip
def test_an_image_is_named_by_its_digest(
    arguments: tuple[str, ...], code: int, told: str, bench: Bench
) -> None:
    done = bench(*arguments)
    assert done.code == code, done.err
    assert told in done.err
