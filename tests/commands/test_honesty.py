"""What `bench honesty` refuses before anything starts, and what it shows once runs are done."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from rich.cells import cell_len

from runner.commands import _honesty, _honesty_plan
from runner.commands._honesty import Wanted, show
from runner.commands._honesty_plan import files_in
from runner.commands._options import Output
from runner.errors import UsageError
from runner.reports.files import save
from runner.reports.honesty import Row, questions
from runner.reports.schema import Report
from runner.runs.clock import Clock
from runner.runs.protocol import Protocol
from runner.suites.memory_honesty import load_exam
from runner.systems.catalog import Ingesting, System, load
from tests.commands.conftest import Bench
from tests.reports._honesty import FAILED, report
from tests.reports._taken import call, took
from tests.runs._exams import taking_notes
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
            "remark": "",
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
    # What they answered, their other rates, and what it took.
    assert [said[n].split()[0] for n in at] == ["bm25", "oracle"] * 3
    assert said[at[0]].startswith("bm25 50% (2/4)")
    assert "always-refuse, dev: errored, degraded." in out
    assert out.count("only kinds and counts compare") == 1
    assert err.count("Report: ") == 3


def test_with_rules_one_set_or_two(shown: Show) -> None:
    _, out, _ = shown(dev(), rules=True)
    ruled = [line.split() for line in out.splitlines() if line.startswith("bm25 + ")]
    assert "25%" in ruled[0]
    assert "[" in "".join(ruled[1])
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


# ---------------------------------------------------------------- what it took, and what is kept


def test_what_it_took_and_how_much_moved_stand_below_the_grades(shown: Show) -> None:
    notes = took(load_exam("dev"), call(1), call(2), runs=2)
    _, out, _ = shown(report(load_exam("dev"), runs=2), notes, systems=["bm25", "router"])
    said = [" ".join(line.split()) for line in out.splitlines()]
    assert said.index("system pages index s calls US$ p50 ms p95 MB several") < said.index(
        "system runs any two by two wrong right neighbours false"
    )
    assert "router 30 0.00 2 0.0200 15 29 350 ·" in said
    assert "calls, US$: scripted: made from the page's own text; simulated, at list prices." in out
    assert all(cell_len(line) <= 80 for line in out.splitlines())
    _, out, _ = shown(notes)
    assert "model claude-sonnet-5-5 (scripted: made from the page's own text)" in out
    assert " ".join(out.split()).count("system pages index s calls") == 1


def test_answers_to_a_development_set_are_kept_and_those_to_a_held_out_one_are_not(
    shown: Show, tmp_path: Path
) -> None:
    home = tmp_path / "answers"
    reports = (report(load_exam("dev")), report(load_exam("heldout")))
    _, _, err = shown(*reports, answers=home)
    assert f"Answers: {home}/bm25/dev.jsonl" in err
    assert "The answers of bm25 to heldout are not written: it is held out." in err
    assert sorted(path.name for path in (home / "bm25").iterdir()) == ["answers.toml", "dev.jsonl"]


def test_saved_reports_are_shown_in_the_order_that_was_typed(bench: Bench) -> None:
    for system in ("oracle", "bm25", "router"):
        for name in ("dev", "heldout"):
            save(report(load_exam(name), system=system), Path(f"{system}-{name}.json"))
    done = bench("honesty", "--saved", ".", "--systems", "router,bm25", "--set", "heldout")
    assert done.code == 0
    at = [line.split()[0] for line in done.out.splitlines() if line.startswith(("router", "bm25"))]
    assert at == ["router", "bm25"] * 3
    assert "oracle" not in done.out
    # What serves a floor or a comparison is read beside, and not shown for its own sake.
    done = bench("honesty", "--saved", ".", "--system", "router", "--set", "heldout", "--rules",
                 "--vs", "oracle")  # fmt: skip
    assert "router + " in done.out
    assert "router minus oracle" in done.out
    assert "dev (vault1)" not in done.out
    done = bench("honesty", "--saved", ".", "--answers", "kept")
    assert sorted(path.name for path in Path("kept").iterdir()) == ["bm25", "oracle", "router"]


def test_an_answer_that_cannot_be_kept_stops_it_before_anything_starts(bench: Bench) -> None:
    Path("file").touch()
    done = bench("honesty", "--answers", "file/answers")
    assert done.code == 6
    assert "No answers can be written at file/answers" in " ".join(done.err.split())


def test_what_indexing_with_a_model_costs_is_bounded_before_anything_is_spent(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asks = Ingesting(prompt_bytes=10_000, reply_tokens=500)

    def loaded(name: str, version: str | None = None) -> System:
        return taking_notes(ingesting=asks) if name == "router" else load(name, version)

    monkeypatch.setattr(_honesty_plan, "load", loaded)
    done = bench("honesty", "--systems", "bm25,router", "--set", "dev", "--set", "heldout3",
                 "--estimate", "--arm", "live")  # fmt: skip
    assert done.code == 0, done.err
    said = " ".join(done.out.split())
    assert "Memory honesty, dev, router, on claude-sonnet-5-5: estimate" in said
    assert "Memory honesty, heldout3, router" in said
    assert "bm25" not in said
    assert said.count("upper bound: US$") == 2
    assert "worked out from 110 pages of" in said
    assert "together: about US$" in said
    assert ", at most US$" in said
    # Without a terminal nothing is spent unasked, and the bound is told before.
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    done = bench("honesty", "--system", "router", "--arm", "live")
    assert done.code == 8
    assert "upper bound: US$" in done.err
    # Where the system does not say what it asks, nothing is guessed.
    asks = None  # type: ignore[assignment]
    done = bench("honesty", "--system", "router", "--arm", "live", "--estimate")
    assert done.code == 2
    assert "It is not known what router asks" in " ".join(done.err.split())
