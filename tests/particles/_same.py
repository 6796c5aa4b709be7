"""A store without what no two runs share: its ids, by the order they come up in, and its times."""

import re

from runner.model import Store

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d+)?(\+00:00|Z)?")
_SECONDS = re.compile(r'"([a-z_]*seconds)":[0-9.e-]+')


def plain(store: Store) -> str:
    """The whole store as text, ids numbered and times struck out."""
    numbers: dict[str, str] = {}

    def number(found: re.Match[str]) -> str:
        return numbers.setdefault(found[0], f"id-{len(numbers)}")

    text = _ID.sub(number, store.model_dump_json(indent=0))
    # The first eight digits of an id are what the engine calls a claim by in its sentences.
    for full, name in numbers.items():
        text = text.replace(full[:8], name)
    return _SECONDS.sub(r'"\1":0', _TIME.sub("time", text.replace('": ', '":')))
