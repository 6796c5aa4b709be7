"""Arguments of system calls, as strace writes them: strings, words, structures, rows."""

import re
from dataclasses import dataclass
from typing import TypeAlias


class Odd(ValueError):
    """Something that is no value."""


@dataclass(frozen=True, slots=True)
class Text:
    """A string, its escapes undone: a byte a character."""

    text: str
    cut: bool = False
    """Whether strace left out its end."""


@dataclass(frozen=True, slots=True)
class Word:
    """A number, a pointer, flags: whatever is written without quotes."""

    text: str


@dataclass(frozen=True, slots=True)
class Struct:
    """Fields in their order; one without a name has the empty one."""

    fields: tuple[tuple[str, "Value"], ...]

    def get(self, name: str) -> "Value | None":
        """The field of that name."""
        return next((value for key, value in self.fields if key == name), None)


@dataclass(frozen=True, slots=True)
class Array:
    """Values in a row."""

    items: tuple["Value", ...]


@dataclass(frozen=True, slots=True)
class Applied:
    """What strace writes as a call: ``htons(80)``."""

    name: str
    args: tuple["Value", ...]


@dataclass(frozen=True, slots=True)
class Changed:
    """A value before and after the call."""

    before: "Value"
    after: "Value"


Value: TypeAlias = Text | Word | Struct | Array | Applied | Changed
NOTHING = Word("NULL")

_TOKEN = re.compile(
    r"""\s*(?:/\*.*?\*/\s*)*(?:
        (?P<text>@?"(?:[^"\\]|\\.)*"(?:\.\.\.)?)
      | (?P<becomes>=>)
      | (?P<sign>[{}\[\](),=])
      | (?P<word>[^\s"{}\[\](),=]+)
    )\s*(?:/\*.*?\*/\s*)*""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "\\": "\\", '"': '"'}


def _token(text: str, at: int) -> tuple[str, str, int]:
    found = _TOKEN.match(text, at)
    if found is None or found.lastgroup is None:
        raise Odd(f"nothing known at {text[at : at + 40]!r}")
    return found.lastgroup, found[found.lastgroup], found.end()


def fields_of(text: str, at: int, close: str) -> tuple[tuple[tuple[str, Value], ...], int]:
    """Values up to a closing sign, each perhaps with a name, and where that sign ends."""
    fields: list[tuple[str, Value]] = []
    while True:
        kind, said, end = _token(text, at)
        if kind == "sign" and said == close:
            return tuple(fields), end
        if kind == "sign" and said == ",":
            if not fields:
                raise Odd("a comma before anything")
            at = end
            continue
        name = ""
        if kind == "word" and _follows(text, end, "="):
            name = said
            at = _token(text, end)[2]
        value, at = _value(text, at)
        if isinstance(value, Array) and _follows(text, at, "="):  # [IPV4_DEVCONF_MC_FORWARDING-1]=0
            name = "".join(one.text for one in value.items if isinstance(one, Word))
            value, at = _value(text, _token(text, at)[2])
        fields.append((name, value))


def _value(text: str, at: int) -> tuple[Value, int]:
    kind, said, at = _token(text, at)
    value: Value
    if kind == "text":
        value = _text(said)
    elif kind == "word" and _opens(text, at):
        fields, at = fields_of(text, at + 1, ")")
        value = Applied(said, tuple(one for _, one in fields))
    elif kind == "word":
        value = Word(said)
    elif said == "{":
        fields, at = fields_of(text, at, "}")
        value = Struct(fields)
    elif said == "[":
        fields, at = fields_of(text, at, "]")
        value = Array(tuple(one for _, one in fields))
    else:
        raise Odd(f"no value at {said!r}")
    if _follows(text, at, "=>"):
        after, at = _value(text, _token(text, at)[2])
        return Changed(value, after), at
    return value, at


def _opens(text: str, at: int) -> bool:
    return text[at : at + 1] == "("


def _follows(text: str, at: int, said: str) -> bool:
    return at < len(text) and _token(text, at)[1] == said


def _text(said: str) -> Text:
    cut = said.endswith('"...')
    body = said.removeprefix("@").removesuffix("...")[1:-1]
    return Text(("\0" if said.startswith("@") else "") + _ESCAPE.sub(_plain, body), cut)


def _plain(escape: re.Match[str]) -> str:
    said = escape[1]
    if said[0] == "x" and len(said) > 1:
        return chr(int(said[1:], 16))
    if said[0] in "01234567":
        return chr(int(said, 8))
    try:
        return _ESCAPES[said]
    except KeyError:
        raise Odd(f"an unknown escape {escape[0]!r}") from None
