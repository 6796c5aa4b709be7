"""What calls take: an upper bound before, the cost after, and the totals of a run."""

import unicodedata

from runner.gateway.ceiling import LEAST_USEFUL_TOKENS, Quote
from runner.gateway.request import ModelRequest
from runner.model import Call, Usage
from runner.prices import ModelPrice

FRAME_TOKENS = 1024
"""What a provider adds of its own to any call: role marks, an output format's instructions."""
TOOLS_TOKENS = 1024
"""What it adds once when there are tools."""
TOOL_TOKENS = 2048
"""What it adds for each tool whose schema it knows itself, such as ``bash_20250124``."""
IMAGE_TOKENS = 8192
"""More than the largest picture comes to; bytes say nothing of a picture's tokens."""


def input_bound(request: ModelRequest) -> int:
    """More tokens than the input of ``request`` can come to.

    A token of text is at least one byte of it. A tokenizer may normalise text first, which can
    make it longer, so the longer form counts.
    """
    size = max(request.size, len(request.plain))
    if not request.plain.isascii():
        size = max(size, len(unicodedata.normalize("NFKC", request.plain.decode()).encode()))
    tools = request.body.get("tools") or []
    known = sum(1 for tool in tools if (tool.get("type") or "custom") != "custom")
    return (
        size
        - request.image_bytes
        + request.images * IMAGE_TOKENS
        + FRAME_TOKENS
        + (TOOLS_TOKENS if tools else 0)
        + known * TOOL_TOKENS
    )


def quote(request: ModelRequest, price: ModelPrice, known: Usage | None) -> Quote:
    """What ``request`` may cost at worst.

    ``known`` is what an arm that has its answers already knows this one to take.
    """
    rate = price.input
    # In plain JSON a key cannot be spelled in another way, nor hide in text: quotes are escaped.
    if b'"cache_control":' in request.plain:
        long = b'"ttl":"1h"' in request.plain
        rate = max(rate, price.cache_write_5m, price.cache_write_1h if long else rate)
    bound = (rate * input_bound(request)).scaleb(-6)
    if known is not None:
        bound = max(bound, price.cost(known.model_copy(update={"output": 0})))
    least = max(LEAST_USEFUL_TOKENS, request.thinking_tokens + 1)
    return Quote(
        input_usd=bound,
        token_usd=price.output.scaleb(-6),
        max_tokens=request.max_tokens,
        least_tokens=min(request.max_tokens, least),
    )


class Meter:
    """Sums over the calls of one run."""

    def __init__(self) -> None:
        self.lines = 0
        """Calls of any outcome."""
        self.answered = 0
        self.usage = Usage()

    def count(self, call: Call) -> None:
        """Add one line of the ledger."""
        self.lines += 1
        self.answered += call.outcome == "answered"
        self.usage += call.usage
