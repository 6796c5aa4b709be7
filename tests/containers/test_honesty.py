"""The honesty suite in real containers: one door for everyone, sealed answers, no false refusal."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.model import Outcome
from runner.reports import files
from runner.reports.honesty import row_of
from runner.reports.schema import Report
from runner.runs.sandbox import Engine
from runner.suites.memory_honesty import Exam, HonestyVerdict, Metrics, load_set
from tests.containers._bench import Bench

pytestmark = [pytest.mark.containers, pytest.mark.all_images]


@pytest.fixture
def bench(engine: Engine, tmp_path: Path) -> Bench:
    return Bench(tmp_path, env={"BENCH_STATE": str(tmp_path / "state")}, engine=engine)


@pytest.fixture
def asked(bench: Bench) -> Callable[..., dict[tuple[str, str], Report]]:
    """Runs systems on sets: their reports, by system and set."""

    def ask(*arguments: str) -> dict[tuple[str, str], Report]:
        done = bench.run("honesty", *arguments, "-q", "-o", "out")
        assert done.returncode == 0, done.stderr
        found = {}
        for path in sorted((bench.folder / "out").glob("*.json")):
            report = bench.report(f"out/{path.name}")
            assert isinstance(report.case, Exam)
            found[report.system.name, report.case.set] = report
        assert bench.left() == []
        return found

    return ask


def figures(report: Report) -> Metrics:
    assert isinstance(report.verdict, HonestyVerdict)
    assert report.verdict.result is not None
    return report.verdict.result.metrics


def test_the_two_ends_of_the_scale(asked: Callable[..., dict[tuple[str, str], Report]]) -> None:
    found = asked("--system", "oracle", "--system", "always-refuse", "--set", "dev")
    oracle, refuser = (figures(found[name, "dev"]) for name in ("oracle", "always-refuse"))
    assert (oracle.wrong, oracle.right, oracle.neighbours_refused.hits) == (0, 20, 10)
    assert (refuser.answered, refuser.false_refusals.hits) == (0, 20)
    assert refuser.wrong_rate is None


def test_a_system_is_told_no_more_than_pages_and_questions(
    asked: Callable[..., dict[tuple[str, str], Report]], bench: Bench
) -> None:
    found = asked("--system", "bm25", "--set", "dev3")
    report = found["bm25", "dev3"]
    [run] = report.runs
    assert run.calls == ()
    assert run.ending.kind == "graded"
    first, *asks = run.steps
    assert first.result["pages"] == 60
    ids = [step.name.removeprefix("ask ") for step in asks]
    kinds = {question.id: question.kind for question in load_set("dev3").questions}
    assert sorted(ids) == sorted(kinds)
    assert ids != sorted(ids)
    assert figures(report).answered >= 45  # it always answers where a word is found


def test_held_out_answers_are_sealed(
    asked: Callable[..., dict[tuple[str, str], Report]], bench: Bench
) -> None:
    asked("--system", "bm25", "--set", "heldout2")
    path = bench.folder / "out" / "honesty-bm25-heldout2.json"
    published, sealed = path.read_text(), path.with_name(f"{path.stem}.sealed.gz")
    for question in load_set("heldout2").questions:
        assert question.q not in published
    assert '"cited"' not in published
    document = json.loads(published)
    assert document["case"]["questions"] == []
    assert document["runs"][0]["steps"] == []

    done = bench.run("rescore", path)
    assert done.returncode == 0, done.stderr
    whole = files.load(path)
    assert row_of(whole).result == figures_of(whole)

    raw = bytearray(gzip.decompress(sealed.read_bytes()))
    at = raw.index(b'"refused":false')
    raw[at : at + 15] = b'"refused":true '
    sealed.write_bytes(gzip.compress(bytes(raw)))
    done = bench.run("rescore", path)
    assert done.returncode == 7
    assert "digest differs" in done.stderr.replace("\n", " ")
    sealed.unlink()
    done = bench.run("rescore", path)
    assert done.returncode == 2
    assert "sealed in" in done.stderr.replace("\n", " ")


def figures_of(report: Report) -> object:
    assert isinstance(report.verdict, HonestyVerdict)
    return report.verdict.result


def test_with_rules_beside_and_against_each_other(bench: Bench) -> None:
    done = bench.run(
        *("honesty", "--system", "router", "--set", "dev3", "--rules", "--curve", "-q"),
        *("--vs", "bm25-rules", "--vs-matched", "bm25", "-o", "out", "--results", "results.md"),
    )
    assert done.returncode == 0, done.stderr
    for told in ("router", "bm25 + rules (floor", "router minus bm25-rules", "answered", "area"):
        assert told in done.stdout.replace("\n", " "), done.stdout
    assert "| router |" in (bench.folder / "results.md").read_text()


@pytest.mark.parametrize("marker", ["prose", "link"])
def test_other_markers_of_a_replaced_page(
    marker: str, asked: Callable[..., dict[tuple[str, str], Report]]
) -> None:
    found = asked("--system", "bm25-rules", "--set", "dev3", "--marker", marker)
    report = found["bm25-rules", "dev3"]
    assert isinstance(report.case, Exam)
    assert report.case.marker == marker
    # It goes by front matter alone, which is not there.
    assert figures(report).stale > 0


def test_a_missing_encoder_is_no_refusal(bench: Bench) -> None:
    for system in ("dense", "bm25"):
        done = bench.run("honesty", "--system", system, "--set", "dev", "-q", "-o", f"{system}")
        assert done.returncode == 0, done.stderr
        [run] = bench.report(f"{system}/honesty-{system}-dev.json").runs
        assert (run.encoder is not None) is (system == "dense")
        assert run.ending.outcome is Outcome.PASSED


def test_what_cannot_be_asked(bench: Bench) -> None:
    for arguments, says in (
        (("--set", "nonsense"), "Sets: dev"),
        (("--system", "engine"), "does not"),
        (("--system", "nobody"), "There are:"),
        (("--top-k", "0"), "--top-k"),
        (("--arm", "record"), "needs --cassette"),
    ):
        done = bench.run("honesty", *arguments)
        assert done.returncode == 2, done.stderr
        assert says in done.stderr.replace("\n", " ")
