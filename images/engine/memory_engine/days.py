"""Days as the engine writes and reads them."""

import re
from datetime import date

_FORM = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def parse_day(text: str) -> date:
    """The day of ``YYYY-MM-DD``; the other forms that ISO 8601 has are refused.

    Raises:
        ValueError: it is not a day in that form.
    """
    if not _FORM.fullmatch(text):
        raise ValueError(f"{text!r} is not YYYY-MM-DD")
    return date.fromisoformat(text)
