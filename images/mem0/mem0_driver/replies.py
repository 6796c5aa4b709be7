"""What a reply of the model says there is to remember, or that it cannot be taken for that.

mem0 takes a reply that was cut short, declined or in no form it knows for one that says there is
nothing to remember. Those two are held apart here.
"""

from collections.abc import Callable
from typing import Any

from mem0_driver.errors import (
    DriverError,
    GatewayRefused,
    ProviderFailed,
    UnusableReply,
)

CUT = ("max_tokens", "model_context_window_exceeded")
_SHOWN = 300


def remembered(reply: Any, parse: Callable[[str], Any]) -> list[str]:
    """The statements of a reply, in its order; none where it says that there are none.

    Args:
        reply: a message as the provider's client gives it.
        parse: mem0's own way from a reply's text to JSON.

    Raises:
        UnusableReply: it was cut short or declined, or is not in the form mem0 reads.
    """
    reason = getattr(reply, "stop_reason", None)
    if reason in CUT:
        raise UnusableReply(f"the reply was cut short ({reason})")
    if reason == "refusal":
        raise UnusableReply("the model declined to say what there is to remember")
    texts = [block.text for block in reply.content if block.type == "text"]
    if not texts or not texts[0].strip():
        raise UnusableReply(f"the reply holds no text ({reason})")
    try:
        # mem0 reads the first block of text and no other.
        document = parse(texts[0])
    except (ValueError, RecursionError) as error:
        raise UnusableReply(f"the reply is not JSON: {texts[0][:_SHOWN]!r}") from error
    return statements(document)


def statements(document: Any) -> list[str]:
    """The statements of a reply's document.

    Raises:
        UnusableReply: it is not ``{"memory": [{"text": ...}, ...]}``.
    """
    listed = document.get("memory") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise UnusableReply(f'the reply has no list "memory": {str(document)[:_SHOWN]}')
    found = []
    for number, each in enumerate(listed, 1):
        text = each.get("text") if isinstance(each, dict) else None
        if not isinstance(text, str) or not text.strip():
            raise UnusableReply(f"memory {number} of the reply has no text: {str(each)[:_SHOWN]}")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise UnusableReply(f"memory {number} of the reply is not Unicode") from error
        found.append(text)
    return found


def failure(error: BaseException | None) -> DriverError:
    """What mem0's error about its model stands for: it keeps the cause."""
    import anthropic

    if isinstance(error, anthropic.APIStatusError):
        message = f"HTTP {error.status_code}: {error.message}"[:2000]
        refused = error.response.headers.get("x-should-retry") == "false"
        if error.status_code == 403 and refused:
            return GatewayRefused(message)
        return ProviderFailed(message)
    if isinstance(error, anthropic.AnthropicError):
        return ProviderFailed(f"{type(error).__name__}: {error}"[:2000])
    # What the client raises over bytes that are no message at all.
    return ProviderFailed(f"the answer is no message: {type(error).__name__}: {error}"[:2000])
