"""Tables of the honesty suite at their edges: no scores, no answers, strange names."""

from collections.abc import Sequence

import pytest
from rich.cells import cell_len

from runner.errors import UsageError
from runner.reports.honesty import (
    Row,
    at_coverage_of,
    compared,
    costs,
    curves,
    graded,
    matrix,
    parts,
    questions,
    row_of,
    title,
    under_rules,
)
from runner.reports.honesty import asked as asked_for
from runner.suites.memory_honesty import Answer, Exam, Mark, PageStatus
from tests.reports._honesty import FAILED, report
from tests.reports._printed import Printable, printed
from tests.reports.conftest import produced
from tests.suites.memory_honesty._big import big, made
from tests.suites.memory_honesty._kit import (
    BACKUPS,
    LEAVE,
    OLD_BACKUPS,
    ON_CALL,
    RELEASE,
    answer,
    exam,
)
from tests.suites.memory_honesty._published import HELDOUT3

pytestmark = pytest.mark.slow

LONG = "a-memory-with-a-name-that-is-longer-than-any-column-of-a-table (floor 12345.6789 from dev3)"


def lines(*things: Printable, width: int = 80) -> list[str]:
    """As printed, with runs of spaces as one."""
    return [" ".join(line.split()) for line in printed(*things, width=width)]


def given(asked: Exam, score: float | None = 1.0, **said: Sequence[str] | None) -> list[Answer]:
    """Answers without fault, but for those that are ``said``."""
    told = {one.id: said.get(one.id, one.gold[:1] or None) for one in asked.asked()}
    return [answer(id_, pages, *[score] * len(pages or ())) for id_, pages in told.items()]


def row(label: str = "bm25", score: float | None = 1.0, **said: Sequence[str] | None) -> Row:
    asked = exam("dev")
    return graded(label, asked, given(asked, score, **said))


def silent(label: str = "always-refuse") -> Row:
    return row(label, **{one.id: None for one in exam("dev").asked()})


def published(name: str) -> Row:
    asked = big(60, 60, 80)
    return graded(name, asked, made(asked, HELDOUT3[name].marks))


# ---------------------------------------------------------------- rows


def test_a_report_is_a_row_with_its_times() -> None:
    found = row_of(report(exam("dev"), {"q001": [OLD_BACKUPS]}, runs=2))
    assert (found.label, len(found.answers)) == ("bm25", 6)
    assert found.result.metrics.stale == 1
    assert found.timing is not None
    assert found.timing.p99_ms == 6.0


def test_a_report_without_a_graded_run_is_no_row() -> None:
    with pytest.raises(UsageError, match=r"no run that came to its end: degraded \(2\)") as caught:
        row_of(report(exam("dev"), ended=FAILED, runs=2))
    assert caught.value.hint is not None
    assert "no refusal" in caught.value.hint


def test_a_report_of_another_suite_is_no_row(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("reader")
    other = produced(folder, folder / "reader.json", runs={"trip-alone": 1})
    with pytest.raises(UsageError, match="trip-vs-move holds no answers"):
        row_of(other)


def test_a_set_in_a_line() -> None:
    assert title(exam("dev")) == "dev (vault1): 2 correction, 2 current, 2 refuse"
    assert title(exam("heldout")).startswith("heldout (vault1, held out): 2 correction")


# ---------------------------------------------------------------- side by side


def test_published_counts_come_out_as_published() -> None:
    rows = [published(name) for name in HELDOUT3]
    told, alike = lines(matrix(rows)), lines(matrix(rows, stratified=False))
    assert "KRouter 27% (37/139) [21–32] 46/80 50/60 52/60 15 3" in told
    assert "KRouter 27% (37/139) [19–34] 46/80 50/60 52/60 15 3" in alike
    assert "claude-mem 64% (128/200) [59–70] 0/80 34/60 38/60 0 20" in told


def test_a_memory_that_answers_nothing_has_no_rate() -> None:
    nothing = silent()
    assert "always-refuse none (0/0) [·] 2/2 0/2 0/2 4 0" in lines(matrix([nothing]))
    assert "always-refuse none (0/0) [·] 2/2 0/2 0/2 4 0" in lines(
        matrix([nothing], stratified=False)
    )
    assert "always-refuse +0.00 +0.00 +0.00 · · ·" in lines(costs([nothing]))
    told = lines(parts(nothing))
    assert told[2:] == [
        "correction 2 0 (0%) 0 0 (none) 0 2",
        "current 2 0 (0%) 0 0 (none) 0 2",
        "refuse 2 0 (0%) 0 0 (none) 0 2",
        "en 4 0 (0%) 0 0 (none) 0 4",
        "zh 2 0 (0%) 0 0 (none) 0 2",
        "all 6 0 (0%) 0 0 (none) 0 6",
    ]


def test_parts_are_kinds_and_languages_that_were_asked() -> None:
    told = lines(parts(row(q001=[OLD_BACKUPS], q005=[BACKUPS], q003=None)))
    assert told[2:] == [
        "correction 2 2 (100%) 1 1 (50%) [1–99] 1 0",
        "current 2 1 (50%) 1 0 (0%) [0–98] 0 1",
        "refuse 2 1 (50%) 0 1 (100%) [3–100] 0 1",
        "en 4 3 (75%) 1 2 (67%) [9–99] 1 1",
        "zh 2 1 (50%) 1 0 (0%) [0–98] 0 1",
        "all 6 4 (67%) 2 2 (50%) [7–93] 1 2",
    ]


def test_costs_stand_side_by_side_and_nothing_is_ranked_by_them() -> None:
    timed = row_of(report(exam("dev"), {"q005": [BACKUPS]}))
    told = lines(costs([row("worse", q001=[LEAVE], q002=[LEAVE]), timed, silent()]))
    assert [line.split()[0] for line in told[2:]] == ["worse", "bm25", "always-refuse"]
    assert "bm25 +0.50 +0.33 -0.17 0.167 3 6" in told
    assert "worse +0.00 -0.33 -1.33 0.333 · ·" in told


# ---------------------------------------------------------------- one minus another


def test_one_minus_another_with_exact_tests() -> None:
    told = lines(compared(published("KRouter"), published("claude-mem")))
    assert told[0].startswith("KRouter minus claude-mem")
    assert "right (answered or refused) +38.0 [+32.0, +44.5] 76 v 0 2.65e-23" in told
    assert "no wrong citation · 91 v 0 8.08e-28" in told
    unstratified = lines(compared(published("KRouter"), published("claude-mem"), stratified=False))
    assert unstratified[0] == told[0]
    assert unstratified != told


def test_a_difference_from_nothing_answered_is_undefined() -> None:
    for pair in ((row(), silent()), (silent(), row()), (silent(), silent())):
        told = lines(compared(*pair))
        assert "wrong citations undefined · ·" in told
    assert "answerable right +0.0 [+0.0, +0.0] 0 v 0 1" in told


def test_other_questions_are_not_compared() -> None:
    other = big(2, 2, 2, name="dev")
    marks = {"correction": [(Mark.RIGHT, 2)], "current": [(Mark.RIGHT, 2)]}
    answers = made(other, {**marks, "refuse": [(Mark.REFUSED, 2)]})
    with pytest.raises(UsageError):
        compared(row(), graded("other", other, answers))


# ---------------------------------------------------------------- rules and floors


def test_rules_are_replaced_pages_left_out_and_a_floor_from_a_development_set() -> None:
    dev = row(q005=[BACKUPS])
    low = graded(
        "bm25",
        dev.exam,
        [
            one.model_copy(update={"scores": (0.25,)}) if one.question == "q005" else one
            for one in dev.answers
        ],
    )
    ours = row(q001=[OLD_BACKUPS, BACKUPS])
    ruled = under_rules(ours, low)
    assert ruled.label == "bm25 + rules (floor 1 from dev)"
    assert (ruled.result.metrics.stale, ruled.result.metrics.right) == (0, 4)
    assert under_rules(ours, dev).label == "bm25 + rules (no floor from dev)"
    assert ours.result.metrics.stale == 1, "the row itself stays as it was"


def test_what_becomes_a_refusal_when_only_a_replaced_page_was_cited() -> None:
    ruled = under_rules(row(q001=[OLD_BACKUPS]), row())
    assert (ruled.result.metrics.stale, ruled.result.metrics.false_refusals.hits) == (0, 1)


def test_without_scores_replaced_pages_are_left_out_and_nothing_else() -> None:
    unscored = row(score=None, q001=[OLD_BACKUPS, BACKUPS], q002=[OLD_BACKUPS], q005=[LEAVE])
    ruled = under_rules(unscored, None)
    assert ruled.label == "bm25 + rules (replaced left out; no scores, so no floor)"
    found = ruled.result.metrics
    assert (found.stale, found.corrections_right.hits, found.false_refusals.hits) == (0, 1, 1)
    assert found.wrong == 1, "no floor keeps out what sounds like it"
    assert ruled.notes == (
        "bm25: in 1 of 6 answers all pages were replaced ones, of 5 asked for; with those left"
        " out they count as refusals.",
    )
    assert under_rules(row(score=None), None).notes == ()


def test_of_deep_answers_the_first_count_and_with_rules_those_that_are_left() -> None:
    asked = exam("dev", top_k=1, depth=4)
    deep = graded("bm25", asked, given(asked, q001=[OLD_BACKUPS, OLD_BACKUPS, RELEASE, BACKUPS]))
    assert deep.result.metrics.stale == 1
    ruled = under_rules(deep, row())
    assert ruled.result.metrics.stale == 0
    assert ruled.result.metrics.unrelated == 1, "the first that is left, and not the right one"
    assert ruled.notes == ()


def test_how_many_pages_are_asked_for() -> None:
    assert asked_for(exam("dev")) == "5 pages each at most"
    assert asked_for(exam("dev", depth=50)) == "5 pages each at most of 50 asked for"


def test_no_floor_without_scores_or_from_a_held_out_set() -> None:
    unscored, heldout = row(score=None), exam("heldout")
    with pytest.raises(UsageError, match="no score"):
        under_rules(row(), unscored)
    with pytest.raises(UsageError, match="held out"):
        under_rules(row(), graded("bm25", heldout, given(heldout)))
    with pytest.raises(UsageError, match="dev was not answered"):
        under_rules(row(), None)
    # A floor needs no score where nothing was answered.
    assert under_rules(silent(), silent()).result.metrics.answered == 0


def test_as_many_answers_as_another() -> None:
    asked = exam("dev")
    falling = [
        one.model_copy(update={"scores": (10.0 - number,)}) if one.cited else one
        for number, one in enumerate(given(asked, q005=[BACKUPS]))
    ]
    ours = graded("bm25", asked, falling)
    assert ours.result.metrics.answered == 5
    matched = at_coverage_of(ours, row(q001=None, q002=None))
    assert matched.label == "bm25 at 2 answered"
    assert matched.result.metrics.answered == 2
    assert at_coverage_of(ours, silent()).label == "bm25 at 0 answered"
    assert at_coverage_of(silent(), ours).label == "always-refuse at 0 answered"
    # It never answers more than it did; ties stand or fall together, so it may be fewer.
    assert at_coverage_of(ours, row(q005=[LEAVE], q006=[LEAVE])).result.metrics.answered == 5
    assert at_coverage_of(row(), row(q001=None)).label == "bm25 at 0 answered"


def test_no_equal_coverage_without_scores() -> None:
    unscored = row(score=None)
    with pytest.raises(UsageError, match="no score"):
        at_coverage_of(unscored, silent())


# ---------------------------------------------------------------- curves


def test_a_curve_ends_where_a_memory_stops_answering() -> None:
    asked = exam("dev")
    falling = [
        one.model_copy(update={"scores": (10.0 - number,)}) if one.cited else one
        for number, one in enumerate(given(asked, q001=[LEAVE], q005=[BACKUPS]))
    ]
    told = lines(curves([graded("bm25", asked, falling)]))
    #            10% 20%  30%  40% 50% 60% 70% 80% 90% 100%
    assert "bm25 · 100% 100% 50% 33% 33% 25% 25% · · 0.414" in told


def test_without_scores_or_answers_there_is_no_curve_and_it_says_so() -> None:
    assert lines(curves([silent(), row("plain", score=None)])) == [
        "No scores to draw a curve by: always-refuse, plain."
    ]
    told = lines(curves([row(), silent()]))
    assert any(line.startswith("bm25 ") for line in told)
    assert told[-1] == "No scores to draw a curve by: always-refuse."


# ---------------------------------------------------------------- names and widths


STRANGE = "产品/\x1b[31m发布\u202e[bold]流程\x00.md"


def strange() -> Row:
    """A memory that cites a page whose name a terminal would obey."""
    asked = exam("dev")
    page = PageStatus(name=STRANGE, superseded=False, superseded_by=None, lang="zh")
    asked = asked.model_copy(update={"pages": (*asked.pages, page)})
    return graded("中文 \x1b]0;title\x07 [red]系统", asked, given(asked, q005=[STRANGE]))


def test_names_are_shown_and_not_obeyed() -> None:
    found = strange()
    told = list(questions(found))
    assert told[4] == (
        "q005 refuse     unrelated     How often are Rust crates copied?"
        " → 产品/<U+001B>[31m发布<U+202E>[bold]流程<U+0000>.md"
    )
    assert told[1].endswith(f"什么时候发布？ → {RELEASE}")
    shown = "\n".join(
        printed(matrix([found]), costs([found]), compared(found, found), curves([found]))
    )
    assert "<U+001B>" in shown
    assert "[red]" in shown
    assert not set(shown) & {"\x1b", "\x07", "\u202e", "\x00"}


def test_every_question_with_what_became_of_it() -> None:
    told = list(questions(row(q001=[OLD_BACKUPS], q003=None, q004=[ON_CALL])))
    assert [line.split()[:3] for line in told] == [
        ["q001", "correction", "stale"],
        ["q002", "correction", "right"],
        ["q003", "current", "false_refusal"],
        ["q004", "current", "right"],
        ["q005", "refuse", "refused"],
        ["q006", "refuse", "refused"],
    ]
    with pytest.raises(UsageError, match="held out"):
        list(questions(Row("x", exam("heldout").public(), (), row().result)))


@pytest.mark.parametrize("label", ["bm25", LONG, "名字" * 30, "x" * 200])
def test_every_table_fits_eighty_columns_uncut(label: str) -> None:
    asked = big(60, 60, 80)
    marks = HELDOUT3["basic-memory"].marks
    scored = [
        one.model_copy(update={"scores": tuple(-1234.5678 for _ in one.cited)})
        for one in made(asked, marks)
    ]
    found = graded(label, asked, scored)
    other = published("claude-mem")
    told = printed(
        matrix([found, other]),
        costs([found, other]),
        parts(found),
        compared(found, other),
        curves([found, other]),
    )
    assert max(map(cell_len, told)) <= 80
    assert not any("…" in line for line in told)
    assert "78% (155/200) [72–82]" in " ".join(told)
