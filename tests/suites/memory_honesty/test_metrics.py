import pytest

from runner.suites.memory_honesty import (
    RATES,
    Answer,
    Exam,
    Mark,
    Metrics,
    Tally,
    grades,
    metrics,
    parse_answers,
)
from runner.suites.memory_honesty.rates import count, defined
from tests.suites.memory_honesty._big import big, graded, made
from tests.suites.memory_honesty._published import FALSE, HELDOUT3, NEAR, RIGHT, Row, rows


@pytest.mark.parametrize(("asked", "row"), [row[1:] for row in rows()], ids=[r[0] for r in rows()])
def test_published_totals_come_out_of_their_counts(asked: Exam, row: Row) -> None:
    found = metrics(graded(asked, row.marks))
    assert (found.wrong, found.answered) == (row.wrong, row.answered)
    assert found.wrong_rate == row.wrong / row.answered
    assert found.neighbours_refused.hits == row.refused
    assert found.neighbours_refused.of == asked.counts["refuse"]
    assert (found.corrections_right.hits, found.current_right.hits) == (
        row.corrections,
        row.current,
    )
    assert found.answerable_right.hits == row.corrections + row.current == found.right
    assert found.false_refusals.hits == row.false_refusals
    assert found.false_refusals.of == asked.counts["correction"] + asked.counts["current"]


def test_what_the_wrong_citations_of_the_published_rows_are() -> None:
    asked = big(60, 60, 80)
    split = {}
    for name, row in HELDOUT3.items():
        parts = metrics(graded(asked, row.marks)).by_kind
        split[name] = (parts["refuse"].wrong, parts["correction"].wrong + parts["current"].wrong)
    assert split == {
        "KRouter": (34, 3),
        "claude-mem": (80, 48),
        "basic-memory": (80, 75),
        "basic-memory with rules": (4, 1),
    }


def test_totals_come_out_of_a_file_that_was_handed_in_too() -> None:
    asked = big(60, 60, 80)
    given = made(asked, HELDOUT3["KRouter"].marks)

    def line(answer: Answer) -> str:
        return Answer.model_dump_json(answer, include={"id", "cited", "refused"})[:-1] + (
            f',"id":"{answer.question}"}}'
        )

    found = metrics(grades(asked, parse_answers(map(line, given), asked)))
    assert (found.wrong, found.answered, found.false_refusals.hits) == (37, 139, 15)


def test_everything_is_counted_over_all_by_kind_and_by_language() -> None:
    asked = big(4, 2, 4)
    found = metrics(
        graded(
            asked,
            {
                "correction": [(RIGHT, 2), (Mark.STALE, 1), (FALSE, 1)],
                "current": [(Mark.UNRELATED, 1), (RIGHT, 1)],
                "refuse": [(NEAR, 1), (Mark.STALE, 1), (Mark.REFUSED, 2)],
            },
        )
    )
    assert (found.n, found.answered, found.right, found.wrong) == (10, 7, 3, 4)
    assert (found.stale, found.neighbour_cited, found.unrelated) == (2, 1, 1)
    assert (found.wrong_rate, found.coverage, found.behaved) == (4 / 7, 0.7, 5)
    assert found.cost == {"1": -0.1, "2": -0.5, "5": -1.7}
    corrections = found.by_kind["correction"]
    assert (corrections.n, corrections.wrong_rate) == (4, 1 / 3)
    assert corrections.corrections_right.rate == 0.5
    assert corrections.current_right.rate is None
    assert corrections.false_refusals.model_dump() == {"hits": 1, "of": 4}
    assert list(found.by_kind) == ["correction", "current", "refuse"]
    # Languages by turns, Chinese first: see the kit.
    assert {lang: part.n for lang, part in found.by_language.items()} == {"en": 5, "zh": 5}
    assert found.by_language["zh"].neighbours_refused.model_dump() == {"hits": 1, "of": 2}


def test_parts_add_up() -> None:
    found = metrics(graded(big(60, 60, 80), HELDOUT3["KRouter"].marks))
    whole = ("n", "answered", "right", "wrong", "stale", "neighbour_cited", "unrelated", "behaved")
    for parts in (found.by_kind, found.by_language):
        for name in whole:
            total = sum(getattr(part, name) for part in parts.values())
            assert total == getattr(found, name), name
    assert found.wrong == found.stale + found.neighbour_cited + found.unrelated


def test_who_always_refuses_has_no_rate_and_every_right_refusal() -> None:
    asked = big(2, 2, 3)
    found = metrics(
        graded(
            asked,
            {
                "correction": [(FALSE, 2)],
                "current": [(FALSE, 2)],
                "refuse": [(Mark.REFUSED, 3)],
            },
        )
    )
    assert (found.answered, found.wrong_rate, found.coverage) == (0, None, 0.0)
    assert (found.neighbours_refused.rate, found.false_refusals.rate) == (1.0, 1.0)
    assert found.cost == {"1": 0.0, "2": 0.0, "5": 0.0}


def test_the_oracle_is_right_about_everything() -> None:
    asked = big(2, 2, 3)
    found = metrics(
        graded(
            asked,
            {"correction": [(RIGHT, 2)], "current": [(RIGHT, 2)], "refuse": [(Mark.REFUSED, 3)]},
        )
    )
    assert (found.wrong_rate, found.behaved, found.false_refusals.hits) == (0.0, 7, 0)
    assert set(found.cost.values()) == {4 / 7}


def test_of_nothing_there_is_no_rate() -> None:
    found = metrics(())
    assert (found.n, found.wrong_rate, found.coverage, found.cost["1"]) == (0, None, None, None)
    assert (found.by_kind, found.by_language) == ({}, {})


def test_a_kind_that_is_not_asked_has_no_part_and_no_rate() -> None:
    asked = big(2, 0, 0)
    given = graded(asked, {"correction": [(RIGHT, 2)]})
    assert list(metrics(given).by_kind) == ["correction"]
    names = defined(count(given))
    assert "neighbours_refused" not in names
    assert "current_right" not in names
    assert {"wrong_rate", "corrections_right", "cost_5"} <= set(names)
    assert set(names) < set(RATES)


def test_metrics_are_written_and_read_back() -> None:
    found = metrics(graded(big(60, 60, 80), HELDOUT3["KRouter"].marks))
    assert Metrics.model_validate_json(found.model_dump_json()) == found
    assert isinstance(found, Tally)
