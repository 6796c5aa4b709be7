"""Server-sent events in a stream of bytes, however it is cut into pieces."""

import re
from dataclasses import dataclass

# A line ends in LF or CRLF. The third way, a lone CR, is used by nobody and could not be told
# from half a CRLF at the end of a piece.
_END = re.compile(rb"\n\r?\n")


class TooLong(ValueError):
    """One event is longer than any event can be."""


@dataclass(frozen=True, slots=True)
class Event:
    """One whole event."""

    raw: bytes
    """As it came, with the blank line that ends it."""

    def read(self) -> tuple[str, bytes]:
        """Its name, empty when it has none, and its data."""
        name, data = "", list[bytes]()
        for line in self.raw.splitlines():
            field, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if field == b"event":
                name = value.decode("utf-8", "replace")
            elif field == b"data":
                data.append(value)
        return name, b"\n".join(data)


class Splitter:
    """Cuts bytes into events. What comes out depends on the bytes alone, never on how they were
    cut into pieces.

    Args:
        longest: most bytes of one event.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._rest = bytearray()
        self._seen = 0

    @property
    def rest(self) -> bytes:
        """The beginning of an event that is not whole yet."""
        return bytes(self._rest)

    def starts(self, beginnings: tuple[bytes, ...]) -> bool:
        """Whether the unfinished event begins with one of ``beginnings``."""
        return self._rest.startswith(beginnings)

    def feed(self, chunk: bytes) -> list[Event]:
        """Take bytes in; the events they make whole.

        Raises:
            TooLong: when an event does not end.
        """
        self._rest += chunk
        events: list[Event] = []
        start = 0
        # The end may have begun in the last piece, with up to two bytes.
        for end in _END.finditer(self._rest, max(0, self._seen - 2)):
            events.append(Event(bytes(self._rest[start : end.end()])))
            start = end.end()
        del self._rest[:start]
        self._seen = len(self._rest)
        if self._seen > self._longest:
            raise TooLong(f"an event of a stream has more than {self._longest} bytes")
        return events
