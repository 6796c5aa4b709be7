"""What it took, and how much moved: the tables beside the grades."""

from collections.abc import Sequence

from runner.reports.honesty.moved import movements
from runner.reports.honesty.taken import taken, takings
from runner.reports.schema import Report
from runner.reports.sheet import Sheet


def effort(reports: Sequence[Report]) -> tuple[Sheet, ...]:
    """The tables of reports of one set: what each took, then what moved where runs were repeated.
    Nothing where no run came to its end."""
    found = [one for report in reports if (one := taken(report)) is not None]
    return (*((takings(found),) if found else ()), *movements(reports))
