"""The ways to a provider that are compared: straight, through our gateway, through two others.

Each proxy is one process on a core of its own. The two others live in environments of their own
under the state folder, made from locks with hashes; nothing of them is in the project's.
"""

import asyncio
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import orjson

from benchmarks import cpu
from benchmarks.load import MODEL, Client, Spoiled
from runner.gateway.config import GatewayConfig, WayOut
from runner.paths import root, state_dir
from runner.prices import load_prices

START_S = 120.0
"""How long a proxy may take to listen."""
LOCKS = Path(__file__).parent / "locks"
_PR_SET_PDEATHSIG = 1
LITELLM = """
model_list:
  - model_name: {model}
    litellm_params:
      model: anthropic/{model}
      api_base: http://127.0.0.1:{port}
      api_key: none
litellm_settings:
  telemetry: false
general_settings:
  dangerously_permit_weak_or_unset_master_key: true
"""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to the provider.

    Attributes:
        name: as it is shown.
        socket: where it listens: a port of this machine, or a Unix socket.
        process: id of the proxy; none for the straight way.
    """

    name: str
    socket: int | Path
    process: int | None

    async def connect(self) -> Client:
        """A connection to it."""
        loop = asyncio.get_running_loop()
        if isinstance(self.socket, int):
            _, client = await loop.create_connection(Client, "127.0.0.1", self.socket)
        else:
            _, client = await loop.create_unix_connection(Client, str(self.socket))
        return client

    def wake(self, awake: bool) -> None:
        """Let the proxy run, or hold it still while another one is measured."""
        if self.process is not None:
            os.kill(self.process, signal.SIGCONT if awake else signal.SIGSTOP)

    def cpu_s(self) -> float:
        """CPU seconds of the proxy so far."""
        if self.process is None:
            return 0.0
        return cpu.ticks(Path(f"/proc/{self.process}/stat").read_text(), children=True)[1]

    def peak_mb(self) -> float:
        """The most memory it has held (RSS), in MB."""
        if self.process is None:
            return 0.0
        return peak_mb(Path(f"/proc/{self.process}/status").read_text())


def peak_mb(status: str) -> float:
    """The peak in a process's ``status``, in MB of a million bytes."""
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise Spoiled("the kernel says nothing of a process's memory")


@contextmanager
def ours(folder: Path, port: int, core: int) -> Iterator[Way]:
    """Our gateway, recording, metering, with a ceiling that holds."""
    config = GatewayConfig(
        run="benchmark",
        arm="record",
        wire="runner.systems.engine.wire:EngineWire",
        model=MODEL,
        prices=load_prices().models,
        max_usd=Decimal(1_000_000),
        ceiling="reserved",
        key="sk-none",
        way_out=WayOut(anthropic=f"http://127.0.0.1:{port}", allow_private=("127.0.0.1",)),
    )
    command = [sys.executable, "-m", "runner.gateway", "--door", str(folder)]
    command += ["--ledger", str(folder / "calls.jsonl")]
    errors = (folder / "gateway.log").open("wb")
    with errors, _started(command, core, folder / "gateway.log", stdin=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(config.first_line())
        process.stdin.flush()
        said = orjson.loads(os.read(process.stdout.fileno(), 1 << 16).partition(b"\n")[0])
        if said.get("event") != "ready":
            raise Spoiled(f"the gateway did not start: {said}")
        # What it hands out, ledger lines and recordings, is taken by somebody, as in a run.
        taker = subprocess.Popen(["cat"], stdin=process.stdout, stdout=subprocess.DEVNULL)
        try:
            yield Way("memory-bench", folder / "model.sock", process.pid)
        finally:
            process.stdin.close()  # it ends, and so does what it says
            process.wait(30)
            taker.wait(30)


@contextmanager
def mitmproxy(folder: Path, port: int, core: int) -> Iterator[Way]:
    """mitmproxy as a reverse proxy that keeps nothing."""
    listens = _free_port()
    command = [str(environment("mitmproxy") / "bin" / "mitmdump"), "--quiet"]
    command += ["--mode", f"reverse:http://127.0.0.1:{port}", "--listen-host", "127.0.0.1"]
    command += ["--listen-port", str(listens), "--set", f"confdir={folder / 'mitmproxy'}"]
    # Without it a stream is passed on when it has ended.
    command += ["--set", "stream_large_bodies=1"]
    with _started(command, core, folder / "mitmproxy.log") as process:
        _wait_for(listens, process, folder / "mitmproxy.log")
        yield Way("mitmproxy", listens, process.pid)


@contextmanager
def litellm(folder: Path, port: int, core: int) -> Iterator[Way]:
    """The LiteLLM proxy, one worker, no database and no keys of its own."""
    listens = _free_port()
    (folder / "litellm.yaml").write_text(LITELLM.format(model=MODEL, port=port))
    command = [
        str(environment("litellm") / "bin" / "litellm"),
        "--config",
        str(folder / "litellm.yaml"),
    ]
    command += ["--host", "127.0.0.1", "--port", str(listens), "--num_workers", "1"]
    with _started(command, core, folder / "litellm.log") as process:
        _wait_for(listens, process, folder / "litellm.log")
        yield Way("LiteLLM", listens, process.pid)


@contextmanager
def all_ways(
    names: Sequence[str], folder: Path, port: int, core: int, say: Callable[[str], None]
) -> Iterator[list[Way]]:
    """All ways named, each held still until it is woken."""
    makers = {"ours": ours, "mitmproxy": mitmproxy, "litellm": litellm}
    with ExitStack() as stack:
        ways = [Way("direct", port, None)]
        for name in names:
            say(f"starting {name}")
            way = stack.enter_context(makers[name](folder, port, core))
            stack.callback(way.wake, True)
            way.wake(False)
            ways.append(way)
        yield ways


def environment(name: str) -> Path:
    """The environment with what a lock names; made when it is missing or of another lock."""
    lock = LOCKS / f"{name}.txt"
    folder = state_dir() / "venvs" / name
    mark = folder / "lock.txt"
    if mark.is_file() and mark.read_bytes() == lock.read_bytes():
        return folder
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    python = folder / "bin" / "python"
    if uv:
        make = [uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)]
        fill = [uv, "pip", "install", "--quiet", "--python", str(python)]
    else:
        make = [sys.executable, "-m", "venv", "--clear", str(folder)]
        fill = [str(python), "-m", "pip", "install", "--quiet"]
    folder.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(make, check=True)
    subprocess.run([*fill, "--require-hashes", "-r", str(lock)], check=True)
    mark.write_bytes(lock.read_bytes())
    return folder


@contextmanager
def _started(
    command: Sequence[str], core: int, log: Path, *, stdin: bool = False
) -> Iterator["subprocess.Popen[bytes]"]:
    # Nothing of the user's own: no proxy, no key, no settings; and nothing is looked up outside.
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(log.parent),
        "LANG": "C.UTF-8",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_LOG": "ERROR",
    }
    with log.open("ab") as out:
        process = subprocess.Popen(
            command,
            cwd=root(),
            env=environment,
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE if stdin else out,
            stderr=out,
            preexec_fn=lambda: _confine(core),
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _confine(core: int) -> None:
    """One core, and no longer life than whoever measures: one that is held still hears nothing."""
    os.sched_setaffinity(0, {core})
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _wait_for(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise Spoiled(f"{process.args!r} does not listen: {log.read_text('utf-8', 'replace')[-2000:]}")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
