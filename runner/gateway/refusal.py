"""Why the gateway does not answer a call, in the provider's own shape."""

from typing import Any

from runner.model import Ending


class Refusal(Exception):
    """A call that is not answered.

    Attributes:
        kind: one word for the ledger, such as ``ceiling``.
        message: for the client and whoever reads the ledger.
        status: of the HTTP reply.
        ending: how the run ends with it; none when the run may go on.
        request_id: as its line in the ledger has it.
    """

    def __init__(
        self, kind: str, message: str, *, status: int = 403, ending: Ending | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.ending = ending
        self.request_id = "req_none"


_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def error_body(
    status: int, message: str, request_id: str | None = None, type_: str | None = None
) -> dict[str, Any]:
    """The provider's error document."""
    error = {"type": type_ or _TYPES.get(status, "api_error"), "message": message}
    body: dict[str, Any] = {"type": "error", "error": error}
    return body if request_id is None else {**body, "request_id": request_id}


def chat_error_body(status: int, message: str, type_: str | None = None) -> dict[str, Any]:
    """The error document of a provider that speaks ``/v1/chat/completions``."""
    kind = type_ or _TYPES.get(status, "api_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}
