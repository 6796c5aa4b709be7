"""The stand-in as a process: ``python -m tests.standin --port 8000``.

Says ``{"event": "ready", "port": ...}`` on standard output and goes on until its standard input
ends or it is told to stop. With ``--wire`` and ``--table`` it answers for a system out of that
system's scripted tables, so that a whole protocol can run live against it.
"""

import argparse
import asyncio
import contextlib
import signal
import sys
import threading
from pathlib import Path

import orjson

from runner.gateway.tables import Tables
from runner.gateway.wire import load_wire
from tests.standin.upstream import Upstream, serve


def main() -> int:
    """Serve until the end."""
    parser = argparse.ArgumentParser(prog="python -m tests.standin", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--wire", help="package.module:Attribute of a system's wire")
    parser.add_argument("--table", type=Path, action="append", default=[], help="may be repeated")
    parser.add_argument("--names", type=orjson.loads, default={}, help="JSON: the placeholders")
    parser.add_argument("--until-killed", action="store_true", help="do not mind standard input")
    options = parser.parse_args()
    upstream = Upstream()
    if options.wire:
        upstream.wire = load_wire(options.wire)
        tables = ((path.name, path.read_text("utf-8")) for path in options.table)
        upstream.tables = Tables.load(tables, options.names)
    asyncio.run(_serve(upstream, options))
    return 0


async def _serve(upstream: Upstream, options: argparse.Namespace) -> None:
    running = await serve(upstream, options.host, options.port)
    print(orjson.dumps({"event": "ready", "port": running.port}).decode(), flush=True)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    if not options.until_killed:

        def read() -> None:
            sys.stdin.read()
            with contextlib.suppress(RuntimeError):  # it has ended already
                loop.call_soon_threadsafe(stopped.set)

        threading.Thread(target=read, daemon=True).start()
    await stopped.wait()
    await running.close()


if __name__ == "__main__":
    sys.exit(main())
