"""Texts with placeholders: `{name}` for a word of the case, `{{` and `}}` for braces, and in a
pattern `*` for any text."""

import re
from collections.abc import Callable, Mapping
from typing import Any

_TOKEN = re.compile(r"\{\{|\}\}|\{(?P<name>[a-z][a-z0-9_]*)\}|[{}]|\*")


class PlaceholderError(ValueError):
    """A brace that stands for nothing."""


def _tokens(
    template: str, names: Mapping[str, str], literal: Callable[[str], str], star: str
) -> str:
    """Rebuild ``template``, its plain text and names through ``literal``."""
    parts: list[str] = []
    end = 0
    for found in _TOKEN.finditer(template):
        parts.append(literal(template[end : found.start()]))
        end = found.end()
        mark, name = found[0], found["name"]
        if name is not None:
            if name not in names:
                known = ", ".join(sorted(names)) or "none"
                raise PlaceholderError(f"unknown placeholder {{{name}}}; the case names: {known}")
            parts.append(literal(names[name]))
        elif mark == "*":
            parts.append(star)
        elif mark in ("{{", "}}"):
            parts.append(literal(mark[0]))
        else:
            raise PlaceholderError(
                f"a lone {mark!r} in {template!r}; write it twice to mean itself"
            )
    parts.append(literal(template[end:]))
    return "".join(parts)


def fill(template: str, names: Mapping[str, str]) -> str:
    """Replace the placeholders of one text."""
    return _tokens(template, names, literal=str, star="*")


def compiled(template: str, names: Mapping[str, str]) -> re.Pattern[str]:
    """Compile one text with wildcards; a `*` in a name is a plain one."""
    return re.compile(_tokens(template, names, literal=re.escape, star=".*"), re.DOTALL)


def filled(value: Any, names: Mapping[str, str]) -> Any:
    """Replace the placeholders of every text within ``value``."""
    match value:
        case str():
            return fill(value, names)
        case dict():
            return {key: filled(inner, names) for key, inner in value.items()}
        case list():
            return [filled(inner, names) for inner in value]
        case _:
            return value
