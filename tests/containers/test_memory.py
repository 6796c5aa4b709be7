"""How much memory a box was seen to use."""

import time
from collections.abc import Callable

import pytest

from runner.runs.sandbox import EngineSandbox, GatewayBox, SystemBox

pytestmark = pytest.mark.containers

MIB = 1024 * 1024
System = Callable[..., SystemBox]
Gateway = Callable[..., GatewayBox]
KILL = """
import os
value = []
for pid in filter(str.isdigit, os.listdir("/proc")):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        if file.read().startswith(b"/bin/sh\\0-c"):
            os.kill(int(pid), 9)
            value.append(pid)
"""


def test_the_most_there_was_is_told_though_it_was_given_back(
    sandbox: EngineSandbox, system: System, gateway: Gateway
) -> None:
    with sandbox.open("memory", system(), gateway(), deadline_s=30) as box:
        assert box.peak_memory() is None  # nobody has looked in yet
        box.limits()
        before = box.peak_memory()
        assert before is not None
        assert 2 * MIB < before.bytes < 150 * MIB
        box.system.request("hog", {"megabytes": 200}, deadline_s=30)
        time.sleep(0.1)  # a sample's time, where the kernel keeps no mark
        after = box.peak_memory()
        assert after is not None
        assert 200 * MIB < after.bytes < 600 * MIB
        assert after.how == before.how or "samples" in after.how
        began = time.monotonic()
        for _ in range(50):
            box.peak_memory()
        assert time.monotonic() - began < 50 * 0.02
    assert box.peak_memory() is not None  # what was read stays


def test_a_system_that_ends_the_reading_ends_no_run(
    sandbox: EngineSandbox, system: System, gateway: Gateway
) -> None:
    with sandbox.open("memory", system(), gateway(), deadline_s=30) as box:
        box.escapes()
        assert box.peak_memory() is not None
        killed = box.system.request("run", {"source": KILL}, deadline_s=10).result["value"]
        assert len(killed) == 1
        time.sleep(0.2)
        assert box.peak_memory() is not None
        assert box.system.request("echo", {"text": "on"}, deadline_s=5).result["text"] == "on"
