"""Every way a verb can fail: one class each, with the type that goes over the line protocol.

None of them is a refusal. A refusal says that the vault does not hold an answer; a failure says
nothing about the vault.
"""

from typing import ClassVar


class RouterError(Exception):
    """A verb failed for a reason the caller can act on."""

    type: ClassVar[str] = "internal"


class BadRequest(RouterError):
    """The request, or the settings the router was started with, are wrong."""

    type = "bad_request"


class Unsupported(RouterError):
    """The router has no such ability."""

    type = "unsupported"


class NothingIndexed(RouterError):
    """There are no pages to ask."""

    type = "degraded"


class StoreUnusable(RouterError):
    """The store cannot be opened, or is not what was put into it."""

    type = "degraded"


class ProviderFailed(RouterError):
    """The model's provider did not answer, after every retry that made sense."""

    type = "provider"


class GatewayRefused(RouterError):
    """The door to the model said no and said not to ask again."""

    type = "gateway_refused"


class UnusableReply(RouterError):
    """The model answered, but the answer can be no verdict."""

    type = "unparseable_reply"


class UnparseableReply(UnusableReply):
    """The reply is not in the form that was asked for. Asking once more may help."""
