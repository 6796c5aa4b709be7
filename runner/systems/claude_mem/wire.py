"""claude-mem's model calls: what each is for, what it asks, and how it is answered.

The observer keeps a conversation: each call of a session carries all that was said before, and its
last turn says what is asked. In a whole session the agent's own calls come by the same door.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from runner.gateway.wire import ToolUse
from runner.systems._document import UNATTRIBUTED
from runner.systems.claude_mem._call import FOLDER, READ, Call, texts

PURPOSES = frozenset({"observation", "briefing", "summary", "condensing", "session", "title"})

_TRANSPORT = frozenset({"stream", "metadata"})
"""Fields of a request that change how it is answered, or name who asks; not what is asked."""
_BILLING = "x-anthropic-billing-header:"
_HOOK = "SessionStart hook additional context:"
_REMINDER = "<system-reminder>"
_TIMES = re.compile(r"(?<=<occurred_at>)[^<]*(?=</occurred_at>)|(?<=<requested_at>)[^<]*(?=</req)")
_CONTEXT = re.compile(r"(?<=<session_start_context>\n).*?(?=\n</session_start_context>)", re.DOTALL)
_CLOCK = re.compile(
    r"(?m)^(#?S?\d+) (?:\d{1,2}:\d\d[ap]|\") "  # an entry of a list: its time, or that of the last
    r"|\b\d{4}-\d\d-\d\d\b|\b[A-Z][a-z]{2} \d{1,2}(?:, \d{4})?\b|\b\d{1,2}:\d\d ?(?:[ap]m|[AP]M)?\b"
)
_SYSTEM = re.compile(r"(?m)^( - OS Version:) .*$")
_MARKS = re.compile(
    r"</?(?:observation|summary|skip_summary|type|title|subtitle|facts?|narrative|concepts?"
    r"|files?_?\w*|request|investigated|learned|completed|next_steps|notes)\b[^>]*>"
)
"""What the observer's answers are read by: a statement must not hold any."""


class ClaudeMemWire:
    """How claude-mem, and the Claude Code it watches, talk to a model."""

    def purpose(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> str:
        """What the call is for, by what its last turn asks; ``unattributed`` where none knows."""
        try:
            return _purpose(Call.read(body))
        except ValueError:
            return UNATTRIBUTED

    def fields(self, purpose: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """What is asked: of an observation which text is to be noted, of a session what is next.

        Raises:
            ValueError: it is no call of claude-mem's or of such a session.
        """
        call = Call.read(body)
        match _purpose(call):
            case "observation":
                first, *more = call.observed
                digest = hashlib.sha256(first.text.encode()).hexdigest() if first.text else None
                return {
                    "task": "remember",
                    "sha256": digest,
                    "name": first.name,
                    "tool": first.tool,
                    "more": [other.name for other in more],
                }
            case "session":
                return {"task": "read", "next": next(iter(call.reading or ()), "")}
            case "condensing":
                return {"task": "condense", "text": call.condense}
            case "briefing":
                return {"task": "brief", "request": call.request}
            case "summary":
                return {"task": "summarise"}
            case _:
                return {"task": "title"}

    def reply(self, purpose: str, answer: Any) -> str | ToolUse:
        """An answer in the form its purpose has; text stands as it is.

        * ``observation``: ``{name, title, statements}``; the name may be left out.
        * ``summary``: ``{request, investigated, learned, completed, next_steps, notes}``.
        * ``briefing``: ``{skip}``, why there is nothing to note yet.
        * ``session``: ``{read}``, the page that is to be read.
        """
        if not isinstance(answer, Mapping):
            return str(answer)
        return _REPLIES.get(purpose, _json)(answer)

    def canonical(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> bytes:
        """The request without what differs from run to run: who asks, the day and the time, the
        machine's name for its system, and ids of tools that were used, which are numbered."""
        asked = {name: value for name, value in body.items() if name not in _TRANSPORT}
        asked["system"] = [_steady(text) for text in texts(body.get("system"))]
        numbers: dict[str, str] = {}
        asked["messages"] = [_turn(turn, numbers) for turn in body.get("messages") or ()]
        return orjson.dumps(
            {"purpose": self.purpose(headers, body), "body": asked}, option=orjson.OPT_SORT_KEYS
        )


def _purpose(call: Call) -> str:
    if call.titles:
        return "title"
    if call.reading is not None:
        return "session"
    if call.observed:
        return "observation"
    if call.summary:
        return "summary"
    return "condensing" if call.condense is not None else "briefing"


# ---------------------------------------------------------------- answers


def _observation(answer: Mapping[str, Any]) -> str:
    said = [_plain(one) for one in answer.get("statements", ())]
    title = _plain(answer.get("title") or (said[0] if said else "Nothing"))
    read = f"<file>{FOLDER}{answer['name']}</file>" if answer.get("name") else ""
    return "\n".join(
        (
            "<observation>",
            "  <type>discovery</type>",
            f"  <title>{title}</title>",
            f"  <subtitle>{said[0] if said else title}</subtitle>",
            f"  <facts>{''.join(f'<fact>{one}</fact>' for one in said)}</facts>",
            f"  <narrative>{' '.join(said) or title}</narrative>",
            "  <concepts><concept>what-changed</concept></concepts>",
            f"  <files_read>{read}</files_read>",
            "  <files_modified></files_modified>",
            "</observation>",
        )
    )


def _summary(answer: Mapping[str, Any]) -> str:
    parts = ("request", "investigated", "learned", "completed", "next_steps", "notes")
    said = "\n".join(f"  <{part}>{_plain(answer.get(part, ''))}</{part}>" for part in parts)
    return f"<summary>\n{said}\n</summary>"


def _briefing(answer: Mapping[str, Any]) -> str:
    reason = _plain(answer.get("skip", "")).replace('"', "'")
    return f'<skip_summary reason="{reason}" />'


def _session(answer: Mapping[str, Any]) -> ToolUse:
    return ToolUse(READ, {"file_path": f"{FOLDER}{answer['read']}"})


def _json(answer: Mapping[str, Any]) -> str:
    return orjson.dumps(answer).decode()


_REPLIES: Mapping[str, Callable[[Mapping[str, Any]], str | ToolUse]] = {
    "observation": _observation,
    "summary": _summary,
    "briefing": _briefing,
    "session": _session,
}


def _plain(text: Any) -> str:
    return " ".join(_MARKS.sub(" ", str(text)).split())


# ---------------------------------------------------------------- what is steady in a request


def _steady(text: str) -> str:
    if text.startswith(_BILLING):
        return _BILLING
    if text.startswith((_REMINDER, _HOOK)):
        return _timeless(text)
    text = _CONTEXT.sub(lambda found: _timeless(found[0]), text)
    return _SYSTEM.sub(r"\1", _TIMES.sub("", text))


def _timeless(text: str) -> str:
    return _CLOCK.sub(lambda found: f"{found[1]} " if found[1] else "", text)


def _turn(turn: Any, numbers: dict[str, str]) -> Any:
    if not isinstance(turn, Mapping):
        return turn
    content = turn.get("content")
    if isinstance(content, list):
        return {**turn, "content": [_block(block, numbers) for block in content]}
    return {**turn, "content": [{"type": "text", "text": _steady(str(content))}]}


def _block(block: Any, numbers: dict[str, str]) -> Any:
    if not isinstance(block, Mapping):
        return block
    # Where the cache is to begin moves from call to call, and says nothing of what is asked.
    steady = {name: value for name, value in block.items() if name != "cache_control"}
    if isinstance(text := steady.get("text"), str):
        steady["text"] = _steady(text)
    for name in ("id", "tool_use_id"):
        if isinstance(used := steady.get(name), str):
            steady[name] = numbers.setdefault(used, str(len(numbers) + 1))
    return steady
