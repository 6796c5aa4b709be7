"""Every way the bench can end other than well: one class each, with its exit code and a next step.

| code | ending |
|---:|---|
| 0 | every run passed, or the bar of the update gate is met, which forgives a sample |
| 1 | a run failed its checks, or the bar is not met; a result made again is not the same; a
|   | comparison found something worse |
| 2 | the command line or an input file is wrong; nothing was started |
| 3 | a run is incomplete: ceiling, deadline or interruption |
| 4 | a run is invalid: wrong model, an escape succeeded, an answer missing |
| 5 | a run errored: engine, image, provider or a degraded system |
| 6 | cannot start: no engine, no image, no room, output not writable |
| 7 | a report is altered or unreadable |
| 8 | not confirmed: spending or removing was declined |
| 130, 143 | stopped by SIGINT (Ctrl-C) or SIGTERM; everything was removed |
| 141 | whoever read the output went away |
"""

from typing import ClassVar


class BenchError(Exception):
    """Something the user has to know about: what went wrong, and what to do next."""

    exit_code: ClassVar[int] = 5

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class UsageError(BenchError):
    """The command line or an input file is wrong; nothing was started."""

    exit_code = 2


class CannotStart(BenchError):
    """The machine is not ready: engine, image, disk or output path."""

    exit_code = 6


class AlteredReport(BenchError):
    """A report's content does not match its own digests, or is no report."""

    exit_code = 7


class DamagedArchive(BenchError):
    """An archive is not as it was written, or is none."""

    exit_code = 7


class NotConfirmed(BenchError):
    """The user was asked before spending or removing and said no, or could not be asked."""

    exit_code = 8


class SandboxError(BenchError):
    """The sandbox failed under a run: engine gone, container killed, stream broken."""

    exit_code = 5


class EngineLost(SandboxError):
    """The container engine stopped answering."""


class ContainerDied(SandboxError):
    """A container of the run ended before it was told to."""


class DeadlineMissed(BenchError):
    """A verb or an engine call did not answer in time; its container was killed."""

    exit_code = 3


class HostileSnapshot(SandboxError):
    """A snapshot holds something other than plain files and folders, or too much."""


class UnreadableStore(SandboxError):
    """A snapshot's store is damaged, or not of a form its reader knows."""


class DriverError(BenchError):
    """A driver answered with a typed error.

    Attributes:
        kind: the driver's error type, such as ``provider``, ``gateway_refused``,
            ``unparseable_reply``, ``degraded``, ``bad_request``, ``unsupported``, ``internal``.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
