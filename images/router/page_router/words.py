"""Text as terms: Latin words folded to a stem, Chinese as pairs of characters.

A term is a string. One that begins with a Chinese character is a pair (or, where a run has only
one character, that character); any other is a folded Latin word or a number.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from page_router.everyday import asking, words

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_RUN = re.compile(rf"[{_HAN}]+|[^\W_{_HAN}]+(?:'[^\W_{_HAN}]+)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_VOWEL = re.compile(r"[aeiouy]")
_CONTRACTED = frozenset({"s", "d", "ll", "re", "ve", "m"})


@dataclass(frozen=True, slots=True)
class Unit:
    """A word or a Chinese character of a question, with the terms that can stand for it."""

    shown: str
    """As a receipt shows it."""
    terms: tuple[str, ...]
    """A Latin word has one; a character the pairs that it is part of."""
    everyday: bool = False
    """Whether it says little about what is asked."""


def terms(text: str) -> list[str]:
    """The terms of a page's text, in order, with repetitions; words of grammar are left out."""
    return [term for run in _runs(text) for term in _of_run(run)]


def units(question: str) -> list[Unit]:
    """What a question asks with, each once; words of grammar and of asking are left out."""
    found: dict[str, Unit] = {}
    for run in _runs(question):
        if is_han(run):
            for unit in _characters(run):
                found.setdefault(unit.shown + "".join(unit.terms), unit)
        elif word := latin(run):
            found.setdefault(word, Unit(run, (word,), word in _everyday() or word.isdigit()))
    return list(found.values())


def is_han(run: str) -> bool:
    """Whether a run or a term is Chinese."""
    return (
        "\u3400" <= run[:1] <= "\u9fff" or "\uf900" <= run[:1] <= "\ufaff" or run[:1] > "\U0001ffff"
    )


def latin(run: str) -> str:
    """A Latin run as its term; empty for a word of grammar or a single letter."""
    before, _, after = run.rpartition("'")
    word = (before if before and after in _CONTRACTED else run).replace("'", "")
    # "hasn't" and its kind are words of grammar, all of them.
    if word in words("stop") or run.endswith("n't") or (len(word) == 1 and not word.isdigit()):
        return ""
    return stem(word)


def stem(word: str) -> str:
    """A word without the commonest endings of English: plural, -ing, -ed, -ly and a last e.

    Both sides go through it, so a stem need not be a word; it only has to be the same one.
    """
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed", "ly"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= (4 if ending == "ly" else 3) and _VOWEL.search(rest):
            # "planned" and "plan", but "pressed" and "press", "added" and "add".
            twice = ending != "ly" and len(rest) > 3 and rest[-1] == rest[-2]
            doubled = twice and rest[-1] not in "aeiouslz"
            word = rest[:-1] if doubled else rest
            break
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") and len(word) > 3 else word


def folded(text: str) -> str:
    """Text without differences of case, width, accents and apostrophes."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    apart = unicodedata.normalize("NFD", text)
    text = "".join(c for c in apart if not unicodedata.combining(c))
    return _THOUSANDS.sub("", unicodedata.normalize("NFC", text))


def _runs(text: str) -> list[str]:
    return _RUN.findall(folded(text))


def _of_run(run: str) -> Iterator[str]:
    if not is_han(run):
        if word := latin(run):
            yield word
    elif len(run) == 1:
        yield run
    else:
        yield from (run[at : at + 2] for at in range(len(run) - 1))


def _characters(run: str) -> Iterator[Unit]:
    for piece in asking().split(run):
        if len(piece) < 2:
            # One character between words of asking is too little to know a word by.
            continue
        pairs = [piece[at : at + 2] for at in range(len(piece) - 1)]
        for at, character in enumerate(piece):
            yield Unit(
                character,
                tuple(dict.fromkeys(pairs[max(0, at - 1) : at + 1])),
                character in words("plain"),
            )


@cache
def _everyday() -> frozenset[str]:
    return frozenset(map(stem, words("everyday")))
