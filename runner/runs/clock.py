"""The day of a run: which offset from the wall clock each step happens at.

The system's container runs under libfaketime, which reads a relative offset in seconds. A step
starts at 12:00 UTC of its day and never before the end of the step before it, so the order of
events holds even when two notes share a day.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from runner.errors import UsageError

NOON = time(12, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Clock:
    """When the steps of a run happen.

    Attributes:
        mode: ``note`` (each step on its note's day), ``now`` (the wall clock is left alone), or
            the ISO day on which every step happens.
    """

    mode: str

    @classmethod
    def parse(cls, text: str, *, published: date) -> "Clock":
        """Read ``note``, ``now``, ``published`` or an ISO day.

        Raises:
            UsageError: when it is none of these.
        """
        if text in ("note", "now"):
            return cls(text)
        if text == "published":
            return cls(published.isoformat())
        try:
            return cls(date.fromisoformat(text).isoformat())
        except ValueError:
            raise UsageError(
                f"--clock {text!r} is no clock.",
                hint="Use note, published, now, or a day such as 2026-10-14.",
            ) from None

    def day(self, note_day: date | None) -> date | None:
        """The day a step is set to; none when the wall clock is left alone."""
        if self.mode == "now":
            return None
        return note_day if self.mode == "note" else date.fromisoformat(self.mode)

    def offset(
        self, note_day: date | None, *, now: datetime, not_before: datetime | None
    ) -> float | None:
        """Seconds to add to the wall clock ``now`` when the step starts; none for the real time.

        Args:
            note_day: the day the suite gives the step.
            now: the wall clock, aware, in UTC.
            not_before: what the system's clock shows now; none before the first step.
        """
        day = self.day(note_day)
        if day is None:
            return None
        start = datetime.combine(day, NOON)
        if not_before is not None and not_before > start:
            start = not_before
        return (start - now).total_seconds()
