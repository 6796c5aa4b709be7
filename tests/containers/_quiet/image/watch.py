"""The first program of a watched container: runs a command under strace, beside a sinkhole.

    python3 -I watch.py COMMAND [ARG...]

Leaves ``trace`` and ``sinkhole`` in /run/quiet. Input and output are the command's own. When the
command ends, all that it left running is killed, as it is when a run's container ends. The exit
code is the command's.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time

FOLDER = "/run/quiet"
TRACE = f"{FOLDER}/trace"
CALLS = "%network,execve,execveat,fork,vfork,clone,clone3"
"""What is written down: all that has to do with sockets, and which process runs what."""
STRACE = (
    *("strace", "--follow-forks", "--seccomp-bpf", "--quiet=attach,personality", "--signal=none"),
    *("--string-limit=256", f"--trace={CALLS}", f"--output={TRACE}"),
)
LOOK_S = 0.05
LAST_S = 20.0


def main() -> int:
    """Watch; returns the command's exit code."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    sinkhole = subprocess.Popen(
        [sys.executable, "-I", f"{here}/sinkhole.py", f"{FOLDER}/sinkhole"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    if sinkhole.stdout is None or sinkhole.stdout.readline() != b"listening\n":
        print("watch: the sinkhole does not listen", file=sys.stderr)
        return 70
    strace = subprocess.Popen([*STRACE, *sys.argv[1:]])
    command = first(strace)
    if running(command) and filters(str(command)) <= filters("self"):
        # Without it a process that strace cannot follow would go on unseen, not fail.
        print("watch: strace's own filter of system calls is not in force", file=sys.stderr)
        strace.kill()
        return 70
    while strace.poll() is None and running(command):
        time.sleep(LOOK_S)
    end = time.monotonic() + LAST_S
    while strace.poll() is None and time.monotonic() < end:
        kill_all_but({1, os.getpid(), sinkhole.pid, strace.pid})
        time.sleep(LOOK_S)
    sinkhole.kill()
    sinkhole.wait()
    if strace.poll() is None:
        print("watch: strace does not end", file=sys.stderr)
        return 70
    return strace.returncode if strace.returncode >= 0 else 128 - strace.returncode


def first(strace: "subprocess.Popen[bytes]") -> int:
    """The process that strace started: the first one it tells of."""
    while strace.poll() is None:
        with contextlib.suppress(OSError, ValueError, IndexError), open(TRACE) as trace:  # noqa: PTH123
            return int(trace.readline().split(maxsplit=1)[0])
        time.sleep(LOOK_S)
    return 0


def running(process: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        with open(f"/proc/{process}/stat") as stat:  # noqa: PTH123
            return stat.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def filters(process: str) -> int:
    """How many filters of system calls a process has; 0 where the kernel does not say."""
    with contextlib.suppress(OSError), open(f"/proc/{process}/status") as status:  # noqa: PTH123
        for line in status:
            if line.startswith("Seccomp_filters:"):
                return int(line.split()[1])
    return 0


def kill_all_but(kept: set[int]) -> None:
    """Kill every process of the container but these."""
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit() and int(name) not in kept:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(name), signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
