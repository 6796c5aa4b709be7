"""What a verb can fail of, by the names the line protocol has for it."""

from typing import ClassVar


class DriverError(Exception):
    """A failed verb; ``type`` is its name in the reply."""

    type: ClassVar[str] = "internal"


class BadRequest(DriverError):
    """The request, or the settings the driver was started with, make no sense."""

    type = "bad_request"


class Unsupported(DriverError):
    """A verb of the protocol that these systems have no use for."""

    type = "unsupported"


class Degraded(DriverError):
    """The system would answer with less than it should have: no pages, or no encoder."""

    type = "degraded"
