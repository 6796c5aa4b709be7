"""What two claims have in common, by their words; only chooses what a model is asked about."""

import re
import unicodedata
from collections.abc import Iterable

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")

_FUNCTION_WORDS = """
a about after all also an and any are as at be because been before being but by can could did
do does during for from had has have he her here hers him his how i if in into is it its just
may me might more most my near no nor not of off on once only or other our out over own per
planned plans said same says she should since so some such than that the their them then there
these they this those through to told too under until up user user's users very was we were
what when where which while who will with would you your
"""
_COMMON = frozenset(_FUNCTION_WORDS.split())


def subject_key(subject: str) -> str:
    """A subject in the form subjects are compared in: case, articles and spacing do not matter."""
    words = unicodedata.normalize("NFKC", subject).casefold().replace("’", "'").split()
    while len(words) > 1 and words[0] in ("the", "a", "an"):
        words = words[1:]
    return " ".join(words).strip(" .,;:'\"")


def content_words(text: str) -> frozenset[str]:
    """Words that can say what a claim is about: not function words, not single letters."""
    return frozenset(word for word, _ in _words(text) if len(word) > 1 and word not in _COMMON)


def proper_names(text: str) -> frozenset[str]:
    """Words written like names, in scripts that have capitals."""
    return frozenset(
        word for word, written in _words(text) if written[0].isupper() and word not in _COMMON
    )


def share(texts: Iterable[str], other: str) -> bool:
    """Whether ``other`` has a content word in common with any of ``texts``."""
    words = content_words(other)
    return any(words & content_words(text) for text in texts)


def _words(text: str) -> Iterable[tuple[str, str]]:
    for match in _WORD.finditer(unicodedata.normalize("NFKC", text)):
        written = re.sub(r"['’]s$", "", match.group())
        if written:
            yield written.casefold(), written
