import hashlib
from pathlib import Path
from typing import Any

import pytest

from runner.errors import UsageError
from runner.gateway.tables import Tables
from runner.reports.remarks import notes
from runner.runs import plan
from runner.runs.page_tables import (
    REPLY_BYTES,
    is_of_pages,
    note_of,
    remembering,
    table_name,
)
from runner.runs.plan import tables
from runner.statements import statements
from runner.suites.memory_honesty import MARKERS, load_vault, make_vault
from runner.systems.catalog import load
from tests.runs._exams import exam_of, taking_notes
from tests.suites.memory_honesty._kit import BACKUPS, FILES, LEAVE, RELEASE, vault


def said(text: str, made: str, purpose: str = "observing", task: str = "remember") -> Any:
    """What a table answers about a page of that text."""
    fields = {"task": task, "sha256": hashlib.sha256(text.encode()).hexdigest(), "name": "?"}
    entry = Tables.load([("pages", made)], {}).find(purpose, fields)
    return None if entry is None else entry.answer


def test_an_agent_reads_what_it_was_told_to_and_is_done() -> None:
    made = remembering("observing", vault(), "reading")
    tables = Tables.load([("pages", made)], {})
    for name in FILES:
        entry = tables.find("reading", {"task": "read", "next": name})
        assert entry is not None
        assert entry.answer == {"read": name}
    done = tables.find("reading", {"task": "read", "next": ""})
    assert done is not None
    assert done.text
    assert tables.find("observing", {"task": "read", "next": BACKUPS}) is None
    plain = Tables.load([("pages", remembering("observing", vault()))], {})
    assert plain.find("reading", {"task": "read", "next": ""}) is None


def test_the_note_of_a_page_is_what_the_page_says() -> None:
    made = remembering("observing", vault())
    for name in (BACKUPS, LEAVE, RELEASE):
        note = said(FILES[name], made)
        assert note["name"] == name
        assert note["statements"] == list(statements(FILES[name]))
        assert note["statements"]
    assert said(FILES[RELEASE], made)["title"] == "发布流程"
    assert "Thirty days a year." in said(FILES[LEAVE], made)["statements"]


def test_what_is_no_statement_of_the_page_is_not_in_its_note() -> None:
    """The status of a page is a mark of its keeper: the note of a replaced page does not tell."""
    note = str(said(FILES["Ops/Backups (2024).md"], remembering("observing", vault())))
    assert "superseded" not in note
    assert "2024-05-01" not in note


def test_nothing_else_is_answered() -> None:
    made = remembering("observing", vault())
    assert said(FILES[LEAVE] + "\n", made) is None
    assert said(FILES[LEAVE], made, purpose="learning") is None
    assert said(FILES[LEAVE], made, task="update") is None


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize("name", ["vault1", "vault2", "vault3"])
def test_every_page_of_a_vault_is_answered_however_it_is_marked(name: str, marker: Any) -> None:
    pages = load_vault(name, marker).pages
    loaded = Tables.load([("pages", remembering("observing", load_vault(name, marker)))], {})
    for page in pages:
        fields = {"task": "remember", "sha256": hashlib.sha256(page.text.encode()).hexdigest()}
        entry = loaded.find("observing", fields)
        assert entry is not None, page.name
        assert entry.answer["name"] == page.name
        # All of it: nothing of our own vaults is too long for a note.
        assert tuple(entry.answer["statements"]) == statements(page.text) != ()


def test_braces_quotes_and_controls_are_what_they_are() -> None:
    odd = FILES[LEAVE] + '\nSay "{name}" * twice, in C:\\tmp or \x7f, {{so}}.\n'
    pages = make_vault("vault1", {**FILES, LEAVE: odd})
    note = said(odd, remembering("observing", pages))
    assert note["statements"] == list(statements(odd))
    assert any('"{name}"' in one and "{{so}}" in one for one in note["statements"])


def test_a_long_page_is_kept_as_far_as_a_note_goes() -> None:
    long = FILES[LEAVE] + "\n" + "\n".join(f"Rule {n} is that one." for n in range(1, 2000))
    pages = make_vault("vault1", {**FILES, LEAVE: long})
    [page] = [page for page in pages.pages if page.name == LEAVE]
    kept, whole = note_of(page), statements(long)
    assert kept == whole[: len(kept)]
    assert sum(len(one.encode()) for one in kept) <= REPLY_BYTES
    assert sum(len(one.encode()) for one in whole[: len(kept) + 1]) > REPLY_BYTES


def test_two_pages_of_one_text_have_no_notes_of_their_own() -> None:
    pages = make_vault("vault1", {**FILES, "Other.md": FILES[LEAVE]})
    with pytest.raises(UsageError, match=r"Leave\.md and Other\.md have one text"):
        remembering("observing", pages)


def test_a_system_that_indexes_with_a_model_gets_a_table_of_the_pages() -> None:
    [table] = tables(exam_of(taking_notes()))
    assert table.name == table_name("router", "vault1")
    assert is_of_pages(f"scripted/{table.name}")
    assert table.content == remembering("learning", load_vault("vault1"))
    told = notes(exam_of(taking_notes()))
    assert any("scripted: made from the page's own text" in note for note in told)
    # By the texts that it is given, which are others where pages are marked otherwise.
    [prose] = tables(exam_of(taking_notes(), exam={"marker": "prose"}))
    assert prose.sha256 != table.sha256


def test_one_that_does_not_gets_none() -> None:
    for system in (load("router"), load("bm25")):
        assert tables(exam_of(system)) == ()
        assert not any("made from" in note for note in notes(exam_of(system)))
    assert tables(exam_of(taking_notes(), arm="live")) == ()


def test_what_is_written_by_hand_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "scripted" / "notes"
    folder.mkdir(parents=True)
    (folder / "memory-honesty.toml").write_text('schema = 1\nabout = "by hand"\n')
    monkeypatch.setattr(plan, "fixtures", lambda: tmp_path)
    preset = taking_notes(name="notes-later", folder="notes")
    assert [table.name for table in tables(exam_of(preset))] == [
        "notes/memory-honesty.toml",
        "notes-later/pages-of-vault1.toml",
    ]
