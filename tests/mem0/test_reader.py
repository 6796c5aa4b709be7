import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from runner.errors import HostileSnapshot, UnreadableStore
from runner.model import OtherEvent, Superseded
from runner.systems.mem0 import reader
from tests.mem0._store import LATER, NOON, event, payload, pickled, write

DELHI, MUMBAI = "The user lives in Delhi.", "The user lives in Mumbai."


def test_each_memory_is_a_current_claim_of_its_note(tmp_path: Path) -> None:
    store = reader.read(write(tmp_path, {"m1": payload(DELHI), "m2": payload("It rains.", "b.md")}))
    assert store.unmapped == ()
    assert store.events == ()
    one, other = store.claims
    assert (one.id, one.text, one.status, one.sources) == ("m1", DELHI, "ACTIVE", ("a.md",))
    assert one.asserted_at == datetime(2026, 9, 1, 12, 0, 0, 840050, tzinfo=UTC)
    assert (one.valid_until, one.retired_at, one.retired_by, one.restatement) == (
        *(None, None, None),
        False,
    )
    assert other.sources == ("b.md",)


def test_an_empty_store_is_one(tmp_path: Path) -> None:
    assert reader.read(write(tmp_path, {})).claims == ()


def test_an_end_date_is_kept(tmp_path: Path) -> None:
    [claim] = reader.read(
        write(tmp_path, {"m": payload(DELHI, expiration_date="2026-09-08")})
    ).claims
    assert claim.valid_until == date(2026, 9, 8)


def test_a_new_wording_retires_the_old_one(tmp_path: Path) -> None:
    history = [event("m", "ADD", None, DELHI), event("m", "UPDATE", DELHI, MUMBAI)]
    history.append(event("m", "UPDATE", MUMBAI, "The user lives in Pune."))
    store = reader.read(write(tmp_path, {"m": payload("The user lives in Pune.")}, history))
    first, second, third = store.claims
    assert [claim.text for claim in store.claims] == [DELHI, MUMBAI, "The user lives in Pune."]
    assert [claim.id for claim in store.claims] == ["m@1", "m@2", "m"]
    assert [claim.status for claim in store.claims] == ["UPDATED", "UPDATED", "ACTIVE"]
    assert (first.retired_by, second.retired_by, third.retired_by) == ("m@2", "m", None)
    assert first.retired_at == third.asserted_at == datetime.fromisoformat(LATER)
    assert first.asserted_at == datetime.fromisoformat(NOON)
    assert {claim.sources for claim in store.claims} == {("a.md",)}
    told = [(e.loser, e.winner, e.decided_by) for e in store.events if isinstance(e, Superseded)]
    assert told == [("m@1", "m@2", "update"), ("m@2", "m", "update")]
    assert store.unmapped == ()


def test_what_was_taken_out_is_retired_by_nothing(tmp_path: Path) -> None:
    history = [event("m", "ADD", None, DELHI), event("m", "DELETE", DELHI, None)]
    store = reader.read(write(tmp_path, {}, history))
    [claim], [told] = store.claims, store.events
    assert (claim.id, claim.text, claim.status, claim.reason) == ("m", DELHI, "DELETED", "DELETE")
    assert claim.retired_by is None
    assert claim.retired_at == datetime.fromisoformat(LATER)
    assert isinstance(told, OtherEvent)
    assert told.type == "DELETE"
    # Its note went with its point.
    assert store.unmapped == ("memory m does not say which note it came from",)


def test_an_event_without_the_one_before_it_still_tells(tmp_path: Path) -> None:
    store = reader.read(
        write(tmp_path, {"m": payload(MUMBAI)}, [event("m", "UPDATE", DELHI, MUMBAI)])
    )
    assert [claim.text for claim in store.claims] == [DELHI, MUMBAI]


def test_where_the_two_disagree_the_points_hold(tmp_path: Path) -> None:
    points = {"new": payload("A."), "other": payload("B."), "back": payload("C.")}
    history = [
        event("lost", "ADD", None, "L."),
        event("other", "ADD", None, "Not B."),
        event("back", "ADD", None, "C."),
        event("back", "DELETE", "C.", None),
    ]
    store = reader.read(write(tmp_path, points, history))
    active = {claim.id: claim.text for claim in store.claims if claim.active}
    assert active == {"new": "A.", "other": "B.", "back": "C."}
    [lost] = [claim for claim in store.claims if claim.id == "lost"]
    assert (lost.status, lost.text) == ("LOST", "L.")
    assert set(store.unmapped) >= {
        "memory lost is in the history and not in the store",
        "memory new is in the store and not there in the history",
        "memory other has another text in the history",
        "memory back is in the store and taken out in the history",
    }


@pytest.mark.parametrize(
    ("stored", "says"),
    [
        (payload(DELHI, None), "does not say which note"),
        (payload(DELHI, source=7), "source is no text"),
        (payload(DELHI, created_at="noon"), "created_at is no time"),
        (payload(DELHI, expiration_date="soon"), "expiration_date is no day"),
    ],
)
def test_what_cannot_be_mapped_of_a_memory_is_told_and_the_rest_kept(
    tmp_path: Path, stored: dict[str, Any], says: str
) -> None:
    store = reader.read(write(tmp_path, {"m": stored}))
    assert any(says in told for told in store.unmapped)
    assert [claim.text for claim in store.claims] == [DELHI]


@pytest.mark.parametrize(
    ("stored", "says"),
    [
        ({"hash": "0"}, "'data'"),
        ({"data": 7}, "data is no text"),
        (b"", "damaged"),
        (b"no pickle", "damaged"),
        (pickled("m", None), "nothing stored beside"),
    ],
)
def test_a_point_without_a_text_is_told(tmp_path: Path, stored: Any, says: str) -> None:
    store = reader.read(write(tmp_path, {"m": stored}, []))
    assert store.claims == ()
    [told] = store.unmapped
    assert told.startswith("point in row 1: ")
    assert says in told


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"event": None}, "event is no text"),
        ({"memory_id": 7}, "memory_id is no text"),
        ({"new_memory": None}, "ADD with"),
        ({"created_at": "noon"}, "created_at is no time"),
    ],
)
def test_a_row_of_the_history_that_cannot_be_read_is_told(
    tmp_path: Path, wrong: dict[str, Any], says: str
) -> None:
    store = reader.read(
        write(tmp_path, {"m": payload(DELHI)}, [{**event("m", "ADD", None, DELHI), **wrong}])
    )
    assert [claim.text for claim in store.claims] == [DELHI]
    assert any(told.startswith("history in row 1") and says in told for told in store.unmapped)


def test_an_unknown_event_is_kept(tmp_path: Path) -> None:
    history = [event("m", "ADD", None, DELHI), event("m", "DECAY", DELHI, DELHI)]
    store = reader.read(write(tmp_path, {"m": payload(DELHI)}, history))
    [told] = store.events
    assert isinstance(told, OtherEvent)
    assert told.type == "DECAY"
    assert [claim.text for claim in store.claims] == [DELHI]


def test_a_great_many_complaints_are_counted(tmp_path: Path) -> None:
    store = reader.read(write(tmp_path, {f"m{n}": b"" for n in range(1005)}, []))
    assert len(store.unmapped) == reader.MAX_UNMAPPED + 1
    assert store.unmapped[-1] == "and 5 more of the kind"


def test_no_other_file_is_a_store(tmp_path: Path) -> None:
    with pytest.raises(UnreadableStore, match=r"storage\.sqlite"):
        reader.read(tmp_path)
    write(tmp_path / "a", {})
    (tmp_path / "a" / reader.HISTORY).unlink()
    with pytest.raises(UnreadableStore, match=r"history\.db"):
        reader.read(tmp_path / "a")
    write(tmp_path / "b", {})
    with closing(sqlite3.connect(tmp_path / "b" / reader.HISTORY)) as db:
        db.execute("ALTER TABLE history DROP COLUMN event")
        db.commit()
    with pytest.raises(UnreadableStore, match="no column event"):
        reader.read(tmp_path / "b")
    write(tmp_path / "c", {})
    with closing(sqlite3.connect(tmp_path / "c" / reader.POINTS)) as db:
        db.execute("ALTER TABLE points RENAME TO dots")
        db.commit()
    with pytest.raises(UnreadableStore, match="table of points"):
        reader.read(tmp_path / "c")
    write(tmp_path / "d", {})
    (tmp_path / "d" / reader.POINTS).unlink()
    (tmp_path / "d" / reader.POINTS).symlink_to(tmp_path / "c" / reader.POINTS)
    with pytest.raises(HostileSnapshot, match="no plain file"):
        reader.read(tmp_path / "d")
    write(tmp_path / "e", {})
    with closing(sqlite3.connect(tmp_path / "e" / reader.HISTORY)) as db:
        db.execute("CREATE TABLE secrets (a)")
        db.commit()
    assert reader.read(tmp_path / "e").unmapped == ("table secrets is not known",)
