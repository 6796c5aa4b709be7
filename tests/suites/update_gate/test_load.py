import hashlib
from collections.abc import Callable
from datetime import date
from pathlib import Path

import orjson
import pytest
from pydantic import ValidationError

from runner.errors import UsageError
from runner.suites.update_gate import (
    SETS,
    Claimed,
    Gate,
    Pair,
    PairSet,
    load_gate,
    load_set,
    make_gate,
    parse_upstream,
)
from tests.suites.update_gate._tables import TABLE, pair, pair_set, upstream

Edit = Callable[[str, str], Path]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """All four sets, with the same pairs."""
    for name in SETS:
        table = TABLE.replace('"development"', f'"{name}"')
        table = table.replace("false", str("held-out" in name).lower(), 1)
        (tmp_path / f"{name}.toml").write_text(table, encoding="utf-8")
    return tmp_path


@pytest.fixture
def edited(tmp_path: Path) -> Edit:
    """The development set with one passage of its file replaced."""

    def edit(old: str, new: str) -> Path:
        assert old in TABLE
        path = tmp_path / "development.toml"
        path.write_text(TABLE.replace(old, new, 1), encoding="utf-8")
        return path

    return edit


def test_a_set_is_read_with_its_digest_and_its_accents(folder: Path) -> None:
    read = load_set("development", folder=folder)
    raw = (folder / "development.toml").read_bytes()
    assert read.sha256 == hashlib.sha256(raw).hexdigest()
    assert (read.name, read.title, read.held_out) == ("development", "Développement", False)
    assert read.registered == date(2026, 11, 30)
    home, bike = read.pairs
    assert home.newer == Claimed(text="Zoë moved to Łódź.", day=date(2026, 3, 2))
    assert bike.older == Claimed(text="Zoë rides a bike.", day=None)
    assert (home.class_, home.contradicts, home.why) == ("dated-update", False, "A move.")
    assert (read.positives, read.controls, read.reported) == ((home,), (bike,), ())


def test_the_projects_own_development_set_has_the_published_size() -> None:
    read = load_set("development")
    assert (len(read.pairs), len(read.positives), len(read.controls)) == (38, 10, 19)
    assert {pair.class_ for pair in read.reported} == {"case"}


@pytest.mark.parametrize(
    ("class_", "expected", "barred", "positive", "control"),
    [
        ("update", "changes", True, True, False),
        ("update", "not-changes", True, False, True),
        ("update", "report", False, False, False),
        ("case", "changes", False, False, False),
        ("case", "not-changes", False, False, False),
        ("case", "report", False, False, False),
    ],
)
def test_what_is_barred(
    class_: str, expected: str, barred: bool, positive: bool, control: bool
) -> None:
    row = pair("x", expected, class_)
    assert (row.barred, row.positive, row.control) == (barred, positive, control)


def test_all_sets_are_asked_in_their_order_whatever_order_they_are_named_in(folder: Path) -> None:
    whole = load_gate(folder=folder)
    assert whole.kinds == SETS
    assert (whole.name, whole.fixtures, whole.samples) == ("update-gate", "own", 3)
    some = load_gate(["past-values", "development"], 2, folder=folder)
    assert some.kinds == ("development", "past-values")
    assert some.pair_set("past-values").title == "Développement"
    with pytest.raises(UsageError, match="no pair set 'held-out'"):
        some.pair_set("held-out")


@pytest.mark.parametrize(
    ("names", "samples", "said"),
    [
        (["nothing"], 3, "'nothing'"),
        (["../pairs/development"], 3, "no pair set"),
        (["development.toml"], 3, "no pair set"),
        ([""], 3, "no pair set"),
        ([], 3, "measures nothing"),
        (["development", "development"], 3, "twice: development"),
        (None, 1, "cannot meet the bar"),
        (None, 0, "cannot meet the bar"),
        (None, -3, "cannot meet the bar"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    folder: Path, names: list[str] | None, samples: int, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        load_gate(names, samples, folder=folder)


def test_too_few_samples_are_refused_before_any_file_is_looked_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="1 samples of a pair cannot meet the bar"):
        load_gate(samples=1, folder=tmp_path)
    with pytest.raises(UsageError, match=r"is not there: .*development\.toml"):
        load_gate(folder=tmp_path)


def test_sets_from_elsewhere_are_held_to_the_same() -> None:
    one = pair_set()
    assert make_gate([one], fixtures="upstream") == Gate(
        fixtures="upstream", sets=(one,), samples=3
    )
    for sets, samples, said in (([], 3, "nothing"), ([one, one], 3, "twice"), ([one], 1, "bar")):
        with pytest.raises(UsageError, match=said):
            make_gate(sets, samples, fixtures="upstream")
    with pytest.raises(ValidationError, match="twice"):
        Gate(fixtures="own", sets=(one, one), samples=3)
    with pytest.raises(ValidationError, match="samples"):
        Gate(fixtures="own", sets=(one,), samples=1)
    with pytest.raises(ValidationError, match="pairs named twice: u1"):
        pair_set("development", pair("u1"), pair("c1", "not-changes"), pair("u1", "not-changes"))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "development"', 'name = "held-out"', "name: 'held-out' in the file of"),
        ('name = "development"', 'name = "Development"', "name"),
        ("schema = 1", "schema = 2", "schema"),
        ("schema = 1", "schema = 1\nsurprise = true", "surprise"),
        ("schema = 1", "schema = ", "line 2"),
        ("held_out = false", "held_out = true", "held_out: the set 'development' is not held out"),
        ("held_out = false", 'held_out = "no"', "held_out"),
        ("registered = 2026-11-30\n", "", "registered"),
        ("registered = 2026-11-30", 'registered = "soon"', "registered"),
        ('about = "Made for the tests."', 'about = " "', "about"),
        ('id = "bike"', 'id = "home"', "pairs named twice: home"),
        ('id = "bike"', 'id = "the bike"', "pair.1.id"),
        ('id = "bike"', 'id = "bike\\n"', "pair.1.id"),
        ('id = "bike"', 'id = "bïke"', "pair.1.id"),
        ('class = "coexisting"', "", "pair.1.class"),
        ('class = "coexisting"', 'class = "coexisting"\nclas = "x"', "pair.1.clas"),
        ('expected = "not-changes"', 'expected = "not_changes"', "pair.1.expected"),
        ('expected = "not-changes"', 'expected = "report"', "no control"),
        ('expected = "changes"', 'expected = "report"', "no update"),
        ('class = "dated-update"', 'class = "case"', "no update"),
        ("contradicts = false", 'contradicts = "no"', "pair.0.contradicts"),
        ("contradicts = false\n", "", "pair.0.contradicts"),
        ('why = "A move."', 'why = ""', "pair.0.why"),
        ("Zoë rides a bike.", "   ", "pair.1.older.text"),
        ("day = 2026-01-02", "day = 2026-13-02", "line"),
        ("day = 2026-01-02", "day = 2026-04-02", "pair home: the older claim is of 2026-04-02"),
        ("day = 2026-01-02", "date = 2026-01-02", "pair.0.older.date"),
        (
            '{ text = "Zoë rides a bike." }\nnewer = { text = "Zoë has a car.", day = 2026-03-02 }',
            '{ text = "Zoë lives in Köln, as of 2026-01-02.", day = 2026-01-02 }\n'
            'newer = { text = "Zoë moved to Łódź.", day = 2026-03-02 }',
            "pair bike: the same two claims as home",
        ),
    ],
)
def test_a_file_that_cannot_be_scored_is_refused_by_field(
    edited: Edit, old: str, new: str, said: str
) -> None:
    path = edited(old, new)
    with pytest.raises(UsageError) as refused:
        load_set("development", folder=path.parent)
    assert str(path) in refused.value.message
    assert said in refused.value.message


def test_both_claims_may_be_of_one_day(edited: Edit) -> None:
    path = edited("day = 2026-03-02", "day = 2026-01-02")
    home = load_set("development", folder=path.parent).pairs[0]
    assert home.older.day == home.newer.day == date(2026, 1, 2)


@pytest.mark.parametrize("raw", [b"", b"\xff\xfe", b"schema = 1", b"[[pair]]\n"])
def test_what_is_no_set_is_refused(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "development.toml").write_bytes(raw)
    with pytest.raises(UsageError, match=r"development\.toml"):
        load_set("development", folder=tmp_path)


def test_a_published_file_is_read_into_the_same_nouns() -> None:
    raw = upstream()
    read = parse_upstream(raw, "past-marker-held-out")
    assert read.sha256 == hashlib.sha256(raw).hexdigest()
    assert (read.held_out, read.registered) == (True, None)
    assert read.about == "What it is.\na person"
    assert [(row.id, row.class_, row.expected, row.barred) for row in read.pairs] == [
        ("U 1", "case", "changes", False),
        ("u_2", "move", "changes", True),
        ("u_3", "move", "not-changes", True),
        ("u_4", "past", "report", False),
    ]
    assert read.pairs[1].older == Claimed(text="é", day=None)
    assert {row.contradicts for row in read.pairs} == {None}
    assert not parse_upstream(raw, "past-values").held_out


ROW = {"id": "a", "class": "move", "older": "a", "newer": "b", "expected": "changes"}
CONTROL = {**ROW, "id": "b", "expected": "not_changes"}


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "JSON"),
        (b"[]", "file"),
        (b"\xff", "JSON"),
        (b'{"rows": []}', "rows"),
        (upstream(ROW, {**CONTROL, "expected": "not-changes"}), r"rows\.1\.expected"),
        (upstream(ROW, {**CONTROL, "older": ""}), r"rows\.1\.older"),
        (upstream(ROW, {**CONTROL, "id": " "}), r"rows\.1\.id"),
        (upstream(ROW, {**CONTROL, "id": "a"}), "twice: a"),
        (upstream(ROW, {"id": "b"}), r"rows\.1\.class"),
        (upstream(ROW), "no control"),
        (upstream(CONTROL), "no update"),
        (upstream(ROW, {**CONTROL, "older": "\ud800"}), "JSON"),
    ],
)
def test_what_is_not_of_the_published_shape_is_refused(raw: bytes, said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        parse_upstream(raw, "development")
    assert "development" in refused.value.message


def test_a_published_file_may_say_more_than_is_read() -> None:
    more = parse_upstream(upstream({**ROW, "note": "x"}, CONTROL, day="2026"), "development")
    assert [row.id for row in more.pairs] == ["a", "b"]
    several = parse_upstream(upstream(about=["One.", "Two."], labelled_by=""), "development")
    assert several.about == "One. Two."
    with pytest.raises(UsageError, match="no pair set 'gate_pairs'"):
        parse_upstream(upstream(), "gate_pairs")


def test_a_gate_goes_into_a_file_and_comes_back(folder: Path) -> None:
    gate = load_gate(folder=folder)
    document = orjson.loads(orjson.dumps(gate.model_dump(mode="json")))
    assert document["sets"][0]["pairs"][0]["class"] == "dated-update"
    assert Gate.model_validate(document) == gate
    assert Gate.model_validate_json(gate.model_dump_json()) == gate
    assert "class" in Pair.model_json_schema()["properties"]
    with pytest.raises(ValidationError):
        PairSet.model_validate({**document["sets"][0], "surprise": 1})
