"""Runs of one protocol, out of one purse."""

from decimal import Decimal
from pathlib import Path

import pytest

from runner.model import Outcome, RunRecord
from runner.runs.keep import Keep
from runner.runs.pool import run_all
from runner.runs.purse import Purse
from runner.runs.watch import Unwatched
from tests.runs._memory import Habit, MemorySandbox, die
from tests.runs._protocols import jobs_of

CEILING = Decimal("0.50")


def run(folder: Path, total: str, workers: int = 2, **habits: Habit) -> list[RunRecord]:
    """Three move runs, each with the same ceiling."""
    records: list[RunRecord] = []
    purse = Purse(Decimal(total))
    run_all(
        jobs_of(runs={"move": 3}, max_usd=CEILING),
        MemorySandbox(folder, **habits),
        workers=workers,
        watch=Unwatched(),
        keep=Keep(None),
        done=records.append,
        purse=purse,
    )
    assert purse.spent <= Decimal(total)
    return records


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_runs_wait_for_the_money_others_give_back(tmp_path: Path, workers: int) -> None:
    """Each takes a tenth of its ceiling, so a total just above one ceiling will do for all."""
    records = run(tmp_path, "0.65", workers)
    assert [record.ending.outcome for record in records] == [Outcome.PASSED] * 3


def test_a_run_that_cannot_lease_its_ceiling_is_not_started(tmp_path: Path) -> None:
    records = run(tmp_path, "0.54")
    by_outcome = sorted(record.ending.outcome for record in records)
    assert by_outcome == [Outcome.INCOMPLETE, Outcome.INCOMPLETE, Outcome.PASSED]
    for record in records:
        if record.ending.outcome is Outcome.INCOMPLETE:
            assert record.ending.kind == "ceiling"
            assert "It was not started: of US$0.54 for all runs" in record.ending.detail
            assert (record.steps, record.calls, record.system) == ((), (), {})


def test_a_run_whose_ledger_is_not_whole_is_taken_to_have_spent_its_lease(tmp_path: Path) -> None:
    def lose(box, request, verb):  # type: ignore[no-untyped-def]
        from runner.errors import ContainerDied

        box.gateway.end(ContainerDied("The gateway's container ended."))
        return die(box, request, verb)

    records = run(tmp_path, "0.90", workers=1, consolidate=lose)
    kinds = [record.ending.kind for record in records]
    assert kinds.count("ceiling") == 2, kinds
