"""The truth about a run's spend: one line a call, on the disk before the client is answered.

Lines that are ready at the same moment share one flush, so that many calls at once cost about
as much as one.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from runner.model import Call


class LedgerError(OSError):
    """A line could not be written; the call it is about must not be answered."""


class Ledger:
    """An append-only file of calls as JSON lines.

    Args:
        path: created when missing; a line already there is never touched.
        follow: given every line, without its end, once it is safe on the disk and in the order
            of the file.
    """

    def __init__(self, path: Path, follow: Callable[[bytes], None]) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o640)
        self._size = os.fstat(self._fd).st_size
        self._follow = follow
        self._seq = 0
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self._flushing: asyncio.Task[None] | None = None
        self._disk = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self._broken: OSError | None = None

    async def append(self, call: Call) -> Call:
        """Number ``call``, write it, and return it when it is on the disk.

        Raises:
            LedgerError: when it is not, and for every call after that.
        """
        if self._broken is not None:
            raise LedgerError(f"the ledger cannot be written: {self._broken}") from self._broken
        self._seq += 1
        numbered = call.model_copy(update={"seq": self._seq})
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((numbered.model_dump_json().encode(), written))
        if self._flushing is None:
            self._flushing = asyncio.create_task(self._flush())
        # Shielded: a client that leaves must not take the line of its call with it.
        await asyncio.shield(written)
        return numbered

    async def close(self) -> None:
        """Wait for the last flush and close the file."""
        if self._flushing is not None:
            await self._flushing
        self._disk.shutdown()
        os.close(self._fd)

    async def _flush(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                lines = b"".join(line + b"\n" for line, _ in batch)
                try:
                    if self._broken is not None:
                        raise self._broken
                    await loop.run_in_executor(self._disk, self._write, lines)
                except OSError as problem:
                    self._broken = problem
                    failed = LedgerError(f"the ledger cannot be written: {problem}")
                    for _, written in batch:
                        written.set_exception(failed)
                    continue
                for line, written in batch:
                    self._follow(line)
                    written.set_result(None)
        finally:
            self._flushing = None

    def _write(self, lines: bytes) -> None:
        try:
            rest = memoryview(lines)
            while rest:
                rest = rest[os.write(self._fd, rest) :]
            os.fdatasync(self._fd)
        except OSError:
            # Half a line would make the whole file unreadable.
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, self._size)
            raise
        self._size += len(lines)
