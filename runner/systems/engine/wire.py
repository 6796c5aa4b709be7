"""The memory engine's model calls: what each is for."""

from runner.systems._document import HEADER, UNATTRIBUTED, DocumentWire

__all__ = ["HEADER", "PURPOSES", "UNATTRIBUTED", "EngineWire"]

PURPOSES = frozenset({"extraction", "contradiction", "update", "verification", "reanchor"})


class EngineWire(DocumentWire):
    """How the memory engine talks to a model."""

    purposes = PURPOSES
