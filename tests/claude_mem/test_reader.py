from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from runner.errors import HostileSnapshot, UnreadableStore
from runner.model import OtherEvent, Store
from runner.systems.catalog import load
from runner.systems.claude_mem.reader import FILE, read
from tests.claude_mem._store import NOON, observation, written

HOME, TRIP = "The user lives in Delhi.", "The user is in Mumbai for a week."


def store(folder: Path, *rows: dict[str, Any]) -> Store:
    written(folder / FILE, rows)
    return read(folder)


def test_facts_and_narrative_are_claims_each_once(tmp_path: Path) -> None:
    told = f"{HOME} {TRIP} They like it there."
    found = store(
        tmp_path,
        observation(HOME, f"**{TRIP}**", files=["reader-01.md"], narrative=told),
        observation("搬家了。", files=["notes/b.md", "c.md", "c.md"], created_at_epoch=NOON + 1500),
    )
    assert [(claim.id, claim.text) for claim in found.claims] == [
        ("1.1", HOME),
        ("1.2", TRIP),
        ("1.3", "They like it there."),
        ("2.1", "搬家了。"),
    ]
    assert {claim.sources for claim in found.claims[:3]} == {("reader-01.md",)}
    last = found.claims[-1]
    assert last.sources == ("notes/b.md", "c.md")
    assert last.asserted_at == datetime(2026, 9, 1, 12, 0, 1, 500000, tzinfo=UTC)
    assert found.unmapped == ()


def test_nothing_in_it_is_ever_retired(tmp_path: Path) -> None:
    found = store(tmp_path, observation(HOME), observation("The user moved to Mumbai."))
    assert all(claim.active and claim.retired_by is None for claim in found.claims)
    # A summary is no statement that is searched for, and is not hidden either.
    (event,) = found.events
    assert isinstance(event, OtherEvent)
    assert (event.type, event.payload["learned"]) == ("session_summary", "Much.")


def test_what_does_not_map_is_told(tmp_path: Path) -> None:
    found = store(
        tmp_path,
        observation(narrative=None),
        observation(HOME, files=[]),
        observation(HOME, files=["/etc/passwd"]),
        observation(HOME, facts="{not json"),
        observation(HOME, facts='{"a": 1}'),
        observation(HOME, created_at_epoch="noon"),
        observation(HOME, created_at_epoch=2**62),
        observation(HOME, narrative=b"\xff\xfe"),
        observation(HOME),
    )
    assert [claim.id for claim in found.claims] == ["1.1", "2.1", "3.1", "9.1"]
    assert found.claims[0].text == "A title"
    assert found.claims[2].sources == ("/etc/passwd",)
    for number, said in enumerate(
        (
            "observation 1 says nothing but its title",
            "observation 2 does not say what it was made from",
            "observation 3 was made from /etc/passwd",
            "row 4: facts is not JSON",
            "row 5: facts is no list",
            "row 6: created_at_epoch is no number",
            "row 7: created_at_epoch",
            "row 8: narrative is no text",
        )
    ):
        assert said in found.unmapped[number]


@pytest.mark.parametrize(
    ("more", "error", "says"),
    [
        ("CREATE VIEW v AS SELECT 1", HostileSnapshot, "view"),
        ("CREATE VIRTUAL TABLE evil USING fts5(a)", HostileSnapshot, "virtual"),
        (
            "CREATE TRIGGER t AFTER INSERT ON observations BEGIN SELECT 1; END",
            HostileSnapshot,
            "trigger",
        ),
        ("DROP TABLE session_summaries", UnreadableStore, "no table session_summaries"),
        ("ALTER TABLE observations DROP COLUMN type", UnreadableStore, "no column type"),
        ("INSERT INTO schema_versions VALUES (9, 53, '')", UnreadableStore, "53"),
        ("DELETE FROM schema_versions", UnreadableStore, "schema"),
    ],
)
def test_a_store_of_another_kind_is_refused(
    tmp_path: Path, more: str, error: type[Exception], says: str
) -> None:
    written(tmp_path / FILE, [observation(HOME)], more)
    with pytest.raises(error, match=says):
        read(tmp_path)


def test_a_folder_without_it_and_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UnreadableStore, match=FILE):
        read(tmp_path)
    (tmp_path / FILE).write_bytes(b"no database, " * 100)
    with pytest.raises(UnreadableStore):
        read(tmp_path)


def test_it_reads_the_file_that_the_description_names() -> None:
    assert load("claude-mem").store == FILE
