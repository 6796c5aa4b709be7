"""The one wire for all systems that say how they talk to a model in rules."""

import re
from collections.abc import Mapping
from typing import Any

import orjson

from runner.gateway.wire._wire import UNATTRIBUTED, ToolUse
from runner.gateway.wire.rules import Between, FieldRule, LeftOut, PurposeRule, WireRules

GONE = "…"
"""What stands where something was taken out."""
DEPTH = 64
"""How deep text is looked for in a request. What lies deeper is taken as it is."""
STEPS = 100_000
"""Texts of a request, and places in them, that are looked at for what is to be left out."""
DOCUMENT_BYTES = 4 << 20
"""Longest text that is read as JSON."""
# Ours, of fixed length or one run: none can take longer than its text.
_FORMS: Mapping[str, re.Pattern[str]] = {
    "uuid": re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    "datetime": re.compile(
        r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?", re.ASCII
    ),
    "number": re.compile(r"\d+", re.ASCII),
}


class DeclaredWire:
    """How a system talks to a model, by the rules in its ``system.toml``."""

    def __init__(self, rules: WireRules) -> None:
        self._rules = rules
        self._header = rules.header.lower() if rules.header is not None else None

    def purpose(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> str:
        """The first purpose whose rule holds; ``unattributed`` where none does."""
        said = self._said(headers)
        system, text = _system(body), _last(body)
        for rule in self._rules.purpose:
            if _holds(rule, said, system, text):
                return rule.purpose
        ruled = {rule.purpose for rule in self._rules.purpose if rule.header is not None}
        return said if said in self._rules.purposes and said not in ruled else UNATTRIBUTED

    def fields(self, purpose: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """``system`` and ``text``, what the rules cut out of them, and the document's own fields.

        Raises:
            ValueError: a document is declared, and there is none.
        """
        parts = {"system": _system(body), "text": _last(body)}
        found: dict[str, Any] = dict(parts)
        for rule in self._rules.field:
            if (cut := _cut(rule, parts[rule.part])) is not None:
                found[rule.name] = cut
        if self._rules.document:
            found |= _document(body)
        return found

    def reply(self, purpose: str, answer: Any) -> str | ToolUse:
        """A scripted answer as its purpose's rule has it.

        Raises:
            ValueError: it cannot be written so.
        """
        how = next(
            (
                rule.answer
                for rule in self._rules.purpose
                if rule.purpose == purpose and rule.answer is not None
            ),
            self._rules.answer,
        )
        if how == "tool":
            return _tool(answer)
        if how == "text" and not isinstance(answer, str):
            raise ValueError(f"a scripted {purpose} is no text: {answer!r}")
        return answer if how == "text" else orjson.dumps(answer).decode()

    def canonical(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> bytes:
        """Purpose and body, keys in order, without what the rules leave out.

        Raises:
            ValueError: it is nested too deep to be written.
        """
        out = self._rules.left_out
        kept = {name: value for name, value in body.items() if name not in out.fields}
        asked = {"purpose": self.purpose(headers, body), "body": _Cleaner(out).clean(kept)}
        try:
            return orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)
        except TypeError as error:
            raise ValueError(f"the request cannot be written: {error}") from error

    def _said(self, headers: Mapping[str, str]) -> str | None:
        if self._header is None:
            return None
        return next((text for name, text in headers.items() if name.lower() == self._header), None)


def _holds(rule: PurposeRule, said: str | None, system: str, text: str) -> bool:
    return (
        (rule.header is None or said == rule.header)
        and all(piece in system for piece in rule.system)
        and all(piece in text for piece in rule.text)
    )


def _cut(rule: FieldRule, text: str) -> str | None:
    begin = text.find(rule.after)
    if begin < 0:
        return None
    begin += len(rule.after)
    end = len(text) if rule.before is None else text.find(rule.before, begin)
    return None if end < 0 else text[begin:end]


def _tool(answer: Any) -> ToolUse:
    if not isinstance(answer, Mapping) or set(answer) != {"name", "input"}:
        raise ValueError("a scripted use of a tool has a name and an input, and nothing else")
    name, given = answer["name"], answer["input"]
    if not isinstance(name, str) or not isinstance(given, Mapping):
        raise ValueError("a scripted use of a tool has a text as its name and a table as its input")
    return ToolUse(name, given)


# ---------------------------------------------------------------- what a request says


def _system(body: Mapping[str, Any]) -> str:
    """The system prompt; of a chat, what is said in that role."""
    spoken = [_text(body.get("system"))]
    messages = body.get("messages")
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, Mapping) and message.get("role") in ("system", "developer"):
            spoken.append(_text(message.get("content")))
    return "\n".join(filter(None, spoken))


def _last(body: Mapping[str, Any]) -> str:
    return "\n".join(_pieces(_last_content(body)))


def _last_content(body: Mapping[str, Any]) -> Any:
    messages = body.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    return last.get("content") if isinstance(last, Mapping) else None


def _text(content: Any) -> str:
    return "\n".join(_pieces(content))


def _pieces(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    found = []
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Mapping) and isinstance(block.get("text"), str):
            found.append(block["text"])
    return found


def _document(body: Mapping[str, Any]) -> dict[str, Any]:
    pieces = _pieces(_last_content(body))
    if not pieces or len(pieces[-1]) > DOCUMENT_BYTES:
        raise ValueError("the last message holds no text that is a document")
    document = orjson.loads(pieces[-1])
    if not isinstance(document, dict):
        raise ValueError("the last text is no JSON object")
    return document


# ---------------------------------------------------------------- what is left out


class _Cleaner:
    """Takes out of one request what differs from call to call, in a bounded number of steps."""

    def __init__(self, out: LeftOut) -> None:
        self._out = out
        self._steps = STEPS

    def clean(self, value: Any, depth: int = DEPTH) -> Any:
        """The same, without it; what is too deep, or comes after too much, is as it was."""
        if isinstance(value, str):
            return self._text(value)
        if depth and isinstance(value, Mapping):
            return {key: self.clean(inner, depth - 1) for key, inner in value.items()}
        if depth and isinstance(value, list):
            return [self.clean(inner, depth - 1) for inner in value]
        return value

    def _text(self, text: str) -> str:
        self._steps -= 1
        if self._steps < 0:
            return text
        for rule in self._out.between:
            text = self._between(rule, text)
        for form in self._out.forms:
            text = _FORMS[form].sub(GONE, text)
        return text

    def _between(self, rule: Between, text: str) -> str:
        kept, at, end = [], 0, 0
        while self._steps >= 0 and (begin := text.find(rule.after, at)) >= 0:
            self._steps -= 1
            begin += len(rule.after)
            # Looked for again only where the last one found is behind us: never twice over a text.
            if end < begin and (end := text.find(rule.before, begin)) < 0:
                break
            kept.append(text[at:begin])
            at = begin
            if end - begin <= rule.reach:
                kept.append(GONE)
                at = end
        return "".join((*kept, text[at:]))
