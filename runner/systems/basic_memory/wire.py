"""basic-memory's model calls: there are none."""

from runner.systems._silent import UNATTRIBUTED, SilentWire

__all__ = ["UNATTRIBUTED", "BasicMemoryWire"]


class BasicMemoryWire(SilentWire):
    """How basic-memory would talk to a model."""

    name = "basic-memory and its presets"
