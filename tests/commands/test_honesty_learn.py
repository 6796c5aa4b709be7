"""What `bench honesty learn` refuses before anything starts, what it costs, and what it shows."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from runner.commands._options import Output
from runner.commands.honesty_learn import _show
from runner.model import Ending, Outcome
from runner.reports.schema import Report
from tests.commands.conftest import Bench
from tests.reports._learning import report


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--vault", "vault3"), "'vault1', 'vault2', 'both'"),
        (("--system", "bm25"), "bm25 does not learn from a log"),
        (("--system", "nobody"), "There is no system 'nobody'"),
        (("--top-k", "0"), "from 1 to 100"),
        (("--arm", "record"), "no cassettes"),
        (("--arm", "replay"), "no cassettes"),
        (("--arm", "live"), "there is no key"),
        (("--max-usd", "0"), "--max-usd"),
        (("--pin", "reading=claude-opus-5"), "no purpose reading"),
        (("--set", "dev"), "--set"),
        (("more",), "more"),
    ],
)
@pytest.mark.parametrize("name", [("honesty", "learn"), ("honesty-learn",)])
def test_what_is_typed_wrong_starts_nothing(
    bench: Bench, name: tuple[str, ...], arguments: tuple[str, ...], says: str
) -> None:
    done = bench(*name, *arguments)
    assert (done.code, done.out) == (2, ""), done.err
    assert says in " ".join(done.err.split())
    assert list(Path.cwd().iterdir()) == []


def test_what_cannot_start(bench: Bench) -> None:
    done = bench("honesty", "learn", "-o", "out")
    assert (done.code, done.out) == (6, ""), done.err
    assert "no-engine.sock" in done.err.replace("\n", "")


def test_a_report_that_is_there_is_not_written_over(bench: Bench) -> None:
    Path("out").mkdir()
    Path("out/honesty-learn-router-vault2-no-proof.json").touch()
    assert bench("honesty", "learn", "--output", "out").code == 2
    done = bench("honesty", "learn", "--vault", "vault1", "--output", "out")
    assert done.code == 6  # another file: it is the engine that is not there


def test_honesty_itself_is_as_it_was(bench: Bench) -> None:
    assert bench("honesty", "--set", "learn").code == 2
    assert "honesty learn" in bench("honesty", "--help").out
    help_ = bench("honesty", "learn", "--help")
    assert help_.code == 0
    assert "bench honesty learn" in help_.out
    assert "--no-proof" in help_.out


def test_what_it_would_cost(bench: Bench) -> None:
    done = bench("honesty", "learn", "--arm", "live", "--estimate")
    assert done.code == 0, done.err
    text = " ".join(done.out.split())
    for vault in ("vault1", "vault2"):
        for way in ("with", "without"):
            assert f"Honesty learning, {vault}, {way} proof, on" in text
    assert text.count("upper bound: US$") == 4
    assert "Nothing of it was measured" in text
    assert "No call was made." in text
    only = bench("honesty", "learn", "--vault", "vault2", "--no-proof", "--estimate")
    assert only.out.count("upper bound") == 1


def test_live_asks_before_it_spends(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    done = bench("honesty", "learn", "--arm", "live", "--vault", "vault1")
    assert done.code == 8, done.err
    assert "Nothing was started" in done.err


Shown = Callable[..., tuple[int, str]]


@pytest.fixture
def shown(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shown:
    monkeypatch.setenv("COLUMNS", "80")

    def show(*reports: Report, format_: Output = Output.TABLE) -> tuple[int, str]:
        code = _show([(one, Path("here.json")) for one in reports], format_)
        return code, capfd.readouterr().out

    return show


def test_several_reports_side_by_side_or_one_whole(shown: Shown) -> None:
    code, out = shown(report(), report(proof=False))
    assert code == 0
    assert "after, with proof" in out
    assert "The scripted model knows the right pages" in out
    assert out.count("Every model answer came from a table") == 1
    assert "outcome" not in out
    code, out = shown(report())
    assert "outcome" in out


def test_each_report_as_json(shown: Shown) -> None:
    _, out = shown(report(), format_=Output.JSON)
    assert orjson.loads(out)["suite"] == "honesty-learning"


@pytest.mark.parametrize(
    ("outcome", "code"),
    [(Outcome.ERRORED, 5), (Outcome.INCOMPLETE, 3), (Outcome.INVALID, 4)],
)
def test_a_run_without_a_verdict_is_told_and_decides(
    shown: Shown, outcome: Outcome, code: int
) -> None:
    gone = report(ended={"after": Ending(outcome=outcome, kind="odd", detail="it went away")})
    found, out = shown(report(), gone)
    assert found == code
    assert "odd. it went away" in " ".join(out.split())
