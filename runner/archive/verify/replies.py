"""Recorded replies, read again: who answered, with how many tokens, and how it ended."""

from collections import defaultdict, deque
from collections.abc import Sequence

from runner.archive.verify.sheet import Look
from runner.gateway.arms import Reply, pieces
from runner.gateway.cassette import Entry
from runner.gateway.request import ModelRequest
from runner.gateway.taps import BadReply, Tap, tap_for
from runner.model import Call, RunRecord, Usage

_GUESSED = frozenset({"no_usage", "broken", "lowered"})
"""Flags of calls whose tokens are not what a recorded reply says."""


def look(run: RunRecord, entries: Sequence[tuple[str, Entry]], look: Look) -> None:
    """Hold a run's calls to the replies that were recorded of them.

    Args:
        run: of a recording, or of a replay.
        entries: what was recorded of it, each with the digest of what it asks, in the order of
            the ledger; without batches, which tell of many calls at once.
        look: where it goes.
    """
    waiting: dict[str, deque[Tap]] = defaultdict(deque)
    known = {digest for digest, _ in entries}
    for digest, entry in entries:
        if (tap := _read(entry)) is not None:
            waiting[digest].append(tap)
    for call in run.calls:
        if call.outcome != "answered" or call.batch is not None or call.prompt_sha256 not in known:
            continue
        said = waiting[call.prompt_sha256].popleft() if waiting[call.prompt_sha256] else None
        if _GUESSED & set(call.flags):
            continue
        look.at()
        where = f"Call {call.seq} of {run.spec.id}"
        if said is None:
            look.amiss(f"{where} was answered, and no recorded reply is its answer.")
        elif (what := _differs(call, said)) is not None:
            look.amiss(f"{where} tells another {what} than its recorded reply.")


def _differs(call: Call, said: Tap) -> str | None:
    if said.model != call.served_model:
        return "model that answered"
    if said.stop_reason != call.stop_reason:
        return "end"
    if said.usage is None or _sums(said.usage) != _sums(call.usage):
        return "number of tokens"
    return None


def _sums(usage: Usage) -> tuple[int, int, int, int]:
    """Tokens by kind; for how long what was written is kept, a request says as well."""
    return (
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write_5m + usage.cache_write_1h,
    )


def _read(entry: Entry) -> Tap | None:
    """What a recorded reply says of itself; none where it is no answer."""
    if entry.status != 200 or entry.failed:
        return None
    request = ModelRequest(
        path=entry.path,
        headers={},
        body={},
        plain=entry.canonical.encode(),
        size=len(entry.canonical),
        model=entry.model,
        max_tokens=0,
        thinking_tokens=0,
        stream=entry.stream,
        images=0,
        image_bytes=0,
    )
    try:
        tap = tap_for(request, Reply(entry.status, entry.headers, pieces()))
        tap.feed(entry.content)
        tap.end()
    except BadReply:
        return None
    return tap
