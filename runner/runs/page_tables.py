"""The scripted table of a model that takes notes of pages, for systems that ask one while they
index.

It is made when it is asked, from the pages as the system is given them. The note of a page is the
page's own statements, one after another: what it says and nothing else, by no intelligence at all.
So a run on it shows what a memory's store and search do with a plain note of every page, and
nothing of how well a model would have written it.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from runner.errors import UsageError
from runner.runs._toml import escaped, written
from runner.statements import statements
from runner.suites.memory_honesty import Page, Vault

LABEL = "made from the page's own text"
"""What reports call answers of such a table."""
TASK = "remember"
"""What a wire says such a call is for, beside the digest of the page's text."""
READ = "read"
"""The same of a call of an agent that goes from page to page, beside the name of the next one."""
REPLY_BYTES = 8_000
"""Of a note, at most: what stands behind that on a page is left out."""


def table_name(system: str, vault: str) -> str:
    """What the table is called in reports."""
    return f"{system}/pages-of-{vault}.toml"


def is_of_pages(table: str) -> bool:
    """Whether a table of that name is one of these."""
    return table.rpartition("/")[2].startswith("pages-of-")


def remembering(purpose: str, vault: Vault, reading: str | None = None) -> str:
    """The table, as TOML text: an answer a page, found by the digest of the page's text.

    It says no usage: the gateway takes the size of each request and answer as they are.

    Args:
        purpose: what the system calls its model for while it indexes.
        vault: the pages as the system is given them.
        reading: what it calls its model for to have an agent read them, where one does: it reads
            what it was told to, page by page, and is done.

    Raises:
        UsageError: two pages of one text, whose notes could not be told apart.
    """
    taken: dict[str, str] = {}
    for page in vault.pages:
        other = taken.setdefault(digest_of(page.text), page.name)
        if other != page.name:
            raise UsageError(f"{vault.name}: {other} and {page.name} have one text.")
    about = f"Takes a note of every page of {vault.name}, {LABEL}."
    parts = ["schema = 1", f"about = {written(about)}", ""]
    for page in vault.pages:
        parts += _answer(purpose, page)
    if reading is not None:
        for page in vault.pages:
            parts += _read(reading, page)
        parts += _through(reading)
    return "\n".join(parts)


def digest_of(text: str) -> str:
    """By what a page is known."""
    return hashlib.sha256(text.encode()).hexdigest()


def note_of(page: Page) -> tuple[str, ...]:
    """What the note of a page says: as many of its statements as fit."""
    return tuple(_fitting(statements(page.text)))


def _fitting(said: Sequence[str]) -> Iterator[str]:
    room = REPLY_BYTES
    for one in said:
        room -= len(one.encode())
        if room < 0:
            return
        yield one


def _answer(purpose: str, page: Page) -> Iterable[str]:
    said = ", ".join(map(escaped, note_of(page)))
    return (
        "[[answer]]",
        f"id = {written(page.name)}",
        f"purpose = {written(purpose)}",
        f'match = {{ task = "{TASK}", sha256 = "{digest_of(page.text)}" }}',
        f"reply = {{ name = {escaped(page.name)}, title = {escaped(page.title)},"
        f" statements = [{said}] }}",
        "",
    )


def _read(purpose: str, page: Page) -> Iterable[str]:
    return (
        "[[answer]]",
        f"id = {written(f'read {page.name}')}",
        f"purpose = {written(purpose)}",
        f'match = {{ task = "{READ}", next = {escaped(page.name)} }}',
        f"reply = {{ read = {escaped(page.name)} }}",
        "",
    )


def _through(purpose: str) -> Iterable[str]:
    return (
        "[[answer]]",
        'id = "all is read"',
        f"purpose = {written(purpose)}",
        f'match = {{ task = "{READ}", next = "" }}',
        'text = "I have read all of them."',
        "",
    )
