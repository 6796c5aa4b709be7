"""What it will cost to let a memory index a vault with a model, before anything is asked.

No usage of it was ever published, and what a run takes goes by the vault. So it is worked out from
the pages, and from what the system's own folder says that it asks about one at most.
"""

from collections.abc import Sequence

from runner.estimate import Estimate, KindEstimate, NeverMeasured
from runner.gateway.meter import FRAME_TOKENS
from runner.model import Usage
from runner.prices import PriceList
from runner.runs.protocol import Protocol
from runner.suites.memory_honesty import Exam, load_vault
from runner.systems.catalog import Ingesting

BYTES_A_TOKEN = 4
ESCAPED = 3
"""What a byte of a page comes to at most in a request: quoted in JSON, twice."""


def ingestion_estimate(protocol: Protocol, prices: PriceList) -> Estimate | None:
    """What the runs of an exam will cost: expected, and at most. None for a system that calls no
    model while it indexes.

    Raises:
        NeverMeasured: it does, and its folder does not say what it asks at most.
    """
    exam, form = protocol.case, protocol.system.ingesting
    assert isinstance(exam, Exam)
    if protocol.system.ingestion is None:
        return None
    if form is None:
        raise NeverMeasured(
            f"It is not known what {protocol.system.name} asks its model while it indexes, so"
            " nothing can be estimated.",
            hint="Its system.toml would say so, in the table [ingesting].",
        )
    sizes = [len(page.text.encode()) for page in load_vault(exam.vault, exam.marker).pages]
    expected, bound = _expected(form, sizes), _bound(form, sizes)
    price = max(
        (prices.resolve(model) for model in set(protocol.purposes.values())),
        key=lambda one: one.cost(bound),
    )
    return Estimate(
        case=f"{exam.set}, {protocol.system.name}",
        model=protocol.model,
        pins=dict(protocol.pins),
        kinds=tuple(
            KindEstimate(
                kind=kind,
                runs=runs,
                calls=len(sizes) + form.beside,
                usage=expected,
                low_usd=price.cost(expected),
                expected_usd=price.cost(expected),
                bound_usd=max(price.cost(bound), price.cost(_plain(bound))),
            )
            for kind, runs in protocol.runs.items()
            if runs
        ),
        source=(
            f"usage: worked out from {len(sizes)} pages of {sum(sizes)} bytes;"
            f" prices: {prices.source}, read {prices.read}"
        ),
        notes=(
            "Expected is one call a page, a note as long as the page, and nothing read from a"
            " cache.",
        ),
        bound_note=(
            f"Nothing of it was measured: it is {_calls(form.calls)} a page"
            f"{f' and {_calls(form.beside)} more' if form.beside else ''}, each byte a token, each"
            " reply as long as may be"
            + (", each call with all that was said before it." if form.conversation else ".")
        ),
    )


def _calls(count: int) -> str:
    return "one call" if count == 1 else f"{count} calls"


def _plain(usage: Usage) -> Usage:
    """The same with nothing written to a cache, which a price given by hand may have free."""
    return Usage(input=usage.input + usage.cache_write_1h, output=usage.output)


def _expected(form: Ingesting, sizes: Sequence[int]) -> Usage:
    asked = [form.prompt_bytes + size for size in sizes]
    if form.conversation:
        # Page and note of all that came before, in any order.
        asked = [one + sum(sizes) for one in asked]
    asked += [form.prompt_bytes] * form.beside
    said = sum(min(size, form.reply_tokens * BYTES_A_TOKEN) for size in sizes)
    return Usage(input=sum(asked) // BYTES_A_TOKEN, output=said // BYTES_A_TOKEN)


def _bound(form: Ingesting, sizes: Sequence[int]) -> Usage:
    # The longest first: then as much as may be is said again.
    pages = [ESCAPED * size for size in sorted(sizes, reverse=True) for _ in range(form.calls)]
    calls = [*pages, *[0] * form.beside]
    before, total = 0, 0
    for page in calls:
        total += min(form.context_tokens, FRAME_TOKENS + form.prompt_bytes + page + before)
        if form.conversation:
            before += page + form.reply_tokens
    said = len(calls) * form.reply_tokens
    if form.conversation:
        # What is said again is cached, which costs most when it is written.
        return Usage(cache_write_1h=total, output=said)
    return Usage(input=total, output=said)
