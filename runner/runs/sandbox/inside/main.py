"""Run every probe at once, within a bound, and print one line."""

import json
import os
import threading
import time
from collections.abc import Callable

from runner.runs.sandbox.inside import files, network, privileges
from runner.runs.sandbox.inside.limits import limits
from runner.runs.sandbox.inside.report import ESCAPED, INAPPLICABLE, Config, Found

BOUND_S = 8.0
"""Everything is blocked within a fraction of a second; this is for a machine that is very busy."""


def main(config: Config) -> None:
    """Probe, print ``{"escapes": [...], "limits": [...]}``, end the process or become another.

    Args:
        config: ``mounts`` (declared ones, by path), ``hosts`` (addresses of the machine),
        ``sockets``
            (allowed prefixes), ``limits``, ``sizes``, ``user``; ``probes`` to run only these;
            ``then``, the command that this process becomes.
    """
    wanted = config.get("probes")
    found: dict[str, list[Found]] = {}

    def run(probe: Callable[[Config], list[Found]]) -> None:
        name = probe.__name__.replace("_", "-")
        try:
            found[name] = probe(config)
        except Exception as error:
            found[name] = [Found(name, "the probe itself", INAPPLICABLE, repr(error))]

    def asked(
        probes: "tuple[Callable[[Config], list[Found]], ...]",
    ) -> list[Callable[[Config], list[Found]]]:
        return [p for p in probes if wanted is None or p.__name__.replace("_", "-") in wanted]

    for probe in asked(privileges.PROBES):  # they fork, so no thread may run yet
        run(probe)
    end = time.monotonic() + BOUND_S
    others = asked((*network.PROBES, *files.PROBES))
    threads = [threading.Thread(target=run, args=(probe,), daemon=True) for probe in others]
    for thread in threads:
        thread.start()
    seen = limits(config) if "limits" in config else []
    for thread, probe in zip(threads, others):  # noqa: B905
        thread.join(max(0.0, end - time.monotonic()))
        name = probe.__name__.replace("_", "-")
        if thread.is_alive():
            # From a closed box every attempt comes back at once: this one waits for somebody.
            found[name] = [Found(name, "the probe itself", ESCAPED, f"no end within {BOUND_S:g} s")]
    rows = [row._asdict() for name in list(found) for row in found[name]]
    print(json.dumps({"escapes": rows, "limits": [row._asdict() for row in seen]}), flush=True)
    try:
        if "then" in config:
            os.execv(config["then"][0], config["then"])  # noqa: S606
    finally:
        os._exit(0)
