"""What the first call of a run sets aside: below that, a ceiling lets nothing happen at all."""

from decimal import ROUND_CEILING, Decimal

import orjson

from runner.gateway.ceiling import LEAST_USEFUL_TOKENS
from runner.gateway.meter import FRAME_TOKENS
from runner.prices import PriceList
from runner.suites.trip_vs_move import Note

PROMPT_BYTES = {"engine": 2958}
"""Bytes of a system's first call beside its note, the note's name and the model's, where they are
known. A test holds them to what the gateway sets aside."""
STEP = Decimal("0.0001")


def first_call_usd(system: str, note: Note, model: str, prices: PriceList) -> Decimal:
    """US dollars that the first call of a run sets aside at least, rounded up to a hundredth of a
    cent: its prompt, byte by byte, and the shortest useful answer. For a system whose prompt is
    not known it is less than the truth, which the gateway then says at that call.
    """
    # A document of JSON in a message of JSON.
    escaped = len(orjson.dumps(orjson.dumps(note.text).decode()))
    size = FRAME_TOKENS + escaped
    if system in PROMPT_BYTES:
        size += PROMPT_BYTES[system] + len(note.name) + len(model)
    price = prices.resolve(model)
    usd = (price.input * size + price.output * LEAST_USEFUL_TOKENS).scaleb(-6)
    return usd.quantize(STEP, rounding=ROUND_CEILING)
