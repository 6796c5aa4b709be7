"""What a verb can fail of, by the names the line protocol has for it."""


class DriverError(Exception):
    """A failed verb; ``type`` is its name in the reply."""

    type = "internal"


class BadRequest(DriverError):
    """The request makes no sense."""

    type = "bad_request"


class Unsupported(DriverError):
    """A verb of the protocol that this system has no use for."""

    type = "unsupported"


class Degraded(DriverError):
    """The engine would run on with less than it has, and not say so."""

    type = "degraded"


class ProviderFailed(DriverError):
    """A model call that mattered got no usable answer."""

    type = "provider"


class GatewayRefused(DriverError):
    """The door refused a model call for good."""

    type = "gateway_refused"


class UnparseableReply(DriverError):
    """A model's reply that is none: declined, cut off, empty, or not in the form asked for."""

    type = "unparseable_reply"
