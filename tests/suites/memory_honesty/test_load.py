import gzip
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from runner.errors import UsageError
from runner.suites.memory_honesty import (
    SETS,
    Exam,
    Question,
    holds,
    load_exam,
    load_set,
    make_exam,
    make_vault,
    parse_questions,
)
from tests.suites.memory_honesty._kit import (
    BACKUPS,
    FILES,
    LEAVE,
    OLD_BACKUPS,
    ROWS,
    exam,
    lines,
    question_set,
    vault,
    write,
)

Edit = Callable[[str, str], None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path)


@pytest.fixture
def edit(folder: Path) -> Edit:
    """Replaces one passage of ``sets.toml``."""

    def change(old: str, new: str) -> None:
        path = folder / "sets.toml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return change


@pytest.mark.parametrize("name", SETS)
def test_every_set_is_read_as_it_is_stored(folder: Path, name: str) -> None:
    read = load_set(name, folder=folder)
    assert (read.name, read.vault, read.registered) == (name, "vault1", date(2026, 11, 30))
    assert read.held_out is name.startswith("heldout")
    assert read.floors_from == ("dev" if read.held_out else name)
    assert [question.id for question in read.questions] == [row["id"] for row in ROWS]
    assert read.counts == {"correction": 2, "current": 2, "refuse": 2}
    assert read.questions[1].q == "什么时候发布？"


def test_an_exam_carries_digests_and_statuses_and_no_text_of_a_page(folder: Path) -> None:
    found = load_exam("dev", top_k=3, seed=7, folder=folder)
    assert (found.top_k, found.seed, found.told, found.marker) == (3, 7, False, "front-matter")
    assert found.vault_sha256 == vault().sha256
    assert found.set_sha256 == load_set("dev", folder=folder).sha256
    assert found.statuses[OLD_BACKUPS].superseded_by == BACKUPS
    assert "six hours" not in found.model_dump_json()
    assert Exam.model_validate_json(found.model_dump_json()) == found
    assert load_exam("dev", marker="link", folder=folder).vault_sha256 == vault("link").sha256


def test_the_form_of_a_report_holds_no_held_out_question(folder: Path) -> None:
    full = load_exam("heldout", folder=folder)
    public = full.public()
    assert public.questions == ()
    assert (public.size, public.digest, public.kinds) == (6, full.digest, ("heldout",))
    assert Exam.model_validate_json(public.model_dump_json()) == public
    assert "copied" not in public.model_dump_json()
    with pytest.raises(UsageError, match="held out"):
        public.asked()
    dev = load_exam("dev", folder=folder)
    assert dev.public() is dev


def test_only_a_held_out_exam_goes_without_questions() -> None:
    full = exam("dev").model_dump()
    with pytest.raises(ValidationError, match="only a held-out"):
        Exam.model_validate({**full, "questions": ()})
    with pytest.raises(ValidationError, match="counts"):
        Exam.model_validate({**full, "counts": {"correction": 1, "current": 3, "refuse": 2}})


def test_what_a_subject_of_a_report_has_to_say() -> None:
    asked = exam("dev")
    assert (asked.name, asked.variant, asked.fixtures) == ("memory-honesty", None, "own")
    assert (asked.names, asked.script, asked.checks_versions) == ({}, "memory-honesty", (1,))
    assert asked.published_day == date(2026, 10, 14)


def test_the_digest_is_of_everything_that_is_asked() -> None:
    asked = exam("dev")
    assert exam("dev").digest == asked.digest
    others = [
        exam("dev", top_k=1),
        exam("dev", seed=1),
        exam("dev", told=True),
        exam("dev2"),
        make_exam(question_set("dev"), vault("prose")),
        make_exam(question_set("dev", sha256="a" * 64), vault()),
    ]
    assert len({one.digest for one in [asked, *others]}) == 7


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("schema = 1", "schema = 2", "schema"),
        ("schema = 1", "schema = ", "Invalid value"),
        ('name = "dev"', 'name = "other"', "0 times"),
        ('name = "dev2"', 'name = "dev"', "2 times"),
        ("held_out = false", "held_out = true", "held_out: true"),
        ("held_out = false", "held_out = 0", "held_out"),
        ('floors_from = "dev"', 'floors_from = "dev3"', "floors_from: 'dev3' cannot be"),
        ("correction = 2, current = 2", "correction = 3, current = 1", "counts"),
        ("counts = {", "count = {", "counts"),
        ('sha256 = "', 'sha256 = "f', "sha256"),
        ("registered = 2026-11-30", 'registered = "soon"', "registered"),
    ],
)
def test_a_set_is_held_to_what_was_registered(
    folder: Path, edit: Edit, old: str, new: str, told: str
) -> None:
    edit(old, new)
    with pytest.raises(UsageError, match=told):
        load_set("dev", folder=folder)


def test_floors_for_a_held_out_set_come_from_a_development_set(folder: Path, edit: Edit) -> None:
    edit('held_out = true\nfloors_from = "dev"', 'held_out = true\nfloors_from = "heldout"')
    with pytest.raises(UsageError, match="floors_from"):
        load_set("heldout", folder=folder)


def test_what_else_a_table_says_of_a_set_is_for_people(folder: Path, edit: Edit) -> None:
    edit('vault = "vault1"', 'vault = "vault1"\nabout = "Made for the tests."')
    assert load_set("dev", folder=folder).name == "dev"


def test_other_bytes_than_the_registered_ones_are_refused(folder: Path) -> None:
    path = folder / "dev.jsonl"
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(UsageError, match="not the set that was registered"):
        load_set("dev", folder=folder)
    held_out = folder / "heldout.jsonl.gz"
    held_out.write_bytes(gzip.compress(lines() + b"\n"))
    with pytest.raises(UsageError, match="not the set that was registered"):
        load_set("heldout", folder=folder)
    for raw in (b"no gzip", held_out.read_bytes()[:-9], b""):
        held_out.write_bytes(raw)
        with pytest.raises(UsageError, match=r"heldout\.jsonl\.gz"):
            load_set("heldout", folder=folder)


def test_what_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"no question set 'dev9'.*Sets: dev, dev2"):
        load_set("dev9", folder=folder)
    (folder / "dev.jsonl").unlink()
    with pytest.raises(UsageError, match=r"dev\.jsonl"):
        load_set("dev", folder=folder)
    (folder / "sets.toml").unlink()
    with pytest.raises(UsageError, match=r"sets\.toml"):
        load_set("dev2", folder=folder)


@pytest.mark.parametrize(
    ("row", "change", "told"),
    [
        (0, {"id": ""}, "id"),
        (0, {"id": "q 1"}, "id"),
        (0, {"q": "  "}, "q"),
        (0, {"kind": "other"}, "kind"),
        (0, {"lang": "de"}, "lang"),
        (0, {"gold": []}, "gold"),
        (0, {"gold": BACKUPS}, "gold"),
        (0, {"gold": [BACKUPS, BACKUPS]}, "named twice"),
        (0, {"old": None}, "old"),
        (0, {"old": BACKUPS}, "old"),
        (0, {"term": "Rust"}, "term"),
        (0, {"note": "x"}, "note"),
        (2, {"old": OLD_BACKUPS}, "old"),
        (2, {"neighbour": LEAVE}, "neighbour"),
        (4, {"gold": [BACKUPS]}, "gold"),
        (4, {"old": OLD_BACKUPS}, "old"),
    ],
)
def test_a_question_holds_what_its_kind_has_and_nothing_else(
    row: int, change: dict[str, Any], told: str
) -> None:
    rows = [dict(one) for one in ROWS]
    rows[row] |= change
    with pytest.raises(UsageError, match=rf"a\.jsonl: line {row + 1}: .*{told}"):
        parse_questions(lines(rows), "a.jsonl")


@pytest.mark.parametrize(
    ("raw", "line"),
    [(b"", 1), (lines() + b"\n", 7), (lines() + b"nothing", 7), (b"[]\n" + lines(), 1)],
)
def test_a_line_that_is_no_question_is_named(raw: bytes, line: int) -> None:
    with pytest.raises(UsageError, match=f"line {line}"):
        parse_questions(raw, "a.jsonl")


def test_no_question_is_there_twice() -> None:
    with pytest.raises(ValidationError, match="named twice: q001"):
        question_set("dev", ROWS[0], ROWS[0])


@pytest.mark.parametrize(
    ("row", "change", "told"),
    [
        (0, {"gold": ["Nowhere.md"]}, r"q001: there is no page 'Nowhere\.md'"),
        (0, {"old": "Nowhere.md"}, "there is no page"),
        (4, {"neighbour": "Nowhere.md"}, "there is no page"),
        (2, {"gold": [OLD_BACKUPS]}, "gold: .* was replaced"),
        (0, {"old": LEAVE}, "old: .* was not replaced"),
        (4, {"term": "DATABASES"}, r"term: 'DATABASES' is on 'Ops/Backups"),
        (5, {"term": "值班"}, "term: '值班' is on"),
        (4, {"term": "six\thours"}, "term"),
        (4, {"term": "Ops"}, "term"),
    ],
)
def test_a_vault_does_not_contradict_a_question(
    row: int, change: dict[str, Any], told: str
) -> None:
    rows = [dict(one) for one in ROWS]
    rows[row] |= change
    with pytest.raises(UsageError, match=told):
        exam("dev", *rows)


@pytest.mark.parametrize(
    ("text", "term", "there"),
    [
        ("We trust them.", "Rust", False),
        ("用Rust写", "rust", True),
        ("Ｒｕｓｔ 2", "Rust", True),
        ("C++ code", "c++", True),
        ("rusty", "Rust", False),
        ("a\nb", "a b", True),
        ("cafe\u0301", "café", True),
        ("发布流程", "布流", True),
    ],
)
def test_when_a_text_holds_a_term(text: str, term: str, there: bool) -> None:
    assert holds(text, term) is there


def test_a_question_may_do_without_neighbour_and_term() -> None:
    row = {"id": "q1", "q": "?", "kind": "refuse", "lang": "en", "gold": []}
    assert exam("dev", *ROWS[:2], row).counts == {"correction": 2, "current": 0, "refuse": 1}
    assert not Question.model_validate(row).answerable


@pytest.mark.parametrize("top_k", [0, -1, 101])
def test_so_many_pages_cannot_be_cited(top_k: int) -> None:
    with pytest.raises(UsageError, match="--top-k"):
        exam("dev", top_k=top_k)


def test_a_set_is_about_its_own_vault() -> None:
    with pytest.raises(UsageError, match="is about vault1, not vault2"):
        make_exam(question_set("dev"), make_vault("vault2", FILES))
