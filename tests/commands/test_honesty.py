"""What `bench honesty` refuses before anything starts, and what it shows once runs are done."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from rich.cells import cell_len

from runner.commands import _honesty
from runner.commands._honesty import Wanted, show
from runner.commands._honesty_plan import files_in
from runner.commands._options import Output
from runner.errors import UsageError
from runner.reports.honesty import Row, questions
from runner.reports.schema import Report
from runner.runs.clock import Clock
from runner.runs.protocol import Protocol
from runner.suites.memory_honesty import load_exam
from runner.systems.catalog import load
from tests.commands.conftest import Bench
from tests.reports._honesty import FAILED, report
from tests.suites.memory_honesty._kit import BACKUPS, LEAVE, OLD_BACKUPS, ROWS, exam

pytestmark = pytest.mark.slow

Show = Callable[..., tuple[int, str, str]]
LAST = "| 2026-11-30 | dev3 | the last line |\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--set", "nonsense"), "Sets: dev, dev2, dev3, heldout"),
        (("--system", "engine"), "engine does not ask or index"),
        (("--system", "nobody"), "There is no system 'nobody'"),
        (("--vs", "nobody"), "There is no system 'nobody'"),
        (("--vs-matched", "engine"), "These do: agree, always-refuse,"),
        (("--system-version", "9.9"), "9.9"),
        (("--marker", "nothing"), "'front-matter', 'prose', 'link'"),
        (("--top-k", "0"), "from 1 to 100"),
        (("--top-k", "101"), "from 1 to 100"),
        (("--runs", "0"), "--runs"),
        (("--jobs", "0"), "--jobs"),
        (("--systems", "bm25,nobody"), "There is no system 'nobody'"),
        (("--systems", "bm25, engine"), "engine does not ask or index"),
        (("--arm", "record"), "needs --cassette: the file to record to"),
        (("--arm", "replay"), "needs --cassette: the recording"),
        (("--arm", "record", "--cassette", "x"), "nothing is asked of a model"),
        (("--cassette", "x"), "--cassette is of no use with --arm scripted"),
        (
            ("--pin", "asking=claude-haiku-4-5"),
            "the purpose asking. next: There are: learning.",
        ),
        (("--resume",), "--resume needs --output"),
        (("--max-usd", "0"), "--max-usd"),
        (("--pin", "ask"), "NAME=VALUE"),
        (("--ca", "x"), "--ca is of no use"),
        (("more",), "more"),
    ],
)
def test_what_is_typed_wrong_starts_nothing(
    bench: Bench, arguments: tuple[str, ...], says: str
) -> None:
    done = bench("honesty", *arguments)
    assert (done.code, done.out) == (2, ""), done.err
    assert says in " ".join(done.err.split())
    assert list(Path.cwd().iterdir()) == []


def test_what_cannot_start(bench: Bench) -> None:
    Path("file").touch()
    for arguments, says in (
        ((), "no-engine.sock"),
        (("--set", "heldout", "--output", "out"), "no-engine.sock"),
        (("--results", "file/page.md"), "cannot be written"),
        (("--results", "/proc/page.md"), "cannot be written"),
        (("--output", "file"), "cannot be written"),
    ):
        done = bench("honesty", *arguments)
        assert (done.code, done.out) == (6, ""), done.err
        assert says in done.err.replace("\n", ""), arguments
    assert Path("file").read_bytes() == b""


def test_a_report_that_is_there_is_not_written_over(bench: Bench) -> None:
    Path("out").mkdir()
    Path("out/honesty-router-dev.json").touch()
    done = bench("honesty", "--output", "out")
    assert done.code == 2
    assert "exists already" in done.err


@pytest.mark.parametrize("more", [(), ("--matrix",), ("--set", "heldout3", "--rules")])
def test_an_estimate_costs_nothing(bench: Bench, more: tuple[str, ...]) -> None:
    done = bench("honesty", "--estimate", *more, "--results", "/proc/page.md")
    assert done.code == 0, done.err
    assert "Nothing is asked of a model." in done.out
    assert list(Path.cwd().iterdir()) == []


def test_a_file_a_system_and_set(tmp_path: Path) -> None:
    system = load("bm25")
    protocols = [
        Protocol(
            case=load_exam(name),
            system=system,
            arm="scripted",
            model="claude-sonnet-5-5",
            runs={name: 2},
            clock=Clock("now"),
        )
        for name in ("dev", "heldout")
    ]
    assert files_in(tmp_path, protocols) == [
        tmp_path / "honesty-bm25-dev.json", tmp_path / "honesty-bm25-heldout.json",
    ]  # fmt: skip


# ---------------------------------------------------------------- what is shown of finished runs


@pytest.fixture
def shown(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Show:
    """Shows reports as was asked for: exit code, output and messages."""
    monkeypatch.setenv("COLUMNS", "80")

    def go(*reports: Report, **fields: Any) -> tuple[int, str, str]:
        usual: dict[str, Any] = {
            "sets": list(dict.fromkeys(one.planned[0].kind for one in reports)),
            "systems": [reports[0].system.name],
            "vs": [],
            "vs_matched": [],
            "rules": False,
            "curve": False,
            "ci": False,
            "stratified": True,
            "reveal": False,
            "results": None,
            "answers": None,
            "format_": Output.TABLE,
        }
        capfd.readouterr()
        done = [(one, Path(f"{number}.json")) for number, one in enumerate(reports)]
        code = show(done, Wanted(**{**usual, **fields}))
        return code, *capfd.readouterr()

    return go


def dev(system: str = "bm25", **more: Any) -> Report:
    said = {"q001": [OLD_BACKUPS, BACKUPS], "q003": None, "q005": [BACKUPS]}
    return report(exam("dev"), said, system=system, **more)


def test_one_report_is_told_of_whole(shown: Show) -> None:
    code, out, err = shown(dev())
    assert code == 0
    assert out.startswith("Memory honesty, dev (vault1, replaced pages by front-matter): bm25")
    assert out.count("wrong of answered, 95%") == 2  # ours, and the published
    assert err == "Report: 0.json\n"
    assert all(cell_len(line) <= 80 for line in out.splitlines())


def test_several_are_laid_side_by_side_and_none_is_ranked(shown: Show) -> None:
    code, out, err = shown(dev(), dev("always-refuse", ended=FAILED), report(exam("dev"),
                           system="oracle"), systems=["bm25"])  # fmt: skip
    assert code == 5
    said = [" ".join(line.split()) for line in out.splitlines()]
    at = [n for n, line in enumerate(said) if line.startswith(("bm25 ", "oracle "))]
    # What they answered, and what it took.
    assert [said[n].split()[0] for n in at] == ["bm25", "oracle"] * 2
    assert said[at[0]].startswith("bm25 50% (2/4)")
    assert "always-refuse, dev: errored, degraded." in out
    assert out.count("only kinds and counts compare") == 1
    assert err.count("Report: ") == 3


def test_with_rules_one_set_or_two(shown: Show) -> None:
    _, out, _ = shown(dev(), rules=True)
    assert [line.split()[:4] for line in out.splitlines() if line.startswith("bm25 + ")] == [
        ["bm25", "+", "rules", "25%"]
    ]
    heldout = report(exam("heldout"), {"q005": [BACKUPS]})
    _, out, _ = shown(heldout, dev(), rules=True, sets=["heldout"])
    assert "floor" in out
    assert "dev (vault1)" not in out, "dev only serves the floor"
    # A memory that tells no scores has no floor; one that answers nothing has no rules.
    unscored = report(exam("heldout"), score=None)
    _, out, _ = shown(unscored, rules=True, sets=["heldout"])
    assert "bm25 + rules (replaced left out; no scores, so no floor)" in " ".join(
        line.split("  ")[0].strip() for line in out.splitlines()
    )
    silent = report(exam("heldout"), dict.fromkeys((row["id"] for row in ROWS), None))
    _, out, _ = shown(silent, dev(), rules=True, sets=["heldout"])
    assert "bm25 + rules" not in out


def test_one_against_another(shown: Show) -> None:
    ours, theirs = dev(), report(exam("dev"), system="oracle")
    _, out, _ = shown(ours, theirs, vs=["oracle", "bm25"], vs_matched=["oracle"], curve=True)
    said = " ".join(out.split())
    assert "dev: bm25 minus oracle" in said
    assert "bm25 minus bm25" not in said
    assert "minus oracle at" in said
    assert "wrong at" in said
    # One that failed is told of as such, and compared with nothing.
    code, out, _ = shown(ours, dev("oracle", ended=FAILED), vs=["oracle"])
    assert code == 5
    assert "minus" not in out.replace("right - wrong", "")


def test_a_memory_without_scores_is_not_matched_and_all_else_is_shown(
    shown: Show, tmp_path: Path
) -> None:
    ours = report(exam("dev"), {"q001": None})
    theirs = report(exam("dev"), system="oracle", score=None)
    page = tmp_path / "page.md"
    code, out, err = shown(ours, theirs, vs_matched=["oracle"], curve=True, results=page)
    assert code == 0
    assert "oracle is not matched" in out
    assert "reports no score" in out
    assert "No scores to draw a curve by: oracle." in out
    assert f"Written: {page}" in err
    assert "| oracle |" in page.read_text()


def test_intervals_as_published(shown: Show) -> None:
    ours = report(exam("dev"), {"q005": [BACKUPS]})
    for reports in ((ours,), (ours, report(exam("dev"), system="oracle"))):
        _, apart, _ = shown(*reports)
        _, alike, _ = shown(*reports, stratified=False)
        assert "20% (1/5) [0–33]" in apart
        assert "20% (1/5) [0–60]" in alike


def test_json_is_every_report_closed(shown: Show) -> None:
    code, out, _ = shown(report(exam("heldout"), {"q003": [LEAVE]}), reveal=True, curve=True,
                         format_=Output.JSON)  # fmt: skip
    assert code == 0
    document = orjson.loads(out)
    assert (document["case"]["questions"], document["runs"][0]["steps"]) == ([], [])
    assert not any(row["q"] in out for row in ROWS)
    _, out, _ = shown(dev(), format_=Output.JSON)
    assert all(row["q"] in out for row in ROWS)


def test_exit_codes_are_those_of_the_runs(shown: Show) -> None:
    """Wrong citations are no failure: there is no bar."""
    wrong = {row["id"]: [LEAVE] for row in ROWS if LEAVE not in row["gold"]}
    assert shown(report(exam("dev"), wrong))[0] == 0
    assert shown(dev(ended=FAILED))[0] == 5
    unfinished = dev(runs=2)
    unfinished = unfinished.model_copy(update={"runs": unfinished.runs[:1]})
    assert shown(unfinished)[0] == 3


# ---------------------------------------------------------------- question by question


@pytest.fixture
def register(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A register of its own."""
    file = tmp_path / "fixtures" / "honesty" / "REGISTER.md"
    file.parent.mkdir(parents=True)
    file.write_text(LAST)
    monkeypatch.setattr(_honesty, "fixtures", lambda: tmp_path / "fixtures")
    return file


def test_a_development_set_is_revealed_and_nobody_told(shown: Show, register: Path) -> None:
    _, out, _ = shown(dev(), reveal=True)
    said = " ".join(out.split())
    assert (
        "bm25 on dev q001 correction stale How often are databases copied? → Ops/Backups (2024)"
        in said
    )
    assert "q002 correction right 什么时候发布？ → 产品/发布流程.md" in said
    assert register.read_text() == LAST


def test_a_held_out_set_is_revealed_after_the_register_says_so(
    shown: Show, register: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def look(row: Row) -> Iterator[str]:
        seen.append(register.read_text().splitlines()[1:])
        return questions(row)

    monkeypatch.setattr(_honesty, "questions", look)
    # The development set that serves the floor alone is not revealed.
    _, out, _ = shown(report(exam("heldout")), dev(), sets=["heldout"], rules=True, reveal=True)
    ((line,),) = seen
    assert line.endswith("| heldout | revealed: bm25 |")
    assert out.count("How often are databases copied?") == 1


def test_a_register_that_cannot_be_written_refuses_and_the_rest_is_shown(
    shown: Show, register: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    register.unlink()
    register.mkdir()
    page = tmp_path / "page.md"
    with pytest.raises(UsageError, match="register cannot be written") as caught:
        shown(report(exam("heldout")), reveal=True, results=page)
    assert caught.value.hint == "Without a line there, no held-out question is shown."
    out, err = capfd.readouterr()
    assert "heldout" in out
    assert not any(row["q"] in out + err for row in ROWS)
    assert page.is_file()


def test_without_reveal_no_question_is_shown(shown: Show, register: Path) -> None:
    for reports in ((report(exam("heldout")),), (report(exam("heldout")), dev())):
        _, out, err = shown(*reports, curve=True, rules=True)
        assert not any(row["q"] in out + err for row in ROWS)
        assert not any(f"{row['id']} " in out + err for row in ROWS)
    assert register.read_text() == LAST


def test_every_rate_with_its_interval(shown: Show) -> None:
    _, out, _ = shown(report(exam("dev"), {"q005": [BACKUPS]}), ci=True)
    assert "wrong rate" in out
    assert "corrections right" in out
    assert "20% [0–33]" in out
    assert "cost" not in out.partition("wrong rate")[2]
