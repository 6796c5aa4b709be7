"""How a probe says what it found."""

import errno
import os
import select
import signal
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Config = Mapping[str, Any]

BLOCKED, ESCAPED, INAPPLICABLE = "blocked", "escaped", "inapplicable"
CHILD_S = 2.0


class Found(NamedTuple):
    """One attempt: the fields of ``runner.model.Escape``."""

    probe: str
    target: str
    result: str
    detail: str


Verdict = tuple[str, str]
"""A result and its detail."""


def name(number: int) -> str:
    """The name of an error number."""
    return errno.errorcode.get(number, str(number))


def collect(config: Config, probe: str, verdicts: Mapping[str, Verdict], what: str) -> list[Found]:
    """A row for each target that was reached, and one for all others, so that a table stays short.

    Args:
        config: with ``each``, every target gets a row.
        probe: the probe.
        verdicts: by target.
        what: what the targets are, such as ``places``.
    """
    if config.get("each") and verdicts:
        return [Found(probe, target, *verdict) for target, verdict in verdicts.items()]
    rows = [Found(probe, target, *v) for target, v in verdicts.items() if v[0] == ESCAPED]
    for result in (BLOCKED, INAPPLICABLE):
        details = [detail for found, detail in verdicts.values() if found == result]
        if details:
            counts = (f"{detail} ({details.count(detail)})" for detail in sorted(set(details)))
            rows.append(Found(probe, f"{len(details)} {what}", result, ", ".join(counts)))
    return rows or [Found(probe, what, INAPPLICABLE, "there are none here")]


def in_child(attempt: Callable[[], Verdict]) -> Verdict:
    """Try something that may change or kill the process that tries it.

    A child that a signal ends was stopped, so that is blocked; which signal is in the detail.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            result, detail = attempt()
        except OSError as error:
            result, detail = BLOCKED, name(error.errno or 0)
        except BaseException as error:
            result, detail = INAPPLICABLE, repr(error)
        os.write(write, f"{result} {detail}"[:4000].encode())
        os._exit(0)
    os.close(write)
    ready, _, _ = select.select([read], [], [], CHILD_S)
    answer = os.read(read, 4096).decode() if ready else ""
    os.close(read)
    if not ready:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return INAPPLICABLE, f"no end within {CHILD_S:g} s"
    _, status = os.waitpid(pid, 0)
    if answer:
        result, _, detail = answer.partition(" ")
        return result, detail
    if os.WIFSIGNALED(status):
        return BLOCKED, f"killed by {signal.Signals(os.WTERMSIG(status)).name}"
    return INAPPLICABLE, f"ended with status {status}"
