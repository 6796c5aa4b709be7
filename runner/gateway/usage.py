"""Tokens as providers write them, in every form, as the bench counts them."""

from collections.abc import Mapping
from typing import Any

from runner.model import USAGE_FIELDS, Usage


class Counted:
    """What a message's usage says so far; in a stream, a later figure stands for an earlier one.

    Args:
        long_cache: whether a cache write whose kind is not said may be one of an hour.
    """

    def __init__(self, long_cache: bool = False) -> None:
        self._long = long_cache
        self._figures: dict[str, int] = {}
        self._written: Mapping[str, Any] | None = None
        self._rounds: list[Any] = []
        self.server_tools = False
        """Whether tools were used on the provider's side: they have a price of their own."""

    def add(self, usage: Any) -> bool:
        """Take in a ``usage`` object; false where it is none."""
        if not isinstance(usage, dict):
            return False
        figures = {name: usage[name] for name in _MESSAGE if usage.get(name) is not None}
        if not all(_is_count(value) for value in figures.values()):
            return False
        self._figures |= figures
        if isinstance(written := usage.get("cache_creation"), dict):
            self._written = written
        if isinstance(rounds := usage.get("iterations"), list):
            self._rounds = rounds
        tools = usage.get("server_tool_use")
        if isinstance(tools, dict) and any(tools.values()):
            self.server_tools = True
        return "output_tokens" in figures

    @property
    def usage(self) -> Usage | None:
        """The sum; none when neither input nor output was ever said."""
        if not {"input_tokens", "output_tokens"} <= self._figures.keys():
            return None
        if len(self._rounds) > 1:
            # Several samplings behind one answer: the figures beside them leave some out.
            rounds = [Counted(self._long) for _ in self._rounds]
            if all(one.add(said) for one, said in zip(rounds, self._rounds, strict=True)):
                parts = [one.usage for one in rounds]
                if all(part is not None for part in parts):
                    return sum((part for part in parts if part is not None), Usage())
        return self._one()

    def _one(self) -> Usage:
        said = self._written or {}
        short = _or_none(said.get("ephemeral_5m_input_tokens"))
        long = _or_none(said.get("ephemeral_1h_input_tokens"))
        total = self._figures.get("cache_creation_input_tokens", (short or 0) + (long or 0))
        # What is written and not said for how long counts as the dearer kind that was asked for.
        unsaid = max(0, total - (short or 0) - (long or 0))
        return Usage(
            input=self._figures["input_tokens"],
            output=self._figures["output_tokens"],
            cache_write_5m=(short or 0) + (0 if self._long else unsaid),
            cache_write_1h=(long or 0) + (unsaid if self._long else 0),
            cache_read=self._figures.get("cache_read_input_tokens", 0),
        )


def chat_usage(usage: Any) -> Usage | None:
    """The usage of a chat completion, whose cached tokens are part of its prompt's."""
    if not isinstance(usage, dict):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if type(prompt) is not int or type(completion) is not int or min(prompt, completion) < 0:
        return None
    details = usage.get("prompt_tokens_details")
    cached = _or_none(details.get("cached_tokens")) if isinstance(details, dict) else None
    read = min(cached or 0, prompt)
    return Usage(input=prompt - read, output=completion, cache_read=read)


def message_usage(usage: Usage) -> dict[str, Any]:
    """Usage as a message carries it."""
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_creation_input_tokens": usage.cache_write_5m + usage.cache_write_1h,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write_5m,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        },
        "service_tier": "standard",
    }


def chat_usage_of(usage: Usage) -> dict[str, Any]:
    """Usage as a chat completion carries it; it knows no writes to a cache."""
    total = sum(getattr(usage, name) for name in USAGE_FIELDS)
    return {
        "prompt_tokens": total - usage.output,
        "completion_tokens": usage.output,
        "total_tokens": total,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
    }


_MESSAGE = (
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _or_none(value: Any) -> int | None:
    return value if _is_count(value) else None
