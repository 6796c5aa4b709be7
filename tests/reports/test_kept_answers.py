"""Answers that are kept as files, and what they were graded as."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from runner.errors import UsageError
from runner.reports.honesty import row_of
from runner.reports.kept_answers import FILE, Figures, keep, load_kept, regrade
from runner.reports.schema import Report
from runner.suites.memory_honesty import Exam, load_exam, parse_answers
from tests.reports._honesty import FAILED, report
from tests.reports._taken import call, took
from tests.suites.memory_honesty._kit import Said

pytestmark = pytest.mark.slow


def said(asked: Exam) -> Mapping[str, Said]:
    """A wrong answer, a refusal that is wrong and one that is a stale page."""
    questions = asked.asked()
    of = {kind: next(one for one in questions if one.kind == kind) for kind in asked.counts}
    return {
        of["correction"].id: [of["correction"].old or ""],
        of["current"].id: None,
        of["refuse"].id: [of["refuse"].neighbour or ""],
    }


def of(name: str = "dev", score: float | None = 1.0) -> Report:
    asked = load_exam(name)
    return report(asked, said(asked), score=score)


def test_what_is_kept_is_graded_as_it_was(tmp_path: Path) -> None:
    made = of()
    path = keep(tmp_path, made)
    assert path == tmp_path / "bm25" / "dev.jsonl"
    kept = load_kept(tmp_path / "bm25")
    [one] = kept.sets
    assert (kept.system, one.name, one.version) == ("bm25", "dev", made.system.version)
    assert (one.image, one.bench) == ("sha256:1", made.bench_version)
    assert one.date.isoformat() == "2026-12-01"
    assert (one.model, one.answered_by, one.encoder) == ("", "", "")
    assert one.figures == Figures.of(row_of(made).result) == regrade(tmp_path / "bm25", one)
    assert (one.figures.stale, one.figures.neighbour_cited, one.figures.false_refusals) == (1, 1, 1)
    assert one.figures.area is not None


def test_the_lines_are_what_anybody_hands_in(tmp_path: Path) -> None:
    path = keep(tmp_path, of("dev3"))
    assert path is not None
    asked = load_exam("dev3")
    given = parse_answers(path.read_bytes().splitlines(), asked)
    assert [one.question for one in given] == [one.id for one in asked.asked()]
    assert "\\u" not in path.read_text("utf-8"), "Chinese names can be read"
    first = json.loads(path.read_text("utf-8").splitlines()[0])
    assert set(first) <= {"id", "cited", "refused", "scores"}


def test_a_memory_without_scores_keeps_none(tmp_path: Path) -> None:
    path = keep(tmp_path, of(score=None))
    assert path is not None
    assert "scores" not in path.read_text("utf-8")
    [one] = load_kept(tmp_path / "bm25").sets
    assert one.figures.area is None
    assert regrade(tmp_path / "bm25", one) == one.figures


def test_a_model_that_was_asked_is_named_with_who_answered_for_it(tmp_path: Path) -> None:
    keep(tmp_path, took(load_exam("dev"), call(1)))
    [one] = load_kept(tmp_path / "router").sets
    assert one.model == "claude-sonnet-5-5"
    assert one.answered_by == "scripted: made from the page's own text"


def test_sets_are_kept_beside_one_another_and_a_newer_run_in_an_older_ones_place(
    tmp_path: Path,
) -> None:
    keep(tmp_path, of("dev3"))
    keep(tmp_path, of("dev"))
    first = {one.name: one for one in load_kept(tmp_path / "bm25").sets}
    assert list(first) == ["dev", "dev3"]
    keep(tmp_path, report(load_exam("dev")))
    second = {one.name: one for one in load_kept(tmp_path / "bm25").sets}
    assert second["dev3"] == first["dev3"]
    assert second["dev"].figures.wrong == 0
    for name, one in second.items():
        assert regrade(tmp_path / "bm25", one) == one.figures, name


def test_pages_behind_those_that_count_are_not_kept(tmp_path: Path) -> None:
    """So what is kept is graded alike however many pages were asked for."""
    asked = load_exam("dev", depth=50)
    names = [page.name for page in asked.pages][:20]
    path = keep(tmp_path, report(asked, {asked.asked()[0].id: names}))
    assert path is not None
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert max(len(line["cited"]) for line in lines) == 5
    [one] = load_kept(tmp_path / "bm25").sets
    assert regrade(tmp_path / "bm25", one) == one.figures


def test_of_a_held_out_set_and_of_no_run_nothing_is_kept(tmp_path: Path) -> None:
    assert keep(tmp_path, of("heldout")) is None
    assert keep(tmp_path, report(load_exam("dev"), ended=FAILED)) is None
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    made = of()
    system = made.system.model_copy(update={"name": "../elsewhere"})
    with pytest.raises(UsageError, match="no name that a folder could have"):
        keep(tmp_path / "answers", made.model_copy(update={"system": system}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('system = "bm25"', 'system = "other"', "is of other, not of bm25"),
        ("schema = 1", "schema = 2", "holds no kept answers"),
        ("[[set]]", "[[sets]]", "holds no kept answers"),
        ("answered =", "asked =", "holds no kept answers"),
    ],
)
def test_what_is_there_and_is_something_else_is_not_written_over(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    keep(tmp_path, of())
    file = tmp_path / "bm25" / FILE
    file.write_text(file.read_text().replace(old, new, 1))
    before = file.read_text()
    with pytest.raises(UsageError, match=says):
        keep(tmp_path, of("dev3"))
    assert file.read_text() == before


def test_lines_or_sets_that_changed_are_not_graded(tmp_path: Path) -> None:
    path = keep(tmp_path, of())
    assert path is not None
    [one] = load_kept(tmp_path / "bm25").sets
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(UsageError, match=r"dev\.jsonl is not what the answers"):
        regrade(tmp_path / "bm25", one)
    keep(tmp_path, of())
    for field in ("set_sha256", "vault_sha256"):
        with pytest.raises(UsageError, match="is not what the answers"):
            regrade(tmp_path / "bm25", one.model_copy(update={field: "0" * 64}))


def test_the_file_says_who_what_and_when(tmp_path: Path) -> None:
    keep(tmp_path, took(load_exam("dev"), call(1)))
    raw = (tmp_path / "router" / FILE).read_text("utf-8")
    assert raw.startswith("# Written by `bench honesty --answers`")
    [one] = tomllib.loads(raw)["set"]
    assert {"name", "sha256", "date", "version", "image", "model", "figures"} <= set(one)
