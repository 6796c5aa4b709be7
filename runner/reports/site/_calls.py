"""The model calls of a run, and what was exchanged in each where a cassette tells."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import orjson
from pydantic import JsonValue

from runner.gateway.cassette import Entry as Recorded
from runner.model import Call
from runner.reports.cells import figure, money, sheet, text, whole, words
from runner.reports.sheet import Cell, Sheet, Tone

ROWS = 400
"""Calls that a table shows; more are listed in plain lines, so that a page stays light."""
_TONES = {"answered": Tone.PLAIN, "refused": Tone.UNSURE, "failed": Tone.ERRORED}


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was asked and what came back."""

    title: str
    asked: str
    came: str
    note: str
    """How it ended, where not well."""


def call_sheet(calls: Sequence[Call]) -> Sheet:
    """Calls, a line each, as far as a table takes them."""
    columns = [
        figure("#", "seq"), text("step"), text("purpose"), text("came to"), text("model served"),
        figure("tokens in"), figure("cached"), figure("out"), figure("US$"), figure("ms"),
        text("remarks"), text("prompt"), text("request id"),
    ]  # fmt: skip
    return sheet("calls", "Model calls", columns, [_line(call) for call in calls[:ROWS]])


def _line(call: Call) -> tuple[Cell, ...]:
    usage = call.usage
    cached = usage.cache_read + usage.cache_write_5m + usage.cache_write_1h
    served = call.served_model or ""
    other = f" (asked: {call.requested_model})" if served != call.requested_model else ""
    return (
        whole(call.seq),
        words(call.step),
        words(call.purpose),
        words(_came_to(call), _TONES[call.outcome]),
        words(f"{served or 'none'}{other}"),
        whole(usage.input),
        whole(cached),
        whole(usage.output),
        money(call.cost_usd),
        whole(round(call.latency_ms)),
        words("; ".join(_remarks(call))),
        words(call.prompt_sha256[:12]),
        words(call.request_id or ""),
    )


def _came_to(call: Call) -> str:
    return call.outcome if call.error is None else f"{call.outcome}: {call.error}"


def _remarks(call: Call) -> Iterator[str]:
    if call.detail:
        yield call.detail
    yield from (flag.replace("_", " ") for flag in call.flags)
    if call.stop_reason not in (None, "end_turn", "stop"):
        yield f"stopped: {call.stop_reason}"
    if call.max_tokens_sent != call.max_tokens_asked:
        yield f"max_tokens {call.max_tokens_asked} → {call.max_tokens_sent}"
    if call.retries:
        yield f"{call.retries} tries before"
    if call.batch:
        yield f"batch {call.batch}"
    if call.source:
        yield f"answer {call.source}"


def rest(calls: Sequence[Call]) -> str:
    """The calls that the table has no room for, a line each."""
    return "\n".join(
        "  ".join(cell.text for cell in _line(call) if cell.text) for call in calls[ROWS:]
    )


def exchanges(calls: Sequence[Call], recorded: Sequence[Recorded]) -> Iterator[Exchange]:
    """What was recorded of a run: by call where its prompt's digest is the call's own, and then
    what no call of the ledger has."""
    left = list(recorded)
    for call in calls:
        found = next((one for one in left if _is(one, call)), None)
        if found is not None:
            left.remove(found)
            yield _exchange(f"Call {call.seq}: {call.purpose}, {call.step}", found)
    for one in left:
        yield _exchange(f"Beside the calls: {one.purpose}, {one.step}", one)


def _is(one: Recorded, call: Call) -> bool:
    digest = hashlib.sha256(one.canonical.encode()).hexdigest()
    return one.step == call.step and digest == call.prompt_sha256


def _exchange(title: str, one: Recorded) -> Exchange:
    note = [] if one.status < 400 else [f"status {one.status}"]
    note += ["cut there"] * one.cut + [part for part in (one.failed, one.detail) if part]
    came = one.body if one.encoding == "utf-8" else f"(no text, {len(one.content)} bytes)"
    results = f"\n\nResults of the batch:\n{one.results}" if one.results else ""
    return Exchange(title, spread(one.canonical), spread(came) + results, "; ".join(note))


def spread(text: str) -> str:
    """A JSON document, a value after another under its path, texts with their own line breaks; what
    is none, as it is."""
    try:
        document = orjson.loads(text)
    except ValueError:
        return text
    return "\n".join(_leaves(document, ""))


def _leaves(value: JsonValue, path: str) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value:
        for number, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{number}]")
    elif isinstance(value, str) and "\n" in value:
        yield f"{path}:\n    " + value.replace("\n", "\n    ")
    else:
        told = value if isinstance(value, str) else orjson.dumps(value).decode()
        yield f"{path}: {told}" if path else told
