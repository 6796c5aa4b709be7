"""Answers that somebody hands in: graded offline, and nothing of them guessed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from runner.commands import _honesty, grade
from runner.reports.honesty import Row, questions
from runner.suites.memory_honesty import Question, load_set
from tests.commands.conftest import Bench

pytestmark = pytest.mark.slow

LAST = "| 2026-11-30 | dev3 | the last line |\n"


def asked(name: str) -> tuple[Question, ...]:
    return load_set(name).questions


def hand_in(path: str, name: str, **changed: dict[str, Any]) -> Path:
    """A file of answers without fault, surer and surer, but for those that are ``changed``."""
    lines = [
        {
            "id": one.id,
            "cited": list(one.gold[:1]),
            "refused": not one.gold,
            "scores": [float(number)] * len(one.gold[:1]),
            **changed.get(one.id, {}),
        }
        for number, one in enumerate(asked(name))
    ]
    file = Path(path)
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return file


def unscored(path: str, name: str) -> Path:
    file = hand_in(path, name)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        del line["scores"]
    file.write_text("\n".join(map(json.dumps, lines)))
    return file


@pytest.fixture
def register(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A register of its own."""
    file = tmp_path / "fixtures" / "honesty" / "REGISTER.md"
    file.parent.mkdir(parents=True)
    file.write_text(LAST)
    monkeypatch.setattr(_honesty, "fixtures", lambda: tmp_path / "fixtures")
    return file


# ---------------------------------------------------------------- what it prints


def test_answers_without_fault(bench: Bench) -> None:
    done = bench("grade", hand_in("mine.jsonl", "dev"), "--set", "dev")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("dev (vault1): 10 correction, 10 current, 10 refuse\n")
    said = [" ".join(line.split()) for line in done.out.splitlines()]
    assert "mine 0% (0/20) [0–0] 10/10 10/10 10/10 0 0" in said
    assert "mine +0.67 +0.67 +0.67 0.000 · ·" in said
    assert "refuse 10 0 (0%) 0 0 (none) 0 10" in said
    assert all(len(line) <= 80 for line in done.out.splitlines())


def test_a_mistake_of_every_kind(bench: Bench) -> None:
    by_kind = {kind: [one for one in asked("dev") if one.kind == kind] for kind in ("correction",
               "current", "refuse")}  # fmt: skip
    stale, missed, near = by_kind["correction"][0], by_kind["current"][0], by_kind["refuse"][0]
    changed: dict[str, dict[str, Any]] = {
        stale.id: {"cited": [stale.old], "scores": [1]},
        missed.id: {"cited": [], "scores": []},
        near.id: {"cited": [near.neighbour], "refused": False, "scores": [None]},
    }
    done = bench("grade", hand_in("mine.jsonl", "dev", **changed), "--set", "dev")
    said = [" ".join(line.split()) for line in done.out.splitlines()]
    assert any(line.startswith("mine 10% (2/20) [") for line in said)
    assert any(line.endswith("9/10 9/10 9/10 1 1") for line in said)
    assert "In 1 of 30 answers it cited nothing without saying that it refuses" in done.out
    assert "1 of 20 answers have no score: there is no curve." in done.out
    assert done.code == 0


def test_two_systems_and_a_floor(bench: Bench) -> None:
    near = next(one for one in asked("heldout") if one.neighbour)
    wrong = {near.id: {"cited": [near.neighbour], "refused": False, "scores": [0.5]}}
    mine, theirs = hand_in("mine.jsonl", "heldout"), hand_in("theirs.jsonl", "heldout", **wrong)
    dev = hand_in("dev.jsonl", "dev")
    done = bench(
        *("grade", theirs, "--set", "heldout", "--floors", dev, "--vs", mine),
        *("--vs-matched", mine, "--curve", "--name", "system A"),
    )
    assert (done.code, done.err) == (0, "")
    said = " ".join(done.out.split())
    for told in (
        "heldout (vault1, held out): 9 correction, 6 current, 10 refuse",
        "system A 6% (1/16)",
        "system A + rules 6% (1/16)",
        "(no floor from dev)",
        "system A minus mine",
        "system A minus mine at 15 answered",
        "wrong at coverage",
    ):
        assert told in said, told
    assert near.id not in done.out
    assert near.q not in done.out


def test_intervals_as_published_keep_no_kinds_apart(bench: Bench) -> None:
    near = [one for one in asked("dev") if one.neighbour]
    wrong = {
        one.id: {"cited": [one.neighbour], "refused": False, "scores": [1]} for one in near[:6]
    }
    file = hand_in("mine.jsonl", "dev", **wrong)
    apart, alike = (
        bench("grade", file, "--set", "dev"),
        bench("grade", file, "--set", "dev", "--unstratified"),
    )
    assert "23% (6/26) [13–31]" in apart.out
    assert "23% (6/26) [8–40]" in alike.out
    assert apart.out.replace("[13–31]", "[8–40]").split() == alike.out.split()


def test_as_json_it_tells_figures_and_what_was_graded(bench: Bench) -> None:
    done = bench("grade", hand_in("mine.jsonl", "heldout"), "--set", "heldout", "--format", "json")
    document = json.loads(done.out)
    assert (document["set"], document["name"]) == ("heldout", "mine")
    assert document["set_sha256"] == load_set("heldout").sha256
    assert document["result"]["metrics"]["answerable_right"] == {"hits": 15, "of": 15}
    assert document["result"]["intervals"]["stratified"] is True
    for one in asked("heldout"):
        assert one.q not in done.out
        assert f'"{one.id}"' not in done.out


def test_a_name_is_shown_and_not_obeyed(bench: Bench) -> None:
    file = hand_in("mine.jsonl", "dev")
    done = bench("grade", file, "--set", "dev", "--name", "中文 \x1b [bold] 系统")
    assert "\x1b" not in done.out
    assert "<U+001B>" in done.out
    assert "[bold]" in done.out
    assert all(cell_len(line) <= 80 for line in done.out.splitlines())


# ---------------------------------------------------------------- what is not graded


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 3: no JSON"),
        ("[]", "line 3: no JSON object"),
        ('{"id": "q003"}', "line 3: no field 'cited'"),
        ('{"id": "q003", "cited": [], "refused": "no"}', "line 3: refused"),
        ('{"id": "q003", "cited": [], "refused": false, "score": 1}', "unknown field 'score'"),
        ('{"id": "q999", "cited": [], "refused": true}', "dev has no question 'q999'"),
        ('{"id": "q001", "cited": [], "refused": true}', "q001 was answered in line 1 already"),
        ('{"id": "q003", "cited": ["no page"], "refused": false}', "vault1 has no page 'no page'"),
        ('{"id": "q003", "cited": [], "refused": true, "scores": [1]}', "1 for 0 cited pages"),
        ("", "1 of 30 questions have no answer: q003"),
    ],
)
def test_a_line_that_is_no_answer_is_named(bench: Bench, line: str, says: str) -> None:
    file = hand_in("mine.jsonl", "dev")
    lines = file.read_text().splitlines()
    lines[2] = line
    file.write_text("\n".join(lines))
    done = bench("grade", file, "--set", "dev")
    assert (done.code, done.out) == (2, "")
    assert says in " ".join(done.err.split())


def test_what_cannot_be_graded(bench: Bench) -> None:
    mine, plain_ = hand_in("mine.jsonl", "dev"), unscored("plain.jsonl", "dev")
    heldout = hand_in("heldout.jsonl", "heldout")
    Path("binary").write_bytes(b"\xff\xfe\x00")
    for arguments, says in (
        ((mine,), "--set"),
        ((mine, "--set", "nonsense"), "There is no question set 'nonsense'"),
        (("none.jsonl", "--set", "dev"), "none.jsonl cannot be read"),
        ((".", "--set", "dev"), "cannot be read"),
        (("binary", "--set", "dev"), "line 1: not UTF-8"),
        ((mine, "--set", "dev3"), "vault2 has no page"),
        ((mine, "--set", "dev", "--vs", "none.jsonl"), "none.jsonl cannot be read"),
        ((mine, "--set", "dev", "--vs-matched", plain_), "no score"),
        ((mine, "--set", "dev", "--floors", plain_), "no score"),
        ((heldout, "--set", "heldout", "--floors", heldout), "dev has no question|no answer"),
    ):
        done = bench("grade", *arguments)
        assert (done.code, done.out) == (2, ""), (arguments, done.err)
        said = " ".join(done.err.split())
        assert any(part in said for part in says.split("|")), said


def test_a_file_longer_than_any_is_not_read_to_its_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grade, "MAX_BYTES", 1 << 20)
    Path("big").write_bytes(b"\n" * ((1 << 20) + 1))
    done = bench("grade", "big", "--set", "dev")
    assert done.code == 2
    assert "more than 1 MB" in done.err


# ---------------------------------------------------------------- question by question


def test_a_development_set_is_revealed_and_nobody_told(bench: Bench, register: Path) -> None:
    done = bench("grade", hand_in("mine.jsonl", "dev"), "--set", "dev", "--reveal")
    assert done.code == 0
    for one in asked("dev"):
        assert one.q in done.out
    assert register.read_text() == LAST


def test_a_held_out_set_is_revealed_after_the_register_says_so(
    bench: Bench, register: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def look(row: Row) -> Iterator[str]:
        seen.append(register.read_text())
        return questions(row)

    monkeypatch.setattr(_honesty, "questions", look)
    file = hand_in("mine.jsonl", "heldout")
    done = bench("grade", file, "--set", "heldout", "--reveal", "--name", "a | b\nc\x1b")
    assert (done.code, done.err) == (0, "")
    assert all(one.q in done.out for one in asked("heldout"))
    assert len(seen) == 1
    assert seen[0] == register.read_text()
    last, line = seen[0].splitlines()
    assert f"{last}\n" == LAST
    assert line.endswith("| heldout | revealed: a \\| b c<U+001B> |")
    assert "\x1b" not in done.out


@pytest.mark.parametrize("form", ["table", "json"])
def test_without_reveal_nothing_is_written_and_nothing_shown(
    bench: Bench, register: Path, form: str
) -> None:
    done = bench("grade", hand_in("mine.jsonl", "heldout"), "--set", "heldout", "--format", form)
    assert done.code == 0
    assert register.read_text() == LAST
    assert not any(one.q in done.out for one in asked("heldout"))


def test_a_register_that_cannot_be_written_refuses(bench: Bench, register: Path) -> None:
    register.unlink()
    register.mkdir()
    done = bench("grade", hand_in("mine.jsonl", "heldout"), "--set", "heldout", "--reveal")
    assert done.code == 2
    assert "The register cannot be written" in " ".join(done.err.split())
    assert "no held-out question is shown" in " ".join(done.err.split())
    for one in asked("heldout"):
        assert one.q not in done.out + done.err
