"""Standard input and output as JSON lines, off the event loop: a reader that is slow or gone
must never hold up a call."""

import asyncio
import contextlib
import os
import queue
import threading
from collections.abc import AsyncIterator
from typing import Any

import orjson

_READ_BYTES = 1 << 20


class Output:
    """Writes JSON lines to a file descriptor in the order they are said."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="output", daemon=True)
        self._thread.start()

    def say(self, line: dict[str, Any]) -> None:
        """Queue one line; returns at once."""
        self.put(orjson.dumps(line))

    def put(self, line: bytes) -> None:
        """Queue a line that is JSON already, without its end."""
        self._lines.put(line + b"\n")

    def close(self, patience_s: float) -> None:
        """Wait at most ``patience_s`` seconds for what was said to be written."""
        self._lines.put(None)
        self._thread.join(patience_s)

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            # Nobody listens any more: the ledger has it, and standard input will say so too.
            with contextlib.suppress(OSError):
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(self._fd, rest) :]


class Input:
    """Reads lines of any length from a file descriptor; a regular file will do."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._rest = b""

    def read_line(self) -> bytes | None:
        """The next line without its end; none at the end of the input. Blocks."""
        parts = [self._rest]
        while True:
            line, found, rest = parts[-1].partition(b"\n")
            if found:
                self._rest = rest
                return b"".join([*parts[:-1], line])
            chunk = os.read(self._fd, _READ_BYTES)
            if not chunk:
                self._rest = b""
                return b"".join(parts) or None
            parts.append(chunk)

    async def lines(self) -> AsyncIterator[bytes]:
        """All lines that are to come. It can be left at any moment."""
        loop = asyncio.get_running_loop()
        arrived: asyncio.Queue[bytes | None] = asyncio.Queue()

        def run() -> None:
            line: bytes | None = b""
            while line is not None:
                try:
                    line = self.read_line()
                except OSError:
                    line = None
                with contextlib.suppress(RuntimeError):  # the loop is closed: nobody asks
                    loop.call_soon_threadsafe(arrived.put_nowait, line)

        threading.Thread(target=run, name="input", daemon=True).start()
        while (line := await arrived.get()) is not None:
            yield line
