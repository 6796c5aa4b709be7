"""Text of strangers made safe to show: what a terminal would obey is shown, not obeyed."""

import unicodedata

_KEPT = {"\n", "\t"}
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
"""Control and format characters (escape sequences, right-to-left marks), halves of pairs, private
ones, and separators that break lines."""


def plain(text: str) -> str:
    """The text with every character that is not to be seen written as its code point.

    Stores, notes and model replies are hostile: an escape sequence in a claim must not move the
    cursor, and a direction mark must not turn a sentence round.
    """
    if text.isprintable():  # which none of these is: nearly every text, found out at once
        return text
    return "".join(
        char
        if char in _KEPT or unicodedata.category(char) not in _HIDDEN
        else f"<U+{ord(char):04X}>"
        for char in text
    )
