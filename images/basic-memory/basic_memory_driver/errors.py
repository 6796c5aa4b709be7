"""What a verb can fail of, by the names the line protocol has for it."""

from typing import ClassVar


class DriverError(Exception):
    """A failed verb; ``type`` is its name in the reply."""

    type: ClassVar[str] = "internal"


class BadRequest(DriverError):
    """The request, or the settings the driver was started with, make no sense."""

    type = "bad_request"


class Unsupported(DriverError):
    """A verb of the protocol that basic-memory has no use for."""

    type = "unsupported"


class Degraded(DriverError):
    """It would answer with less than it should have: no vectors, pages missing, another day."""

    type = "degraded"
