"""A TCP port of this machine in front of a Unix socket, as socat is in a system's container."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def relay(door: Path) -> Iterator[int]:
    """Listen on a free port of 127.0.0.1 for as long as the block lasts; gives the port."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(
        asyncio.start_server(lambda *ends: _joined(door, *ends), "127.0.0.1", 0)
    )
    thread = threading.Thread(target=loop.run_forever, name="relay", daemon=True)
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


async def _joined(door: Path, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        far_reader, far_writer = await asyncio.open_unix_connection(str(door))
    except OSError:
        writer.close()
        return
    await asyncio.gather(_poured(reader, far_writer), _poured(far_reader, writer))


async def _poured(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while some := await source.read(65536):
            target.write(some)
            await target.drain()
    target.close()
