"""The containers of a run, the system's on an image that watches itself."""

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from runner import engine_api
from runner.errors import BenchError
from runner.images import _buildx, labels
from runner.model import ImageIdentity
from runner.runs.job import Job
from runner.runs.sandbox import EngineSandbox
from runner.runs.sandbox._box import EngineBox
from runner.runs.sandbox.protocol import MIB, Side, SystemBox
from tests.containers._quiet.seen import SINKHOLE, Seen, judge
from tests.containers._quiet.trace import read

CONTEXT = Path(__file__).parent / "image"
FOLDER = "/run/quiet"
WATCH = ("tini", "--", "/usr/bin/python3", "-I", "/opt/quiet/watch.py")
INIT = ["tini", "--"]
TRACING = ("ptrace", "process_vm_readv")
"""What the filter of a run denies and strace needs."""
MOST_BYTES = 256 * MIB
OPEN_S = 120.0
ENDS_S = 60.0
BUILD_S = 600.0


def build(image: ImageIdentity, base: ImageIdentity) -> str:
    """The image of a system with strace in it, by a name of its own; :func:`remove` it."""
    tag = f"memory-bench/quiet:{uuid.uuid4().hex[:12]}"
    client, address = engine_api.find()
    client.close()
    _buildx.build(
        address,
        CONTEXT,
        tags=[tag],
        labels={labels.NAME: "quiet", labels.SOURCE: "none"},
        args={"BENCH_BASE": base.name, "SYSTEM": image.name},
        progress=lambda line: None,
        deadline_s=BUILD_S,
    )
    return tag


def remove(tag: str) -> None:
    """Remove an image of :func:`build`; what it was built from stays in the builder's cache."""
    client, _ = engine_api.find()
    try:
        client.api.remove_image(tag, force=True)
    finally:
        client.close()


class WatchedBox(EngineBox):
    """A run's box whose system is started under strace, beside a sinkhole for names.

    All else is as in a run: user, capabilities, root, limits, mounts, no network. The filter of
    system calls lets strace work, and gives a socket of any family, so that one who wants such a
    socket goes on and shows for what; a filter would answer before strace sees the call.
    """

    def _bring_up(self, side: Side, name: str, body: dict[str, Any], end: float) -> None:
        if side == "system":
            body = self._watched(body)
        super()._bring_up(side, name, body, end)

    def _watched(self, body: dict[str, Any]) -> dict[str, Any]:
        config = self._engine.call("GET", f"/images/{body['Image']}/json")["Config"]
        entry = config["Entrypoint"] or []
        entry = entry[2:] if entry[:2] == INIT else entry
        host = body["HostConfig"]
        host = {
            **host,
            "SecurityOpt": [_filter(option) for option in host["SecurityOpt"]],
            "Dns": [SINKHOLE],
            "Sysctls": {"net.ipv4.ip_unprivileged_port_start": "0"},
            "Mounts": [*host["Mounts"], {"Type": "volume", "Target": FOLDER}],
        }
        return {
            **body,
            "Entrypoint": [*WATCH, *entry],
            "Cmd": body.get("Cmd", config["Cmd"]),
            "HostConfig": host,
        }

    def seen(self) -> Seen:
        """What was seen, once the system has stopped.

        Raises:
            BenchError: it does not stop.
            Unread: what was written down cannot be read.
        """
        if not self.system.ended(ENDS_S):
            raise BenchError(f"The system goes on. Its log ends:\n{self.system.tail()[-2000:]}")
        trace, log = (self._left(name).splitlines() for name in ("trace", "sinkhole"))
        return judge(read(trace), log)

    def _left(self, name: str) -> str:
        content = self.read_file(f"{FOLDER}/{name}", max_bytes=MOST_BYTES)
        if content is None:
            raise BenchError(f"There is no {name}. Its log ends:\n{self.system.tail()[-2000:]}")
        return content.decode("utf-8", errors="surrogateescape")


def _filter(option: str) -> str:
    key, _, value = option.partition("=")
    if key != "seccomp":
        return option
    profile = json.loads(value)
    more = {"names": [*TRACING, "socket", "socketpair"], "action": "SCMP_ACT_ALLOW", "args": []}
    profile["syscalls"] = [*profile["syscalls"], more]
    return f"seccomp={json.dumps(profile)}"


@contextmanager
def watched(
    sandbox: EngineSandbox,
    job: Job,
    image: str,
    *,
    change: Callable[[SystemBox], SystemBox] = lambda system: system,
) -> Iterator[WatchedBox]:
    """Both sides of a job, as a run opens them, the system on an image of :func:`build`."""
    system = change(replace(job.system, image=image))
    box = WatchedBox(sandbox.engine, sandbox.lease, job.spec.id, system, job.gateway, None, None)
    try:
        box.start(OPEN_S)
        yield box
    finally:
        box.close()
