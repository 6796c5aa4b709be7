"""A second engine on this machine, which has nothing in common with the first: its own data, its
own containerd, no network."""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.errors import CannotStart
from runner.runs.sandbox import Engine, connect
from tests.containers._bench import until

PREFIX = "mb2-"
ALIVE = "alive"
READY_S = 25.0
STOP_S = 60.0


def cannot() -> str:
    """Why no second engine can be had here; empty where one can."""
    if os.geteuid() != 0:
        return "only root starts a second engine"
    for command in ("unshare", "dockerd"):
        if shutil.which(command) is None:
            return f"there is no {command} here to start a second engine with"
    # Without a network of its own it would take the first engine's bridge away.
    tried = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False)
    if tried.returncode != 0:
        return f"no network of its own for a second engine: {tried.stderr.decode().strip()}"
    return ""


class SecondEngine:
    """An engine of a test's own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = folder / "docker.sock"
        self.host = f"unix://{self.socket}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Engine:
        """Start it, also again after it was killed."""
        (self.folder / "daemon.json").write_text("{}")
        command = ["unshare", "--net", "dockerd"]
        if shutil.which("setpriv"):  # it ends with whoever runs the test, however that ends
            command = ["setpriv", "--pdeathsig", "TERM", *command]
        command += ["--data-root", f"{self.folder}/data", "--exec-root", f"{self.folder}/exec"]
        command += ["--pidfile", f"{self.folder}/pid", "-H", self.host]
        command += ["--config-file", f"{self.folder}/daemon.json", "--bridge=none"]
        command += [f"--{what}=false" for what in ("iptables", "ip6tables", "ip-forward")]
        command += ["--ip-masq=false", "--userland-proxy=false"]
        (self.folder / "pid").unlink(missing_ok=True)
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
            )
        try:
            until(lambda: self.socket.is_socket() and self._answers(), READY_S)
        except AssertionError:
            ended, log_tail = self._process.poll(), (self.folder / "log").read_text()[-3000:]
            pytest.fail(f"the second engine does not answer (ended: {ended}):\n{log_tail}")
        return self.engine()

    def engine(self) -> Engine:
        """A client of it."""
        return connect({"DOCKER_HOST": self.host})

    def _answers(self) -> bool:
        try:
            self.engine()
        except CannotStart:
            return False
        return True

    def images(self) -> list[str]:
        """What it calls the images it holds."""
        return [image["Id"] for image in self.engine().call("GET", "/images/json")]

    def forget(self) -> None:
        """Remove every image it holds."""
        engine = self.engine()
        for image in self.images():
            engine.call("DELETE", f"/images/{image}", query={"force": "1"}, missing_ok=True)
        assert self.images() == []

    def take_in(self, *references: str) -> None:
        """Copy images from the machine's engine."""
        with subprocess.Popen(["docker", "save", *references], stdout=subprocess.PIPE) as save:
            subprocess.run(
                ["docker", "-H", self.host, "load"],
                stdin=save.stdout,
                capture_output=True,
                check=True,
                timeout=120,
            )

    def kill(self) -> None:
        """Nothing is told to anybody; containers lose their engine and go on."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self.socket.unlink(missing_ok=True)

    def stop(self) -> None:
        """Stop it, and whatever an engine that was killed left of its helpers."""
        # A helper that nobody has waited for yet would pass for one that runs.
        (self.folder / "exec/containerd/containerd.pid").unlink(missing_ok=True)
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        for process in self.processes():
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        until(lambda: not self.processes(), 10)

    def processes(self) -> list[int]:
        """Processes that have to do with its folder."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (process / "cmdline").read_bytes().split(b"\0")
                if any(str(self.folder).encode() in word for word in words[1:]):
                    found.append(int(process.name))
        return [one for one in found if one != os.getpid()]

    def mounts(self) -> list[str]:
        """What is mounted below its folder, the innermost first."""
        lines = Path("/proc/self/mounts").read_text().splitlines()
        targets = (line.split()[1] for line in lines)
        return [one for one in targets if one.startswith(f"{self.folder}/")][::-1]

    def remove(self) -> None:
        """Leave nothing of it: no process, no mount, no file."""
        self.stop()
        for target in self.mounts():
            subprocess.run(["umount", "-l", target], check=False, capture_output=True)
        for _ in range(20):
            shutil.rmtree(self.folder, ignore_errors=True)
            if not self.folder.exists():
                return
            time.sleep(0.1)
        raise AssertionError(f"left behind: {self.folder}, {self.mounts()}")


@contextlib.contextmanager
def second_engine() -> Iterator[SecondEngine]:
    """One that has never seen an image; gone in the end, whatever a test came to.

    What tests that were killed have left of theirs is removed first.
    """
    if why := cannot():
        pytest.skip(why)
    with contextlib.ExitStack() as stack:
        with _locked(Path(tempfile.gettempdir()) / f"{PREFIX}lock"):
            _sweep()
            other = SecondEngine(Path(tempfile.mkdtemp(prefix=PREFIX)))
            # Whoever can lock it later on knows that nobody needs the folder any more.
            stack.enter_context(_locked(other.folder / ALIVE))
        try:
            other.start()
            yield other
        finally:
            other.remove()


def _sweep() -> None:
    for alive in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{ALIVE}"):
        with contextlib.suppress(BlockingIOError), _locked(alive, wait=False):
            SecondEngine(alive.parent).remove()


@contextlib.contextmanager
def _locked(file: Path, *, wait: bool = True) -> Iterator[None]:
    with file.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
