import threading
import time
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from runner.runs.purse import Purse

NEVER = threading.Event()


def usd(text: str) -> Decimal:
    return Decimal(text)


def test_without_a_total_everything_is_leased() -> None:
    purse = Purse()
    assert purse.lease(None, NEVER)
    purse.settle(None, usd("3"))
    assert purse.lease(usd("1000"), NEVER)
    assert (purse.left, purse.spent) == (None, usd("3"))


def test_a_run_gives_back_what_it_did_not_spend() -> None:
    purse = Purse(usd("1.00"))
    assert purse.lease(usd("0.60"), NEVER)
    purse.settle(usd("0.60"), usd("0.10"))
    assert purse.left == usd("0.90")
    assert purse.lease(usd("0.90"), NEVER)


def test_what_can_not_come_to_a_ceiling_any_more_is_not_leased() -> None:
    purse = Purse(usd("1.00"))
    assert not purse.lease(usd("1.01"), NEVER)
    assert purse.lease(usd("0.60"), NEVER)
    purse.settle(usd("0.60"), usd("0.60"))
    assert not purse.lease(usd("0.41"), NEVER)
    assert purse.lease(usd("0.40"), NEVER)


def test_what_was_spent_before_counts() -> None:
    purse = Purse(usd("1.00"))
    purse.pay(usd("0.75"))
    assert not purse.lease(usd("0.50"), NEVER)


def _waiting(
    purse: Purse, ceiling: Decimal, stop: threading.Event
) -> tuple[threading.Thread, list]:  # type: ignore[type-arg]
    got: list[bool] = []
    thread = threading.Thread(target=lambda: got.append(purse.lease(ceiling, stop)))
    thread.start()
    time.sleep(0.05)
    assert got == []
    return thread, got


def test_one_that_may_still_fit_waits_for_those_under_way() -> None:
    purse = Purse(usd("1.00"))
    assert purse.lease(usd("0.60"), NEVER)
    thread, got = _waiting(purse, usd("0.60"), NEVER)
    purse.settle(usd("0.60"), usd("0.40"))
    thread.join(5)
    assert got == [True]


def test_and_is_turned_away_when_they_spent_too_much() -> None:
    purse = Purse(usd("1.00"))
    assert purse.lease(usd("0.60"), NEVER)
    thread, got = _waiting(purse, usd("0.60"), NEVER)
    purse.settle(usd("0.60"), usd("0.41"))
    thread.join(5)
    assert got == [False]


def test_one_that_waits_can_be_stopped() -> None:
    purse, stop = Purse(usd("1.00")), threading.Event()
    assert purse.lease(usd("0.60"), NEVER)
    thread, got = _waiting(purse, usd("0.60"), stop)
    stop.set()
    purse.wake()
    thread.join(5)
    assert got == [False]


cents = st.integers(0, 100).map(lambda cents: Decimal(cents) / 100)


@given(total=cents, runs=st.lists(st.tuples(cents, st.integers(0, 100)), max_size=12))
def test_no_order_of_runs_passes_the_total(total: Decimal, runs: list[tuple[Decimal, int]]) -> None:
    """Many at a time, each spending some of its lease."""
    purse, lock = Purse(total), threading.Lock()
    out = Decimal(0)

    def run(ceiling: Decimal, share: int) -> None:
        nonlocal out
        if not purse.lease(ceiling, NEVER):
            return
        with lock:
            out += ceiling
            assert purse.spent + out <= total
        spent = ceiling * share / 100
        with lock:
            out -= ceiling
            purse.settle(ceiling, spent)

    threads = [threading.Thread(target=run, args=one) for one in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    assert purse.spent <= total
