"""The engine's driver in a process of its own, forked from one that has the SDK already."""

import json
import multiprocessing
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Self

_FORK = multiprocessing.get_context("forkserver")
_FORK.set_forkserver_preload(["tests.engine._warm"])


def _child(requests: Any, replies: Any, log: str, env: Mapping[str, str]) -> None:
    """Run the driver as ``python -m memory_engine`` does, on the pipes of the test."""
    os.environ.update(env)
    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
    from memory_engine.driver import serve

    with (
        open(requests.fileno(), "rb", closefd=False) as source,
        open(replies.fileno(), "wb", closefd=False) as target,
    ):
        # Not later: closing the source would wait for the thread that reads it.
        os._exit(serve(source, target, os.environ))


class Process:
    """A running driver."""

    def __init__(self, home: Path, env: Mapping[str, str]) -> None:
        self.log = home / "driver.log"
        requests, self._requests = _FORK.Pipe(duplex=False)
        self._replies, replies = _FORK.Pipe(duplex=False)
        self._process = _FORK.Process(
            target=_child, args=(requests, replies, str(self.log), dict(env)), daemon=True
        )
        self._process.start()
        requests.close()
        replies.close()
        self._out: BinaryIO = open(self._requests.fileno(), "wb", closefd=False)  # noqa: SIM115
        self._in: BinaryIO = open(self._replies.fileno(), "rb", closefd=False)  # noqa: SIM115
        self._id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def send(self, verb: str, **payload: Any) -> int:
        """Ask without waiting; returns the request's id."""
        self._id += 1
        self.write(json.dumps({"id": self._id, "verb": verb, **payload}).encode() + b"\n")
        return self._id

    def write(self, raw: bytes) -> None:
        self._out.write(raw)
        self._out.flush()

    def reply(self) -> dict[str, Any]:
        """The next reply line."""
        line = self._in.readline()
        assert line, f"the driver is gone:\n{self.log.read_text()}"
        reply: dict[str, Any] = json.loads(line)
        return reply

    def answered(self) -> bool:
        """Whether a reply has begun to come in."""
        return self._replies.poll(0)

    def ask(self, verb: str, **payload: Any) -> dict[str, Any]:
        """Ask and wait for the reply."""
        number = self.send(verb, **payload)
        reply = self.reply()
        assert reply["id"] == number
        return reply

    def close_input(self) -> None:
        self._requests.close()

    def wait(self, seconds: float = 10) -> int | None:
        """The exit code, or none when it still runs."""
        self._process.join(seconds)
        return self._process.exitcode

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        if self._process.exitcode is None:
            assert self._process.pid is not None
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.join(10)
