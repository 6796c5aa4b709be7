"""What a saved report may say of its model calls."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from runner.errors import AlteredReport
from runner.model import Call
from runner.prices import ModelPrice
from runner.reports import files
from runner.reports.rescore import verify
from runner.runs.calls import by_purpose

Document = dict[str, Any]
Forge = Callable[[Path, Callable[[Document], object]], None]


def consistent(
    how: Callable[[Document, Document], object], place: int = 0
) -> Callable[[Document], object]:
    """A change of one call of a run, with every sum over calls made anew."""

    def change(document: Document) -> None:
        run = document["runs"][0]
        how(run["calls"][place], run)
        calls = [Call.model_validate(call) for call in run["calls"]]
        run["usage"] = [row.model_dump(mode="json") for row in by_purpose(calls)]
        run["cost_usd"] = str(sum((call.cost_usd for call in calls), Decimal(0)))
        total = sum((Decimal(one["cost_usd"]) for one in document["runs"]), Decimal(0))
        document["spend"]["cost_usd"] = str(total)

    return change


def price(run: Document) -> ModelPrice:
    return ModelPrice.model_validate(run["gateway"]["prices"][run["spec"]["model"]])


def check(path: Path) -> None:
    verify(files.load(path))


def test_a_call_that_told_no_usage_costs_what_was_set_aside_and_bears_no_verdict(
    reader: Path, forge: Forge
) -> None:
    def blind(call: Document, _: Document) -> None:
        call |= {"usage": {}, "flags": ["no_usage"], "cost_usd": "0.3", "reserved_usd": "0.3"}

    forge(reader, consistent(blind))
    with pytest.raises(AlteredReport, match=r"runs\[0\]\.ending"):
        check(reader)


def test_a_broken_stream_costs_no_less_than_it_told(reader: Path, forge: Forge) -> None:
    def broken(call: Document, _: Document) -> None:
        call |= {"flags": ["broken"], "cost_usd": "0.2", "reserved_usd": "0.3"}

    forge(reader, consistent(broken))
    check(reader)


@pytest.mark.parametrize(
    "how",
    [
        {"flags": ["no_usage"], "cost_usd": "0.4", "reserved_usd": "0.3"},
        {"flags": ["broken"], "cost_usd": "0.000001", "reserved_usd": "0.3"},
        {"flags": [], "cost_usd": "0.3", "reserved_usd": "0.3"},
        {"flags": ["lowered"], "cost_usd": "0.3", "reserved_usd": "0.3"},
        {"batch": "msgbatch_1"},
    ],
)
def test_any_other_cost_is_refused(how: Document, reader: Path, forge: Forge) -> None:
    forge(reader, consistent(lambda call, _: call.update(how)))
    with pytest.raises(AlteredReport, match=r"calls\[0\].cost_usd"):
        check(reader)


def test_a_batch_that_may_have_been_taken_costs_what_was_set_aside(
    reader: Path, forge: Forge
) -> None:
    def lost(call: Document, run: Document) -> None:
        one = {**call, "outcome": "failed", "error": "cut", "requested_model": "", "usage": {}}
        costs = {"flags": ["no_usage"], "cost_usd": "0.3", "reserved_usd": "0.3"}
        run["calls"].insert(0, {**one, **costs})

    forge(reader, consistent(lost))
    check(reader)


def test_a_call_in_a_batch_costs_its_share(reader: Path, forge: Forge) -> None:
    def batched(call: Document, run: Document) -> None:
        usage = Call.model_validate(call).usage
        call |= {"batch": "msgbatch_1", "cost_usd": str(price(run).cost(usage, batch=True))}

    forge(reader, consistent(batched))
    check(reader)


@pytest.mark.parametrize(
    "how",
    [
        {"stop_reason": "refusal"},
        {"stop_reason": "max_tokens"},
        {"outcome": "failed", "error": "http_529"},
    ],
)
def test_a_verdict_over_a_call_without_an_answer_is_refused(
    how: Document, reader: Path, forge: Forge
) -> None:
    # The last one: nothing after it can have answered it.
    forge(reader, consistent(lambda call, _: call.update(how), -1))
    with pytest.raises(AlteredReport, match=r"runs\[0\].ending"):
        check(reader)


def test_a_replay_is_of_the_cassette_the_report_names(reader: Path, forge: Forge) -> None:
    def other(document: Document) -> None:
        document["runs"][0]["gateway"]["cassette_sha256"] = "0" * 64

    forge(reader, other)
    with pytest.raises(AlteredReport, match="cassette"):
        check(reader)


def test_sums_by_purpose_are_held_to_the_calls(reader: Path, forge: Forge) -> None:
    def more(document: Document) -> None:
        document["runs"][0]["usage"][0]["calls"] += 1

    forge(reader, more)
    with pytest.raises(AlteredReport, match=r"runs\[0\].usage"):
        check(reader)
