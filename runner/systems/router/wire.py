"""The page router's model calls: what each is for."""

from runner.systems._document import HEADER, UNATTRIBUTED, DocumentWire

__all__ = ["HEADER", "PURPOSES", "UNATTRIBUTED", "RouterWire"]

PURPOSES = frozenset({"learning"})


class RouterWire(DocumentWire):
    """How the page router talks to a model."""

    purposes = PURPOSES
