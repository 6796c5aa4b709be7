"""Every way a verb can fail: one class each, with the type that goes over the line protocol."""

from typing import ClassVar


class EngineError(Exception):
    """A verb failed for a reason the caller can act on."""

    type: ClassVar[str] = "internal"


class BadRequest(EngineError):
    """The request, or the settings the engine was started with, are wrong."""

    type = "bad_request"


class Unsupported(EngineError):
    """The engine has no such ability."""

    type = "unsupported"


class ProviderFailed(EngineError):
    """The model's provider did not answer, after every retry that made sense."""

    type = "provider"


class GatewayRefused(EngineError):
    """The door to the model said no and said not to ask again."""

    type = "gateway_refused"


class UnusableReply(EngineError):
    """The model answered, but the answer can be no verdict."""

    type = "unparseable_reply"


class UnparseableReply(UnusableReply):
    """The reply is not in the form that was asked for. Asking once more may help."""


class TruncatedReply(UnusableReply):
    """The reply ran into its token limit; what is there is not all of it."""


class RefusedReply(UnusableReply):
    """The model declined to answer."""


class StoreTooNew(EngineError):
    """The store was written by a later engine than this one."""

    type = "degraded"


class StoreUnusable(EngineError):
    """The store cannot be opened, or changed under the engine while it worked."""

    type = "degraded"
