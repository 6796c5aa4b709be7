"""What the first call of a run sets aside: below that, a ceiling lets nothing happen at all."""

from decimal import ROUND_CEILING, Decimal

import orjson

from runner.gateway.ceiling import LEAST_USEFUL_TOKENS
from runner.gateway.meter import FRAME_TOKENS
from runner.prices import PriceList

PROMPT_BYTES = {("engine", "trip-vs-move"): 2958}
"""Bytes of a system's first call in a suite beside what it is about, its name and the model's,
where they are known. A test holds them to what the gateway sets aside."""
STEP = Decimal("0.0001")


def first_call_usd(
    system: str, suite: str, words: tuple[str, str], model: str, prices: PriceList
) -> Decimal:
    """US dollars that the first call of a run sets aside at least, rounded up to a hundredth of a
    cent: its prompt, byte by byte, and the shortest useful answer. For a system whose prompt is
    not known it is less than the truth, which the gateway then says at that call.

    Args:
        system: its name.
        suite: its name.
        words: name and text of what the call is about.
        model: that is asked.
        prices: of the model.
    """
    name, text = words
    # A document of JSON in a message of JSON.
    escaped = len(orjson.dumps(orjson.dumps(text).decode()))
    size = FRAME_TOKENS + escaped
    if (system, suite) in PROMPT_BYTES:
        size += PROMPT_BYTES[system, suite] + len(name) + len(model)
    price = prices.resolve(model)
    usd = (price.input * size + price.output * LEAST_USEFUL_TOKENS).scaleb(-6)
    return usd.quantize(STEP, rounding=ROUND_CEILING)
