"""The scripted table of a model that a memory asks, at night, which page answers a question.

It is made when it is asked, from the pairs themselves. The model is right about every question
that a page answers, as long as that page is shown to it, and copies the registered sentence. About
a question to refuse it is wrong on purpose, in the way that models were seen to be: it names the
page that the question sounds like, with a sentence that it made up. A proof keeps that out. A
sentence that does stand on the near page, and shares a word with the question, no proof keeps out;
this model never quotes one, so what it shows is what a proof does, and not how well.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from runner.errors import UsageError
from runner.runs._toml import escaped, written
from runner.suites.honesty_learning import Lesson, Pair, plain
from runner.suites.memory_honesty import Page, Vault, load_vault


@dataclass(frozen=True, slots=True)
class Form:
    """How a system asks its model, as far as a table and a bound have to know."""

    shown: int
    """Pages that are put before the model, at most."""
    characters: int
    """Of a page that are shown, at most."""
    prompt_bytes: int
    """Of a call beside question and pages, at most."""
    reply_tokens: int
    """Of a reply, at most."""
    tries: int
    """Calls about one question, at most: a reply that cannot be read is asked for again."""


FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "router": Form(shown=4, characters=6_000, prompt_bytes=2_000, reply_tokens=2_000, tries=2),
    }
)
BYTES_A_TOKEN = 4
SAID_BYTES = 40
"""Of a reply beside its quote."""


def form_of(system: str) -> Form:
    """How a system asks its model.

    Raises:
        UsageError: nobody wrote down how.
    """
    form = FORMS.get(system)
    if form is None:
        raise UsageError(
            f"It is not known how {system} asks its model what to learn.",
            hint=f"Known: {', '.join(FORMS)}.",
        )
    return form


def confirming(system: str, lesson: Lesson, vault: Vault | None = None) -> str:
    """The table, as TOML text.

    Args:
        system: which asks.
        lesson: the pairs.
        vault: its pages; read from the project's own when left out.

    Raises:
        UsageError: no such system, another vault than the lesson's, or two standing pages of one
            title: a call shows titles and no names.
    """
    form = form_of(system)
    standing = standing_pages(lesson, vault)
    titles: dict[str, str] = {}
    for page in standing.values():
        other = titles.setdefault(page.title, page.name)
        if other != page.name:
            raise UsageError(f"{lesson.vault}: {other} and {page.name} have one title.")
    shown = form.shown * sum(len(page.body.encode()) for page in standing.values()) // len(standing)
    size = form.prompt_bytes + shown
    parts = ["schema = 1", f"about = {written(_ABOUT.format(vault=lesson.vault))}", ""]
    for pair in lesson.pairs:
        parts += _answers(pair, standing, form, size)
    return "\n".join(parts)


def standing_pages(lesson: Lesson, vault: Vault | None = None) -> dict[str, Page]:
    """The pages that were not replaced, by name: what a model may be shown.

    Raises:
        UsageError: another vault than the lesson's.
    """
    pages = load_vault(lesson.vault) if vault is None else vault
    if pages.sha256 != lesson.vault_sha256:
        raise UsageError(f"The vault {pages.name} is not the one that the pairs are about.")
    return {page.name: page for page in pages.pages if not page.superseded}


_ABOUT = (
    "Names the page that is registered as right, where it is shown, with its registered sentence;"
    " for a question to refuse the page it sounds like, with a made-up sentence. Pairs of {vault}."
)
_MADE_UP = {"en": "For {term}, the rule is the one given here.", "zh": "{term}按本页的规定办理。"}


def _answers(pair: Pair, standing: Mapping[str, Page], form: Form, size: int) -> Iterator[str]:
    """For every place a page may be shown at, an answer that names it; then the one that none."""
    named, quote = _said(pair, standing)
    into = (size + len(pair.week1.encode())) // BYTES_A_TOKEN
    for name in named:
        for place in range(form.shown):
            yield from _block(
                f"{pair.id}-{named.index(name) + 1}-{place + 1}",
                pair,
                {f"pages.{place}.title": standing[name].title},
                {"page": f"p{place + 1}", "quote": quote},
                into,
            )
    yield from _block(f"{pair.id}-none", pair, {}, {"page": None, "quote": ""}, into)


def _said(pair: Pair, standing: Mapping[str, Page]) -> tuple[list[str], str]:
    """The pages that are named where they are shown, and what is quoted of them."""
    if pair.quote is not None:
        wanted = plain(pair.quote)
        return [name for name in pair.gold if wanted in plain(standing[name].body)], pair.quote
    near = [pair.neighbour] if pair.neighbour in standing else []
    return [name for name in near if name], _MADE_UP[pair.lang].format(term=pair.term)


def _block(
    id_: str, pair: Pair, where: Mapping[str, str], reply: Mapping[str, str | None], into: int
) -> Iterator[str]:
    match = {"task": "learning", "question": plain(pair.week1), **where}
    fields = ", ".join(f"{written(path)} = {escaped(text)}" for path, text in match.items())
    quote = reply["quote"] or ""
    yield "[[answer]]"
    yield f"id = {written(id_)}"
    yield f"match = {{ {fields} }}"
    out = (SAID_BYTES + len(quote.encode())) // BYTES_A_TOKEN
    yield f"usage = {{ input = {into}, output = {out} }}"
    # TOML has no null, so the reply is the text that a model would write.
    yield f"text = {escaped(json.dumps(reply, ensure_ascii=False))}"
    yield ""
