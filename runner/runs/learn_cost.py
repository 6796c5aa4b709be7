"""What a night of learning will cost, before anything is asked.

Usage of it was never published and is not kept, so it is worked out from what can be asked at
most: every first-week question once, with so many pages of the vault before it.
"""

from decimal import Decimal

from runner.estimate import Estimate, KindEstimate
from runner.gateway.meter import FRAME_TOKENS
from runner.model import Usage
from runner.prices import PriceList
from runner.runs.learn_tables import BYTES_A_TOKEN, SAID_BYTES, form_of, standing_pages
from runner.runs.protocol import Protocol
from runner.suites.honesty_learning import AFTER, Lesson

BOUND = (
    "Nothing of it was measured: it is every question of the first week asked twice with the"
    " longest pages, each byte a token, each answer as long as may be."
)
QUOTED_BYTES = 120
"""Of a sentence that is copied, as the pairs' own are long."""


def learning_estimate(protocol: Protocol, prices: PriceList) -> Estimate:
    """What the runs of a lesson will cost: expected, and at most.

    Raises:
        UsageError: it is not known how the system asks its model.
    """
    lesson = protocol.case
    assert isinstance(lesson, Lesson)
    models = sorted(set(protocol.purposes.values()) or {protocol.model})
    dearest = max(models, key=lambda name: prices.resolve(name).input)
    way = "with" if protocol.options.get("proof", True) else "without"
    return Estimate(
        case=f"{lesson.vault}, {way} proof",
        model=protocol.model,
        pins=dict(protocol.pins),
        kinds=tuple(
            _kind(protocol, lesson, dearest, prices, kind, count)
            for kind, count in protocol.runs.items()
            if count
        ),
        source=f"usage: worked out from the pairs; prices: {prices.source}, read {prices.read}",
        notes=(
            "Expected is every question of the first week asked about once, with pages of the"
            " usual length; those that were answered well enough are not asked about at all.",
        ),
        bound_note=BOUND,
    )


def _kind(
    protocol: Protocol, lesson: Lesson, model: str, prices: PriceList, kind: str, runs: int
) -> KindEstimate:
    if kind != AFTER:
        nothing = Decimal(0)
        return KindEstimate(kind, runs, 0, Usage(), nothing, nothing, nothing)
    form, price = form_of(protocol.system.name), prices.resolve(model)
    sizes = sorted(
        len(page.title.encode()) + len(page.body[: form.characters].encode())
        for page in standing_pages(lesson).values()
    )
    words = sum(len(pair.week1.encode()) for pair in lesson.pairs)
    usual = form.prompt_bytes + form.shown * sum(sizes) // len(sizes)
    expected = Usage(
        input=(lesson.size * usual + words) // BYTES_A_TOKEN,
        output=lesson.size * (SAID_BYTES + QUOTED_BYTES) // BYTES_A_TOKEN,
    )
    # A document of JSON in a message of JSON: a byte may come to several.
    most = FRAME_TOKENS + form.prompt_bytes + 2 * sum(sizes[-form.shown :])
    bound = Usage(
        input=form.tries * (lesson.size * most + 2 * words),
        output=form.tries * lesson.size * form.reply_tokens,
    )
    return KindEstimate(
        kind=kind,
        runs=runs,
        calls=lesson.size,
        usage=expected,
        low_usd=Decimal(0),
        expected_usd=price.cost(expected),
        bound_usd=price.cost(bound),
    )
