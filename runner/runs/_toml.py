"""Texts as scripted tables write them."""

import json


def written(text: str) -> str:
    """A text as TOML: JSON escapes all that TOML wants escaped, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def escaped(text: str) -> str:
    """A text as TOML whose braces stand for themselves."""
    # A `*` stays what it is to a pattern: any text, itself included.
    return written(text.replace("{", "{{").replace("}", "}}"))
