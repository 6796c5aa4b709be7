"""Every way a verb can fail: one class each, with the type that goes over the line protocol.

None of them is a refusal, and none an empty memory: both say something of what is remembered, a
failure says nothing of it.
"""

from typing import ClassVar


class DriverError(Exception):
    """A verb failed; anything without a class of its own is ``internal``."""

    type: ClassVar[str] = "internal"


class BadRequest(DriverError):
    """The request, the settings or the surroundings the driver was started with are wrong."""

    type = "bad_request"


class Unsupported(DriverError):
    """claude-mem has no such ability."""

    type = "unsupported"


class Degraded(DriverError):
    """claude-mem works on without a part of itself, or lost what it was given."""

    type = "degraded"


class ProviderFailed(DriverError):
    """The model's provider did not answer, after every try that Claude Code makes."""

    type = "provider"


class GatewayRefused(DriverError):
    """The door to the model said no."""

    type = "gateway_refused"


class UnusableReply(DriverError):
    """The model answered, and nothing of it could be kept."""

    type = "unparseable_reply"
