"""What a run tells whoever looks on while it goes on."""

from typing import Protocol

from runner.model import Call, RunRecord, RunSpec


class Watch(Protocol):
    """Told of every run from its own thread; must be quick and must not raise."""

    def started(self, spec: RunSpec) -> None:
        """A run is being opened."""

    def step(self, run_id: str, name: str) -> None:
        """A step begins."""

    def call(self, run_id: str, call: Call) -> None:
        """The gateway wrote a line in its ledger."""

    def ended(self, record: RunRecord) -> None:
        """A run is over and everything of it is removed."""


class Unwatched:
    """A watch that looks away."""

    def started(self, spec: RunSpec) -> None:
        """Ignored."""

    def step(self, run_id: str, name: str) -> None:
        """Ignored."""

    def call(self, run_id: str, call: Call) -> None:
        """Ignored."""

    def ended(self, record: RunRecord) -> None:
        """Ignored."""
