"""Who lets go of the driver's standard input ends it, in the middle of whatever it does."""

import os
import socket
import time
from pathlib import Path

import pytest

from tests.particles._run import DriverBox, Installed

pytestmark = [pytest.mark.particles, pytest.mark.timeout(120)]


def group(pid: int) -> list[int]:
    """Every process whose parent is this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid:
                found.append(int(entry.name))
    return found


def test_a_deposit_that_waits_for_a_model_is_let_go_of(particles: Installed, folder: Path) -> None:
    (folder / "clock").write_text("+0.000000\n")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        driver = DriverBox(particles, folder, port, folder / "clock", {}, {})
        driver.result("describe")
        process = driver.process
        assert process.stdin is not None
        process.stdin.write(b'{"id": 7, "verb": "deposit", "name": "a.md", "text": "I moved."}\n')
        process.stdin.flush()
        taken, _ = silent.accept()
        (verb,) = group(process.pid)
        process.stdin.close()
        let_go = time.monotonic()
        assert process.wait(10) == 0
        assert time.monotonic() - let_go < 2
        for _ in range(100):
            if not Path(f"/proc/{verb}").exists() or "Z" in _state(verb):
                break
            time.sleep(0.02)
        else:
            os.kill(verb, 9)
            raise AssertionError("the verb's process lives on")
        taken.close()
        driver.close()


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"
