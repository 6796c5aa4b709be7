"""English weekdays, whatever the locale of the machine."""

from datetime import date
from typing import Literal, get_args

Weekday = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
WEEKDAYS: tuple[Weekday, ...] = get_args(Weekday)


def weekday(day: date) -> Weekday:
    """The name of the day."""
    return WEEKDAYS[day.weekday()]
