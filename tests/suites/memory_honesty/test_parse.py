import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from runner.errors import UsageError
from runner.suites.memory_honesty import Exam, UnreadableAnswers, parse_answers
from tests.suites.memory_honesty._kit import BACKUPS, LEAVE, ON_CALL, RELEASE, exam, oracle


def handed_in(asked: Exam) -> list[dict[str, Any]]:
    return [
        {"id": id_, "cited": list(pages or ()), "refused": pages is None}
        for id_, pages in oracle(asked).items()
    ]


def written(rows: Sequence[Any]) -> list[str]:
    return [row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows]


def faults(rows: Sequence[Any]) -> tuple[str, ...]:
    with pytest.raises(UnreadableAnswers) as caught:
        parse_answers(written(rows), exam("dev"))
    assert caught.value.exit_code == 2
    return caught.value.faults


def changed(**fields: Any) -> list[Any]:
    """All answers, the third of which has other fields; a field of ``...`` is left out."""
    rows: list[Any] = handed_in(exam("dev"))
    rows[2] |= fields
    rows[2] = {name: value for name, value in rows[2].items() if value is not ...}
    return rows


def test_answers_are_read_in_the_order_of_the_questions() -> None:
    asked = exam("dev")
    rows = handed_in(asked)
    given = parse_answers(written(rows[::-1]), asked)
    assert [one.question for one in given] == [row["id"] for row in rows]
    assert given[3].cited == (LEAVE, ON_CALL)
    assert given[3].scores == (None, None)
    assert (given[4].refused, given[4].ms, given[4].receipt) == (True, None, {})


def test_lines_may_be_bytes_or_text_and_blank_ones_say_nothing() -> None:
    asked = exam("dev")
    rows = written(handed_in(asked))
    wanted = parse_answers(rows, asked)
    assert parse_answers([row.encode() for row in rows], asked) == wanted
    assert parse_answers([row.replace("\n", "\r\n") for row in rows], asked) == wanted
    assert parse_answers(["\n", *rows, "  \n", ""], asked) == wanted
    assert parse_answers(["\ufeff" + rows[0], *rows[1:]], asked) == wanted
    assert parse_answers([row.rstrip() for row in rows], asked) == wanted
    plain = [json.dumps(json.loads(row), ensure_ascii=False) for row in rows]
    assert parse_answers([row.encode() for row in plain], asked) == wanted


def test_scores_are_taken_one_a_page() -> None:
    rows = handed_in(exam("dev"))
    rows[3]["scores"] = [2, None]
    rows[4]["scores"] = []
    given = parse_answers(written(rows), exam("dev"))
    assert given[3].scores == (2.0, None)
    assert given[3].score == 2.0


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"id": ...}, "no field 'id'"),
        ({"cited": ...}, "no field 'cited'"),
        ({"refused": ...}, "no field 'refused'"),
        ({"id": 3}, "id: not a string"),
        ({"id": "q999"}, "dev has no question 'q999'"),
        ({"id": "Q003"}, "dev has no question 'Q003'"),
        ({"id": "q001"}, "q001 was answered in line 1 already"),
        ({"cited": LEAVE}, "cited: not a list"),
        ({"cited": [None]}, "cited: not a list"),
        ({"cited": None}, "cited: not a list"),
        ({"cited": [{"name": LEAVE}]}, "cited: not a list"),
        ({"cited": ["Leave"]}, "vault1 has no page 'Leave'; is it 'Leave.md'?"),
        ({"cited": [LEAVE, "~"]}, "vault1 has no page '~'"),
        ({"cited": ["Ops\\On-call.md"]}, "has no page 'Ops\\\\On-call.md'; is it 'Ops/On-call.md'"),
        ({"refused": "false"}, "refused: neither"),
        ({"refused": 0}, "refused: neither"),
        ({"refused": None}, "refused: neither"),
        ({"scores": 1}, "scores: not a list"),
        ({"scores": ["1"]}, "scores: not a list"),
        ({"scores": [True]}, "scores: not a list"),
        ({"scores": None}, "scores: not a list"),
        ({"scores": []}, "scores: 0 for 1 cited pages"),
        ({"scores": [1, 2]}, "scores: 2 for 1 cited pages"),
        ({"scores": [10**400]}, ""),
        ({"score": [1]}, "unknown field 'score'; there are id, cited, refused, scores"),
        ({"Refused": False}, "unknown field 'Refused'"),
    ],
)
def test_a_wrong_line_is_told_with_its_number(fields: dict[str, Any], told: str) -> None:
    first, *_ = faults(changed(**fields))
    assert first.startswith("line 3: ")
    assert told in first


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "no JSON: .* at character 2"),
        ("nothing", "no JSON"),
        ("[]", "no JSON object"),
        ("null", "no JSON object"),
        ('"q003"', "no JSON object"),
        ('{"id": "q003", "id": "q003", "cited": [], "refused": true}', "'id' is there twice"),
        ('{"id": "q003", "cited": [], "refused": true} x', "no JSON: Extra data"),
        ('{"id": "q003", "cited": ["Leave.md"], "refused": false, "scores": [NaN]}', "NaN is no"),
        (
            '{"id": "q003", "cited": ["Leave.md"], "refused": false, "scores": [-Infinity]}',
            "-Infinity is no",
        ),
        ('{"id": "q003", "cited": ["Leave.md"], "refused": false, "scores": [1e999]}', "finite"),
        ('{"id": "q003", "cited": [], "refused": true, "scores": ' + "9" * 5000 + "}", "no JSON"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_a_line_that_is_no_answer_is_told_with_its_number(line: str, told: str) -> None:
    rows: list[Any] = handed_in(exam("dev"))
    rows[2] = line
    first, last = faults(rows)
    assert first.startswith("line 3: ")
    assert re.search(told, first), first
    assert last == "1 of 6 questions have no answer: q003"


def test_bytes_that_are_no_text_are_told() -> None:
    asked = exam("dev")
    rows = [row.encode() for row in written(handed_in(asked))]
    rows[1] = b'{"id": "\xff"}'
    with pytest.raises(UnreadableAnswers, match=r"line 2: not UTF-8: .* at byte 9"):
        parse_answers(rows, asked)


def test_all_faults_are_told_at_once_and_missing_answers_last() -> None:
    rows = changed(refused="no")
    rows[0] = {"id": "q001", "cited": ["Nowhere.md"], "refused": False}
    del rows[4]
    told = faults(rows)
    assert len(told) == 3
    # A question whose line cannot be read counts as one without an answer; one with a wrong page
    # was answered.
    assert told[-1] == "2 of 6 questions have no answer: q003, q005"


def test_a_file_that_is_wrong_all_over_is_told_in_part() -> None:
    with pytest.raises(UnreadableAnswers) as caught:
        parse_answers(["x\n"] * 30, exam("dev"))
    assert len(caught.value.faults) == 31
    assert str(caught.value).count("\n") == 11
    assert "and 21 more faults" in str(caught.value)


def test_an_empty_file_answers_nothing() -> None:
    (only,) = faults([])
    assert only == "6 of 6 questions have no answer: q001, q002, q003, q004, q005, q006"


def test_answers_need_the_questions() -> None:
    with pytest.raises(UsageError, match="held out"):
        parse_answers([], exam("heldout").public())


def test_a_refusal_with_citations_is_read_as_it_is() -> None:
    given = parse_answers(written(changed(cited=[BACKUPS, RELEASE], refused=True)), exam("dev"))
    assert (given[2].cited, given[2].answered) == ((BACKUPS, RELEASE), False)
