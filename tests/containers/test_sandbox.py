"""Boxes on a real engine: what they answer, what they withhold, and that nothing of them stays."""

import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from runner.engine_address import Address
from runner.errors import (
    CannotStart,
    ContainerDied,
    DeadlineMissed,
    DriverError,
    EngineLost,
    HostileSnapshot,
)
from runner.runs.sandbox import Engine, EngineSandbox, GatewayBox, SystemBox
from tests.containers.conftest import left

pytestmark = pytest.mark.containers

MIB = 1024 * 1024
System = Callable[..., SystemBox]
Gateway = Callable[..., GatewayBox]


def test_both_sides_answer_and_say_what_they_have_to(
    sandbox: EngineSandbox, system: System, gateway: Gateway, tmp_path: Path
) -> None:
    events: list[Mapping[str, Any]] = []
    with sandbox.open(
        "run 1",
        system(env={"BENCH_SETTINGS": "{}"}),
        gateway(),
        deadline_s=30,
        on_event=events.append,
        log_folder=tmp_path,
    ) as box:
        assert box.gateway.wait_for("ready", deadline_s=10) == {"event": "ready"}
        reply = box.system.request("echo", {"text": "é\n"}, deadline_s=10)
        assert reply.result == {"text": "é\n", "length": 2}
        assert reply.now is not None
        assert reply.ms > 0
        big = "y" * 5_000_000
        assert box.system.request("echo", {"text": big}, deadline_s=20).result["text"] == big
        box.system.request("half", deadline_s=5)
        assert box.system.wait_for("half", deadline_s=5) == {"event": "half"}
        box.system.request("noise", {"lines": 3}, deadline_s=5)
        box.system.request("log", {"text": "a warning\n"}, deadline_s=5)
        with pytest.raises(DriverError, match="KeyError") as caught:
            box.system.request("no such verb", deadline_s=5)
        assert caught.value.kind == "internal"
        assert "a banner 1" in box.system.tail()
        assert box.system.noise == 4
        box.close()
        box.close()
        with pytest.raises(ContainerDied):
            box.system.request("echo", deadline_s=5)
    assert events == [{"event": "ready"}]
    assert b"a warning" in (tmp_path / "system.log").read_bytes()


def test_the_first_line_is_nowhere_to_be_read(
    engine: Engine, sandbox: EngineSandbox, system: System, gateway: Gateway
) -> None:
    secret = b'{"id": 0, "verb": "echo", "text": "sk-secret"}'
    side = gateway(first_line=secret)
    assert "sk-secret" not in repr(side)
    with sandbox.open("r", system(), side, deadline_s=30) as box:
        box.gateway.request("echo", deadline_s=10)
        for name in box.names.containers:
            assert "sk-secret" not in json.dumps(engine.call("GET", f"/containers/{name}/json"))
        source = "value = open('/proc/1/environ').read() + open('/proc/1/cmdline').read()"
        seen = box.gateway.request("run", {"source": source}, deadline_s=5).result["value"]
        assert "sk-secret" not in seen


def test_a_system_sees_nothing_of_the_host(
    sandbox: EngineSandbox, system: System, gateway: Gateway
) -> None:
    source = (
        "import os\n"
        "value = [open('/etc/resolv.conf').read(), open('/etc/hosts').read(), os.uname().nodename,"
        " sorted(os.listdir('/home/bench')), sorted(os.listdir('/tmp')), os.getcwd()]"
    )
    with sandbox.open("secret-name-of-a-run", system(), gateway(), deadline_s=30) as box:
        seen = box.system.request("run", {"source": source}, deadline_s=10).result["value"]
        env = "import os\nvalue = dict(os.environ)"
        environment = box.system.request("run", {"source": env}, deadline_s=5).result["value"]
    resolv, hosts, name, home, tmp, _ = seen
    assert [line for line in resolv.splitlines() if "nameserver" in line] == [
        "nameserver 127.0.0.1"
    ]
    assert socket.gethostname() not in hosts
    assert (name, home, tmp) == ("box", [], [])
    assert "secret-name-of-a-run" not in json.dumps(environment)


def test_limits_hold_when_pushed(sandbox: EngineSandbox, system: System, gateway: Gateway) -> None:
    box_of = system(
        memory_bytes=128 * MIB, pids=40, tmp_bytes=4 * MIB, home_bytes=8 * MIB, exchange_bytes=MIB
    )
    with sandbox.open("r", box_of, gateway(), deadline_s=30) as box:
        forks = box.system.request("fork", {"count": 60}, deadline_s=20).result
        assert forks["errno"] == 11
        assert forks["children"] < 40
        for path, room in (("/tmp/f", 4), ("/home/bench/f", 8), ("/run/exchange/f", 1)):
            filled = box.system.request("fill", {"path": path, "megabytes": 20}, deadline_s=20)
            assert filled.result == {"written": room * MIB, "errno": 28}
        limits = {limit.name: limit for limit in box.limits()}
        assert all(limit.enforced for limit in limits.values()), limits
        assert limits["memory"].seen == str(128 * MIB)
        assert limits["pids"].seen == "40"
        with pytest.raises(ContainerDied, match="memory"):
            box.system.request("hog", {"megabytes": 400}, deadline_s=60)


def test_a_limit_that_is_not_there_is_said(
    engine: Engine, sandbox: EngineSandbox, system: System, gateway: Gateway
) -> None:
    with sandbox.open("r", system(), gateway(), deadline_s=30) as box:
        engine.call("POST", f"/containers/{box.names.system}/update", body={"PidsLimit": -1})
        pids = next(limit for limit in box.limits() if limit.name == "pids")
    assert (pids.seen, pids.enforced) == ("inf", False)


def test_a_missed_deadline_kills_the_container(
    engine: Engine, sandbox: EngineSandbox, system: System, gateway: Gateway
) -> None:
    with sandbox.open("r", system(), gateway(), deadline_s=30) as box:
        box.system.wait_for("ready", deadline_s=10)
        began = time.monotonic()
        with pytest.raises(DeadlineMissed, match="sleep"):
            box.system.request("sleep", {"seconds": 60}, deadline_s=0.5)
        assert time.monotonic() - began < 5
        state = engine.call("GET", f"/containers/{box.names.system}/json")["State"]
        assert not state["Running"]
        with pytest.raises(ContainerDied):
            box.system.request("echo", deadline_s=5)
        box.gateway.request("echo", deadline_s=5)  # the other side is as it was


def test_a_deadline_holds_when_nobody_reads(
    sandbox: EngineSandbox, system: System, gateway: Gateway
) -> None:
    with sandbox.open("r", system(), gateway(), deadline_s=30) as box:
        box.system.wait_for("ready", deadline_s=10)
        with ThreadPoolExecutor(1) as pool:
            asleep = pool.submit(box.system.request, "sleep", {"seconds": 60}, deadline_s=60)
            with pytest.raises(DeadlineMissed):
                box.system.request("echo", {"text": "x" * 20_000_000}, deadline_s=1.0)
            with pytest.raises(ContainerDied):
                asleep.result(10)


def test_a_death_tells_its_cause(sandbox: EngineSandbox, system: System, gateway: Gateway) -> None:
    with sandbox.open("r", system(), gateway(), deadline_s=30) as box:
        with pytest.raises(ContainerDied, match="exit code 7") as caught:
            box.system.request("die", {"code": 7}, deadline_s=10)
        assert "last words" in str(caught.value)
        with pytest.raises(ContainerDied, match="exit code 7"):
            box.system.wait_for("never", deadline_s=10)


def test_an_image_that_is_missing_leaves_nothing(
    engine: Engine, sandbox: EngineSandbox, system: System, gateway: Gateway
) -> None:
    for wrong in ({"gateway": "memory-bench/none:0"}, {"system": "memory-bench/none:0"}):
        first = system() if "gateway" in wrong else SystemBox(wrong["system"])
        second = gateway() if "system" in wrong else GatewayBox(wrong["gateway"], "none", b"{}")
        with (
            pytest.raises(CannotStart, match="memory-bench/none:0"),
            sandbox.open("r", first, second, deadline_s=30),
        ):
            raise AssertionError
        assert left(engine, sandbox.lease.name) == []


def test_an_engine_that_goes_is_told_from_a_container_that_dies(
    engine: Engine, sandbox: EngineSandbox, system: System, gateway: Gateway, tmp_path: Path
) -> None:
    with _Relay(engine, tmp_path / "engine.sock") as relay:
        through = EngineSandbox(Engine(Address(relay.url, "a test"), engine.api), sandbox.lease)
        with through.open("r", system(), gateway(), deadline_s=30) as box:
            box.system.request("echo", deadline_s=10)
            relay.cut()
            began = time.monotonic()
            with pytest.raises(EngineLost):
                box.system.request("echo", deadline_s=20)
            with pytest.raises(EngineLost):
                box.get("/run/exchange", max_bytes=MIB)
        assert time.monotonic() - began < 10
    assert left(engine, sandbox.lease.name) != []
    sandbox.close()
    assert left(engine, sandbox.lease.name) == []


def test_a_snapshot_is_content(
    sandbox: EngineSandbox, system: System, gateway: Gateway, tmp_path: Path
) -> None:
    source = (
        "import os\nos.makedirs('/run/exchange/1/deep/er')\n"
        "open('/run/exchange/1/memory.db', 'w').write('x' * 100)\n"
        "open('/run/exchange/1/deep/er/n', 'w')\n"
        "os.utime('/run/exchange/1/memory.db', ({0}, {0}))\n"
        "os.chmod('/run/exchange/1/memory.db', 0o{1})"
    )
    digests = set()
    for stamp, mode in ((1, "600"), (1_000_000, "755")):
        with sandbox.open("r", system(), gateway(), deadline_s=30) as box:
            box.system.request("run", {"source": source.format(stamp, mode)}, deadline_s=10)
            snapshot = box.get("/run/exchange/1", max_bytes=MIB)
            assert dict(snapshot.files) == {"memory.db": b"x" * 100, "deep/er/n": b""}
            digests.add(snapshot.sha256)
            with pytest.raises(HostileSnapshot, match="more than 50 bytes"):
                box.get("/run/exchange/1", max_bytes=50)
            with pytest.raises(HostileSnapshot, match="no /run/exchange/2"):
                box.get("/run/exchange/2", max_bytes=50)
            assert b"Debian" in (box.read_file("/usr/lib/os-release") or b"")
            assert box.read_file("/usr/lib/none") is None
    assert len(digests) == 1
    snapshot.write(tmp_path)
    assert (tmp_path / "memory.db").read_bytes() == b"x" * 100


@pytest.mark.parametrize(
    ("trick", "told"),
    [
        ("os.symlink('/etc/passwd', d + '/link')", "symbolic link"),
        ("os.mkfifo(d + '/pipe')", "pipe"),
        ("open(d + '/a', 'w'); os.link(d + '/a', d + '/b')", "hard link"),
        ("open(d + '/a\\nb', 'w')", "sensible name"),
        ("open(os.fsencode(d) + b'/\\xff', 'w')", "UTF-8"),
        ("f = open(d + '/big', 'w'); f.truncate(1 << 40)", "more than"),
        ("[open(f'{d}/{n}', 'w') for n in range(40)]", "entries"),
        ("os.rmdir(d); os.symlink('/etc', d)", "symbolic link"),
        ("os.rmdir(d); open(d, 'w').write('x')", "not a folder"),
    ],
)
def test_a_hostile_snapshot_is_refused(
    trick: str, told: str, sandbox: EngineSandbox, system: System, gateway: Gateway
) -> None:
    source = f"import os\nd = '/run/exchange/1'\nos.mkdir(d)\n{trick}"
    with sandbox.open("r", system(), gateway(), deadline_s=30) as box:
        box.system.request("run", {"source": source}, deadline_s=10)
        with pytest.raises(HostileSnapshot, match=told):
            box.get("/run/exchange/1", max_bytes=MIB, max_files=20)


def test_boxes_do_not_share_anything(
    sandbox: EngineSandbox, system: System, gateway: Gateway
) -> None:
    write = "open('/run/exchange/mark', 'x'); open('/tmp/mark', 'x')"
    look = "import os\nvalue = os.listdir('/run/exchange') + os.listdir('/tmp')"

    def run(number: int) -> Any:
        with sandbox.open(f"r{number}", system(), gateway(), deadline_s=60) as box:
            seen = box.system.request("run", {"source": look}, deadline_s=30).result["value"]
            box.system.request("run", {"source": write}, deadline_s=30)
            return seen

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(run, range(3))) == [[], [], []]


def test_the_door_is_shared_one_way(
    sandbox: EngineSandbox, system: System, gateway: Gateway
) -> None:
    listen = (
        "import socket, threading\ns = socket.socket(socket.AF_UNIX)\n"
        "s.bind('/run/door/model.sock'); s.listen()\n"
        "threading.Thread(target=lambda: s.accept()[0].sendall(b'hello'), daemon=True).start()"
    )
    knock = (
        "import socket\ns = socket.socket(socket.AF_UNIX); s.connect('/run/door/model.sock')\n"
        "value = s.recv(5).decode()"
    )
    with sandbox.open("r", system(), gateway(), deadline_s=30) as box:
        box.gateway.request("run", {"source": listen}, deadline_s=10)
        said = box.system.request("run", {"source": knock}, deadline_s=10)
        assert said.result["value"] == "hello"
        with pytest.raises(DriverError, match="Read-only"):
            box.system.request("run", {"source": "open('/run/door/x', 'w')"}, deadline_s=5)
        with pytest.raises(DriverError, match="No such file"):
            box.system.request("run", {"source": "open('/run/ledger/x')"}, deadline_s=5)


class _Relay:
    """A socket that leads to the engine until it is cut."""

    def __init__(self, engine: Engine, path: Path) -> None:
        self.url = f"unix://{path}"
        self._target = engine.address.url.removeprefix("unix://")
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen(64)
        self._open: list[socket.socket] = []
        self._path = path

    def __enter__(self) -> "_Relay":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()

    def cut(self) -> None:
        self._path.unlink(missing_ok=True)
        self._server.close()
        for sock in self._open:
            with_error = sock.fileno() >= 0
            if with_error:
                try:
                    sock.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._target)
            self._open += [client, server]
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=pair, daemon=True).start()

    @staticmethod
    def _pump(source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            return
