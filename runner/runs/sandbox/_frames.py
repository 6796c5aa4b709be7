"""The engine's multiplexed stream: eight bytes of header, then a piece of one of the streams."""

from collections.abc import Iterator

from runner.errors import DriverError

STDOUT, STDERR = 1, 2
HEADER_BYTES = 8
LINE_BYTES = 64 * 1024 * 1024
"""Longest line a process may answer with."""


class Demux:
    """Turns bytes as they come into whole lines of standard output and pieces of standard error."""

    def __init__(self, first: bytes) -> None:
        self._buffer = bytearray(first)
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Take in more bytes; what they complete, by stream. Empty lines are left out.

        Raises:
            DriverError: a line is longer than anything that can be meant.
        """
        self._buffer += data
        at = 0
        while len(self._buffer) - at >= HEADER_BYTES:
            length = int.from_bytes(self._buffer[at + 4 : at + 8], "big")
            if len(self._buffer) - at - HEADER_BYTES < length:
                break
            stream = self._buffer[at]
            payload = bytes(self._buffer[at + HEADER_BYTES : at + HEADER_BYTES + length])
            at += HEADER_BYTES + length
            if stream == STDERR:
                yield STDERR, payload
            elif stream == STDOUT:
                yield from self._lines(payload)
        del self._buffer[:at]

    def _lines(self, payload: bytes) -> Iterator[tuple[int, bytes]]:
        first, *more = payload.split(b"\n")
        self._parts.append(first)
        self._size += len(first)
        for piece in more:
            line = b"".join(self._parts)
            self._parts, self._size = [piece], len(piece)
            if line.strip():
                yield STDOUT, line
        if self._size > LINE_BYTES:
            raise DriverError("internal", f"A reply is longer than {LINE_BYTES} bytes.")
