from decimal import Decimal

import pytest

from runner.commands._money import most_usd, run_ceiling
from runner.errors import UsageError
from tests.runs._protocols import protocol


def usd(text: str) -> Decimal:
    return Decimal(text)


def test_a_run_has_its_own_ceiling_or_an_equal_share() -> None:
    assert run_ceiling(None, None, "reserved", 5) is None
    assert run_ceiling(usd("0.5"), None, "measured", 5) == usd("0.5")
    assert run_ceiling(usd("0.5"), usd("1"), "reserved", 5) == usd("0.5")
    assert run_ceiling(None, usd("1"), "reserved", 3) == usd("0.3333")
    assert run_ceiling(None, usd("0.0001"), "reserved", 3) == usd("0.0001")


@pytest.mark.parametrize(
    ("each", "total", "mode", "says"),
    [
        (None, "0", "reserved", "above 0"),
        (None, "NaN", "reserved", "above 0"),
        (None, "Infinity", "reserved", "above 0"),
        ("2", "1", "reserved", "no run could start"),
        ("0.5", "1", "measured", "--ceiling reserved"),
    ],
)
def test_a_total_that_holds_nothing_is_refused(
    each: str | None, total: str, mode: str, says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        run_ceiling(usd(each) if each else None, usd(total), mode, 5)


def test_what_all_runs_are_held_to() -> None:
    free, held = protocol(), protocol(max_usd=usd("0.5"))
    measured = protocol(max_usd=usd("0.5"), ceiling="measured")
    assert most_usd([free], None) is None
    assert most_usd([held], None) == usd("2.5")
    assert most_usd([held, held], usd("3")) == usd("3")
    assert most_usd([held, free], None) is None
    assert most_usd([measured], None) is None
