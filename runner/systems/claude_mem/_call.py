"""One model call of claude-mem or of the Claude Code it watches, taken apart.

Both are Claude Code on the wire: the observer that claude-mem starts, whose every turn is a prompt
of claude-mem's own, and, where a whole session is run, the agent that reads the pages. Claude Code
puts reminders of its own beside what it is told, in blocks and turns that are left out here.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FOLDER = "/home/bench/vault/"
"""Where every page and note lies for the session that reads it."""
READ = "Read"
"""The tool it reads them with."""

_REMINDER = "<system-reminder>"
_TOOL = re.compile(
    r"<observed_from_primary_session>\n  <what_happened>(?P<tool>[^<]*)</what_happened>\n"
)
_REQUEST = re.compile(
    r"<observed_from_primary_session>\n  <user_request>(?P<request>.*?)</user_request>\n"
    r"  <requested_at>",
    re.DOTALL,
)
_LISTED = re.compile(rf"^- {re.escape(FOLDER)}(.+)$", re.MULTILINE)
"""How the session is told what to read."""
_SUMMARY = "--- MODE SWITCH: PROGRESS SUMMARY ---\n"
_CONDENSE = "Condense the tool payload below"
_PAYLOAD = re.compile(r"<payload>\n(.*)\n</payload>\s*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Observed:
    """A tool that was used in the session, as the observer is told of it."""

    tool: str
    name: str | None
    """The page or note it was used on; none for anything else."""
    text: str | None
    """What was read, to the byte; none where it was cut to fit, or is no text."""

    @classmethod
    def read(cls, prompt: str, start: "re.Match[str]") -> "Observed":
        """Take a prompt apart that begins as ``start`` found it."""
        given = _within(prompt, "parameters", start.end())
        came = _within(prompt, "outcome", start.end())
        path = given.get("file_path") if isinstance(given, dict) else None
        name = path.removeprefix(FOLDER) if isinstance(path, str) else None
        file = came.get("file") if isinstance(came, dict) else None
        text = file.get("content") if isinstance(file, dict) else None
        return cls(start["tool"], name, text if isinstance(text, str) else None)


@dataclass(frozen=True, slots=True)
class Call:
    """What one request asks: the first of these that it holds says what it is for."""

    reading: tuple[str, ...] | None = None
    """For a session's own call: what is still to be read, in the order it was told to."""
    titles: bool = False
    """Whether a title is asked for."""
    observed: tuple[Observed, ...] = ()
    """Several where the observer was busy when they came."""
    summary: bool = False
    condense: str | None = None
    request: str | None = None
    """What the session was asked, for an observer that is only told which session it watches."""

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> "Call":
        """Take a request apart.

        Raises:
            ValueError: it is none that is known.
        """
        messages = body.get("messages")
        if not isinstance(messages, list):
            raise ValueError("the call has no messages")
        turns = [turn for turn in messages if isinstance(turn, Mapping)]
        if _wants_json(body):
            return cls(titles=True)
        if any(_named(tool) == READ for tool in _listed(body.get("tools"))):
            return cls(reading=tuple(_left(turns)))
        prompts = list(_last_prompts(turns))
        told = ((prompt, _TOOL.match(prompt)) for prompt in prompts)
        request = next((found for prompt in prompts if (found := _REQUEST.search(prompt))), None)
        condense = next((prompt for prompt in prompts if prompt.startswith(_CONDENSE)), None)
        payload = _PAYLOAD.search(condense) if condense else None
        call = cls(
            observed=tuple(Observed.read(prompt, start) for prompt, start in told if start),
            summary=any(prompt.startswith(_SUMMARY) for prompt in prompts),
            condense=payload[1] if payload else None,
            request=request["request"] if request else None,
        )
        if call == cls():
            raise ValueError("the call is none of the observer's")
        return call


def texts(content: Any) -> Iterator[str]:
    """The texts of a turn, one a block."""
    if isinstance(content, str):
        yield content
    for block in _listed(content):
        if isinstance(block, Mapping) and isinstance(block.get("text"), str):
            yield block["text"]


def _last_prompts(turns: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What the observer has been told since it last answered."""
    answered = max(
        (n for n, turn in enumerate(turns) if turn.get("role") == "assistant"), default=-1
    )
    for turn in turns[answered + 1 :]:
        if turn.get("role") == "user":
            yield from (
                text for text in texts(turn.get("content")) if not text.startswith(_REMINDER)
            )


def _left(turns: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Of what the session was told to read, what it has not."""
    asked: dict[str, None] = {}
    for turn in turns:
        content = turn.get("content")
        if turn.get("role") == "user":
            for text in texts(content):
                if not text.startswith(_REMINDER):
                    asked |= dict.fromkeys(_LISTED.findall(text))
        elif turn.get("role") == "assistant":
            for block in _listed(content):
                used = block.get("input") if isinstance(block, Mapping) else None
                path = used.get("file_path") if isinstance(used, Mapping) else None
                if isinstance(path, str):
                    asked.pop(path.removeprefix(FOLDER), None)
    yield from asked


def _within(prompt: str, mark: str, start: int) -> Any:
    """The JSON behind a mark, which is text that holds JSON; none where it was cut."""
    at = prompt.find(f"<{mark}>", start)
    if at < 0:
        return None
    try:
        found, _ = json.JSONDecoder().raw_decode(prompt, at + len(mark) + 2)
        return json.loads(found) if isinstance(found, str) else found
    except (ValueError, RecursionError):
        return None


def _wants_json(body: Mapping[str, Any]) -> bool:
    config = body.get("output_config")
    formats = (
        body.get("output_format"),
        config.get("format") if isinstance(config, dict) else None,
    )
    return any(isinstance(one, dict) and one.get("type") == "json_schema" for one in formats)


def _named(tool: Any) -> Any:
    return tool.get("name") if isinstance(tool, Mapping) else None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
