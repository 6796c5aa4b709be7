"""Fill ``{name}`` in a text: how one case serves many people and places."""

import re
from collections.abc import Mapping

_TOKEN = re.compile(r"\{\{|\}\}|\{([a-z][a-z0-9_]*)\}|[{}]")


def fill(text: str, names: Mapping[str, str]) -> str:
    """Replace every ``{name}``; ``{{`` and ``}}`` stand for the braces themselves.

    Raises:
        ValueError: for an unknown name or a brace that is neither.
    """

    def one(match: re.Match[str]) -> str:
        token = match.group(0)
        if token in ("{{", "}}"):
            return token[0]
        name = match.group(1)
        if name is None:
            raise ValueError(f"a lone {token!r}; write it twice to mean the brace itself")
        if name not in names:
            raise ValueError(f"unknown placeholder {{{name}}}")
        return names[name]

    return _TOKEN.sub(one, text)
