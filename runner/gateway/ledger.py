"""The truth about a run's spend: one line a call, on the disk before the client is answered.

Lines that are ready at the same moment share one flush, so that many calls at once cost about
as much as one.
"""

import asyncio
import contextlib
import os
import queue
import threading
from collections.abc import Callable
from pathlib import Path

from runner.model import Call

_Batch = list[tuple[bytes, "asyncio.Future[None]"]]
"""Lines, each with what is done when it is on the disk."""


class LedgerError(OSError):
    """A line could not be written; the call it is about must not be answered."""


class Ledger:
    """An append-only file of calls as JSON lines. It belongs to one event loop.

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
        self._waiting: _Batch = []
        self._idle = asyncio.Event()
        self._idle.set()
        self._broken: OSError | None = None
        # A thread of its own: an executor's futures cost a call more than its line does.
        self._batches: queue.SimpleQueue[tuple[asyncio.AbstractEventLoop, _Batch] | None]
        self._batches = queue.SimpleQueue()
        self._disk = threading.Thread(target=self._run, name="ledger", daemon=True)
        self._disk.start()

    async def append(self, call: Call) -> Call:
        """Number ``call``, write it, and return it when it is on the disk.

        Raises:
            LedgerError: when it is not, and for every call after that.
        """
        if self._broken is not None:
            raise LedgerError(f"the ledger cannot be written: {self._broken}") from self._broken
        self._seq += 1
        numbered = call.model_copy(update={"seq": self._seq})
        loop = asyncio.get_running_loop()
        written = loop.create_future()
        self._waiting.append((numbered.model_dump_json().encode(), written))
        if self._idle.is_set():
            self._idle.clear()
            loop.call_soon(self._flush, loop)  # with what else comes in this turn
        # Shielded: a client that leaves must not take the line of its call with it.
        await asyncio.shield(written)
        return numbered

    async def close(self) -> None:
        """Wait for the last flush and close the file."""
        await self._idle.wait()
        self._batches.put(None)
        self._disk.join()
        os.close(self._fd)

    def _flush(self, loop: asyncio.AbstractEventLoop) -> None:
        batch, self._waiting = self._waiting, []
        self._batches.put((loop, batch))

    def _flushed(
        self, loop: asyncio.AbstractEventLoop, batch: _Batch, problem: OSError | None
    ) -> None:
        if problem is None:
            for line, written in batch:
                self._follow(line)
                written.set_result(None)
        else:
            self._broken = problem
            failed = LedgerError(f"the ledger cannot be written: {problem}")
            for _, written in batch:
                written.set_exception(failed)
        if self._waiting:
            self._flush(loop)
        else:
            self._idle.set()

    # ------------------------------------------------------------ in the thread

    def _run(self) -> None:
        while (todo := self._batches.get()) is not None:
            loop, batch = todo
            problem = self._broken
            if problem is None:
                try:
                    self._write(b"".join(line + b"\n" for line, _ in batch))
                except OSError as cause:
                    problem = cause
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                loop.call_soon_threadsafe(self._flushed, loop, batch, problem)

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
