"""The stand-in provider in a thread, so that a test plans its answers one by one."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.standin.upstream import How, Seen, Upstream, serve

UNPLANNED = How(
    status=500, message="no such call was planned", headers=(("x-should-retry", "false"),)
)


class Standing:
    """A stand-in that listens on ``port``."""

    def __init__(self, upstream: Upstream, port: int) -> None:
        self._upstream = upstream
        self.port = port

    @property
    def seen(self) -> list[Seen]:
        return self._upstream.seen

    @property
    def left(self) -> list[How]:
        """Answers nobody has asked for."""
        return list(self._upstream.plan)

    def answer(self, *hows: How) -> None:
        """Answer the next calls so, and any other with a failure."""
        self._upstream.plan.clear()
        self._upstream.then(*hows)


@contextmanager
def standing() -> Iterator[Standing]:
    """A stand-in for as long as the block lasts."""
    loop = asyncio.new_event_loop()
    upstream = Upstream(usual=UNPLANNED)
    running = loop.run_until_complete(serve(upstream, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever, name="upstream", daemon=True)
    thread.start()
    try:
        yield Standing(upstream, running.port)
    finally:
        asyncio.run_coroutine_threadsafe(running.close(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
