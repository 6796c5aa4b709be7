"""How much memory a container has used at most, asked of a shell that stays behind in it.

The engine's own statistics do not serve: some engines say nothing there, those of version 2 of the
control groups leave the high-water mark out, and an answer may take a second. The kernel's figure
is at hand inside, so the process that ran the probes becomes a shell that reads it when asked: no
process is started for it, and a reading takes a fraction of a millisecond.
"""

import socket
import threading
import time

from runner.errors import DriverError
from runner.runs.sandbox._frames import STDOUT, Demux
from runner.runs.sandbox.protocol import PeakMemory

READING_S = 1.0
"""How long a reading may take; it is no part of the run."""
INTERVAL_S = 0.05
"""Between samples, where the kernel keeps no mark itself."""

# Only what the shell does itself: nothing is started for a reading.
SHELL = """
cd /sys/fs/cgroup || exit
for file in memory.peak memory/memory.max_usage_in_bytes \
    memory.current memory/memory.usage_in_bytes; do
  [ -r "$file" ] && break
done
while read -r _; do
  read -r bytes < "$file" && echo "$file $bytes" || exit
done
"""
COMMAND = ("/bin/sh", "-c", SHELL)
_MARKS = ("memory.peak", "memory/memory.max_usage_in_bytes")
"""What the kernel keeps as the most there was."""


class Gauge:
    """The shell's end of a stream: asked from any thread.

    A system could deceive it, as it runs beside it; so what comes is a number or nothing, and no
    verdict rests on it.

    Args:
        stream: to the shell.
        demux: what came in on the stream before.
    """

    def __init__(self, stream: socket.socket, demux: Demux) -> None:
        self._stream = stream
        self._demux = demux
        self._asking = threading.Lock()
        self._closed = threading.Event()
        self._source = ""
        self._most = 0
        self._readings = 0

    def watch(self) -> None:
        """Begin: from now on samples are taken, where the kernel keeps no mark."""
        self._read()
        if self._source and self._source not in _MARKS:
            threading.Thread(target=self._sample, name="memory", daemon=True).start()

    def peak(self) -> PeakMemory | None:
        """The most there was until now; none where nothing could be read."""
        self._read()
        if not self._readings:
            return None
        return PeakMemory(self._most, self._how())

    def close(self) -> None:
        """Let the shell go. Twice is once."""
        self._closed.set()
        self._stream.close()

    def _how(self) -> str:
        if self._source in _MARKS:
            return f"the kernel's high-water mark ({self._source})"
        return f"largest of {self._readings} samples ({self._source}), {INTERVAL_S:g} s apart"

    def _sample(self) -> None:
        while not self._closed.wait(INTERVAL_S):
            self._read()

    def _read(self) -> None:
        with self._asking:
            if self._closed.is_set():
                return
            try:
                source, _, number = self._line().decode("ascii").partition(" ")
                self._most = max(self._most, int(number))
            except (OSError, ValueError, DriverError):
                self.close()  # a late answer would be taken for the next one's
                return
            self._source = source
            self._readings += 1

    def _line(self) -> bytes:
        end = time.monotonic() + READING_S
        self._stream.settimeout(READING_S)
        self._stream.sendall(b"\n")
        data = b""
        while True:
            # To the end: only then it has taken in what it told of.
            for stream, piece in list(self._demux.feed(data)):
                if stream == STDOUT:
                    return piece
            self._stream.settimeout(max(0.001, end - time.monotonic()))
            data = self._stream.recv(4096)
            if not data:
                raise OSError("the shell is gone")
