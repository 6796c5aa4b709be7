import json
from pathlib import Path
from typing import Any

import pytest

from runner.errors import UsageError
from runner.suites.honesty_learning import VAULTS, Lesson, load_lesson, parse_pairs
from tests.suites.honesty_learning._kit import (
    LEAVE,
    ROWS,
    lesson,
    pairs,
    row,
    write_pairs,
)


def test_pairs_are_read_with_what_they_are_about(tmp_path: Path) -> None:
    read = load_lesson("vault1", top_k=3, folder=write_pairs(tmp_path))
    assert (read.name, read.variant, read.fixtures) == ("honesty-learning", "vault1", "own")
    assert (read.names, read.script, read.checks_versions) == ({}, "honesty-learning", (1,))
    assert read.counts == {"correction": 1, "current": 2, "refuse": 2}
    assert (read.size, read.top_k, len(read.pages)) == (5, 3, 6)
    assert read.pairs == pairs()
    assert read.published_day.isoformat() == "2026-10-15"


def test_each_week_is_an_exam_of_the_honesty_suite() -> None:
    asked = lesson(top_k=2)
    first, second = asked.exam(1), asked.exam(2)
    assert [one.q for one in first.asked()] == [one["week1"] for one in ROWS]
    assert [one.q for one in second.asked()] == [one["week2"] for one in ROWS]
    for exam in (first, second):
        assert exam.top_k == 2
        assert [one.gold for one in exam.asked()] == [tuple(one["gold"]) for one in ROWS]


def test_only_the_vaults_own_pairs_are_asked(tmp_path: Path) -> None:
    folder = write_pairs(tmp_path, [*ROWS, row(0, id="w006", vault="vault2")])
    assert [pair.id for pair in load_lesson("vault1", folder=folder).pairs] == [
        one["id"] for one in ROWS
    ]


@pytest.mark.parametrize(
    ("number", "change", "says"),
    [
        (0, {"week2": "How  frequently are databases copied?"}, "the wording of week1 again"),
        (0, {"quote": None}, "quote: belongs"),
        (3, {"quote": "Databases are copied every six hours."}, "quote: belongs"),
        (3, {"term": None}, "neighbour, term"),
        (3, {"neighbour": None}, "neighbour, term"),
        (0, {"old": None}, "old: belongs"),
        (1, {"gold": []}, "gold: a question to refuse"),
        (1, {"kind": "unknown"}, "kind"),
        (1, {"week1": " "}, "week1"),
        (1, {"more": 1}, "more"),
        (1, {"vault": "vault3"}, "vault3"),
    ],
)
def test_a_pair_that_contradicts_itself(number: int, change: dict[str, Any], says: str) -> None:
    rows = [*ROWS[:number], row(number, **change), *ROWS[number + 1 :]]
    raw = b"\n".join(json.dumps(one).encode() for one in rows)
    with pytest.raises(UsageError, match=f"here: line {number + 1}: .*{says}"):
        parse_pairs(raw, "here")


def test_an_id_is_given_once() -> None:
    with pytest.raises(UsageError, match="line 2: id: w001 is there twice"):
        parse_pairs(b"\n".join([json.dumps(ROWS[0]).encode()] * 2), "here")


@pytest.mark.parametrize(
    ("number", "change", "says"),
    [
        (0, {"quote": "Databases are copied every hour."}, "w001: quote: it stands on none"),
        (0, {"old": LEAVE}, "w001: old: .* was not replaced"),
        (1, {"gold": ["Nowhere.md"]}, "w002: there is no page"),
        (3, {"term": "copied"}, "w004: term: .* is on"),
        (1, {"week1": ROWS[0]["week2"]}, "wordings that are there twice: When is a database"),
    ],
)
def test_a_pair_that_contradicts_the_vault_or_another(
    number: int, change: dict[str, Any], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        lesson(*ROWS[:number], row(number, **change), *ROWS[number + 1 :])


def test_a_quote_may_be_wrapped_otherwise() -> None:
    quoted = row(0, quote="Databases are  copied\nevery six hours.")
    assert lesson(quoted).pairs[0].quote == quoted["quote"]


def test_what_is_asked_wrongly(tmp_path: Path) -> None:
    folder = write_pairs(tmp_path)
    for wrong, says in (
        ({"vault": "vault3"}, "no pairs of 'vault3'"),
        ({"vault": "vault2"}, "no vault 'vault2'"),
        ({"vault": "vault1", "top_k": 0}, "--top-k"),
    ):
        with pytest.raises(UsageError, match=says):
            load_lesson(**wrong, folder=folder)
    with pytest.raises(UsageError, match="no pairs of vault1"):
        lesson_of_none(tmp_path / "other")


def lesson_of_none(folder: Path) -> Lesson:
    folder.mkdir()
    return load_lesson("vault1", folder=write_pairs(folder, [row(0, vault="vault2")]))


@pytest.mark.parametrize(
    ("name", "old", "new", "says"),
    [
        ("learn.jsonl", "Rust", "Ruby", "other pairs than were registered"),
        ("learn.toml", "schema = 1", "schema = 2", "schema"),
        ("learn.toml", "refuse = 2", "refuse = 3", "counts"),
        ("learn.toml", "schema = 1", "schema 1", "learn.toml"),
    ],
)
def test_files_that_are_not_as_registered(
    tmp_path: Path, name: str, old: str, new: str, says: str
) -> None:
    path = write_pairs(tmp_path) / name
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(UsageError, match=says):
        load_lesson("vault1", folder=tmp_path)


@pytest.mark.parametrize("name", ["learn.jsonl", "learn.toml"])
def test_a_file_that_is_not_there(tmp_path: Path, name: str) -> None:
    (write_pairs(tmp_path) / name).unlink()
    with pytest.raises(UsageError, match=f"{name} cannot be read"):
        load_lesson("vault1", folder=tmp_path)


def test_a_lesson_is_of_one_vault() -> None:
    whole = lesson().model_dump(mode="json")
    whole["vault"] = "vault2"
    with pytest.raises(ValueError, match="pairs: of vault1"):
        Lesson.model_validate_json(json.dumps(whole))
    whole["vault"] = "vault1"
    whole["pairs"].append(whole["pairs"][0])
    with pytest.raises(ValueError, match="pairs named twice: w001"):
        Lesson.model_validate_json(json.dumps(whole))


@pytest.mark.parametrize("vault", VAULTS)
def test_the_projects_own_pairs(vault: str) -> None:
    own = load_lesson(vault)
    assert own.size >= 20
    assert set(own.counts) == {"correction", "current", "refuse"}
    assert all(own.counts.values())
