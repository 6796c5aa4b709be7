"""A bench that opens boxes and waits to be killed: leases IMAGE [slow]."""

import os
import signal
import sys
import time
from pathlib import Path

from runner.runs.sandbox import GatewayBox, SystemBox, start

driver = (Path(__file__).parent / "driver.py").read_text()
command = ("python3", "-I", "-c", driver)
image = sys.argv[1]

signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

with start() as sandbox:
    print("lease", sandbox.lease.name, flush=True)
    opening = sandbox.open(
        "killed",
        SystemBox(image, command=command),
        GatewayBox(image, "none", b'{"id": 0, "verb": "echo"}', command=command),
        deadline_s=60,
    )
    with opening as box:
        box.system.wait_for("ready", deadline_s=20)
        box.gateway.wait_for("ready", deadline_s=20)
        print("open", os.getpid(), flush=True)
        time.sleep(600)
