"""Standard input and output as JSON lines, off the event loop: a reader that is slow or gone
must never hold up a call."""

import asyncio
import contextlib
import os
import queue
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

import orjson

_READ_BYTES = 1 << 20
_TOGETHER_BYTES = 1 << 20
"""About how much is written at once."""
_GATHER_S = 0.001
"""How long lines gather after some were written: to wake for each takes the calls' own time."""


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
        more = True
        while more:
            together, more = self._gathered()
            # Nobody listens any more: the ledger has it, and standard input will say so too.
            with contextlib.suppress(OSError):
                rest = memoryview(together)
                while rest:
                    rest = rest[os.write(self._fd, rest) :]
            if more:
                time.sleep(_GATHER_S)

    def _gathered(self) -> tuple[bytearray, bool]:
        """What was said meanwhile, at least one line of it, and whether more may follow."""
        found = bytearray()
        line = self._lines.get()
        while line is not None:
            found += line
            if len(found) >= _TOGETHER_BYTES:
                return found, True
            try:
                line = self._lines.get_nowait()
            except queue.Empty:
                return found, True
        return found, False


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
