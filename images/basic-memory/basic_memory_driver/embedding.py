"""Whether the embedder works, and the one that has to be served.

The check makes the embedder as basic-memory itself does and turns a word into a vector: what is
wrong with it shows before the first page, and not as pages that are found by their words alone.
"""

import socket
import subprocess
import sys
import time
from collections.abc import Mapping

from basic_memory_driver.errors import Degraded

PORT = 8077
"""Where the served one listens, on loopback."""
START_S = 60.0
CHECK_S = 120.0

CHECK = """
import asyncio
from basic_memory.config import ConfigManager
from basic_memory.repository.embedding_provider_factory import create_embedding_provider
provider = create_embedding_provider(ConfigManager().config)
print(len(asyncio.run(provider.embed_query("word"))))
"""
EXTENSION = """
import sqlite3, sqlite_vec
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension(sqlite_vec.loadable_path())
db.execute("SELECT vec_version()")
"""


def check(env: Mapping[str, str]) -> None:
    """Make sure of vectors: that SQLite can keep them and the embedder make them.

    Args:
        env: as basic-memory's processes have it.

    Raises:
        Degraded: one of the two is not so, and the tool would fall back on words.
    """
    _run("this Python's SQLite loads no extension", EXTENSION, env)
    size = _run("the embedder does not load", CHECK, env)
    if size != "384":
        raise Degraded(f"the embedder makes vectors of {size or 'no'} numbers, not of 384")


def serve(env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start the served embedder and wait until it listens.

    Raises:
        Degraded: it does not.
    """
    command = [sys.executable, "-m", "basic_memory_driver.e5", str(PORT)]
    # Its threads are not to spin while they wait: a machine that has other work takes ten times as
    # long then. What it prints must not end up among the driver's replies.
    quiet = {**env, "OMP_WAIT_POLICY": "PASSIVE"}
    process = subprocess.Popen(command, env=quiet, stdin=subprocess.DEVNULL, stdout=2)
    end = time.monotonic() + START_S
    while process.poll() is None and time.monotonic() < end:
        try:
            with socket.create_connection(("127.0.0.1", PORT), timeout=1):
                return process
        except OSError:
            time.sleep(0.02)
    process.kill()
    raise Degraded(f"the embedder's server does not start: it ended with {process.wait()}")


def _run(wrong: str, script: str, env: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=CHECK_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Degraded(f"{wrong} within {CHECK_S:g} s") from error
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        said = lines[-1][:300] if lines else f"it ended with {done.returncode}"
        print(done.stderr, file=sys.stderr)
        raise Degraded(f"{wrong}: {said}")
    return done.stdout.strip()
