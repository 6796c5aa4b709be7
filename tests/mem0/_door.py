"""The tests' provider on a Unix socket, as a gateway would serve it: it can answer as it should
not."""

import asyncio
import threading
from pathlib import Path

from aiohttp import web

from tests.standin.upstream import Upstream


class Door:
    """Serves in a thread of its own until closed.

    Attributes:
        upstream: what answers; ``usual`` and ``then`` say how.
    """

    def __init__(self, folder: Path) -> None:
        """Listen on ``model.sock`` in a folder that a container mounts as ``/run/door``."""
        folder.mkdir(mode=0o755)
        self.folder = folder
        self.upstream = Upstream()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        assert self._ready.wait(10)

    def close(self) -> None:
        """Stop at once."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        runner = self._loop.run_until_complete(self._listening())
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()

    async def _listening(self) -> web.ServerRunner:
        runner = web.ServerRunner(web.Server(self.upstream.handle), shutdown_timeout=0.1)
        await runner.setup()
        socket = self.folder / "model.sock"
        await web.UnixSite(runner, socket).start()
        socket.chmod(0o777)
        return runner
