import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.errors import UsageError
from runner.paths import fixtures
from runner.suites.trip_vs_move import case_names, load_case
from runner.suites.trip_vs_move.text import says, says_any

Edit = Callable[[str, str], Path]

EVERY = [(name, variant) for name in case_names() for variant in (None, *load_case(name).variants)]


@pytest.fixture
def edited(tmp_path: Path) -> Edit:
    """The mid-trip case with one passage of its file replaced."""

    def edit(old: str, new: str) -> Path:
        text = (fixtures() / "cases" / "mid-trip.toml").read_text()
        assert old in text
        (tmp_path / "mid-trip.toml").write_text(text.replace(old, new, 1))
        return tmp_path

    return edit


def test_the_published_cases_are_there_each_with_at_least_six_variants() -> None:
    assert {"reader", "mid-trip"} <= set(case_names())
    for name in case_names():
        assert len(load_case(name).variants) >= 6


@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_every_variant_keeps_what_the_checks_rely_on(name: str, variant: str | None) -> None:
    case = load_case(name, variant)
    assert (case.name, case.variant) == (name, variant)
    assert says(case.note(case.home_note).text, case.home)
    assert says(case.note(case.trip_note).text, case.away)
    assert says_any(case.note(case.home_note).text, case.words.residence)
    assert says_any(case.note(case.trip_note).text, case.words.trip)
    assert not any("{" in note.text for note in case.notes)
    assert all(case.names[f"{role}_day"] for role in ("home", "trip", "move"))


@pytest.mark.parametrize("name", case_names())
def test_variants_share_neither_places_nor_days_nor_notes(name: str) -> None:
    cases = [load_case(name, variant) for variant in (None, *load_case(name).variants)]
    for values in (
        [case.home for case in cases],
        [case.away for case in cases],
        [case.names["speaker"] for case in cases],
        [case.move_day for case in cases],
        [case.notes[0].sha256 for case in cases],
    ):
        assert len(set(values)) == len(cases)


def test_the_quoted_sentences_are_the_published_ones() -> None:
    reader, mid_trip = load_case("reader"), load_case("mid-trip")
    assert "I live in Delhi, but I'm in Mumbai for a week." in reader.notes[0].text
    assert "Somewhere for dinner tonight would be great." in reader.notes[0].text
    for case in (reader, mid_trip):
        assert "I moved to Mumbai." in case.notes[-1].text
    assert reader.names["end_day"] == "2026-09-08"
    assert mid_trip.names["flight_weekday"] == "Thursday"


def test_a_note_is_digested_as_it_is_handed_over() -> None:
    note = load_case("reader").notes[0]
    assert note.sha256 == hashlib.sha256(note.text.encode()).hexdigest()
    assert note.text.endswith("\n")
    assert not note.text.startswith("\n")


def test_comparable_until_the_day_of_the_flight() -> None:
    reader, mid_trip = load_case("reader"), load_case("mid-trip")
    flight = mid_trip.comparable_before
    assert flight is not None
    assert mid_trip.comparable_on(mid_trip.published_day)
    assert not mid_trip.comparable_on(flight)
    assert reader.comparable_on(flight)


@pytest.mark.parametrize(("name", "variant"), [("nowhere", None), ("reader", "nobody")])
def test_what_does_not_exist_is_said_with_what_does(name: str, variant: str | None) -> None:
    with pytest.raises(UsageError) as refused:
        load_case(name, variant)
    assert repr(variant or name) in refused.value.message
    assert ("reader" if variant is None else "lyon-porto") in refused.value.hint


@pytest.mark.parametrize("name", ["../cases/reader", "reader.toml", ""])
def test_a_case_is_a_name_and_no_path(name: str) -> None:
    with pytest.raises(UsageError):
        load_case(name)


@pytest.mark.parametrize(
    ("old", "new", "field", "variant"),
    [
        ('home = "Delhi"', 'home = ""', "names.home", None),
        ('home = "Delhi"', 'home = "Mumbai"', "names.home", None),
        ('home = "Delhi"', 'home = "Navi Mumbai"', "names.home", None),
        ('away = "Mumbai"', 'away = "Delhi Cantonment"', "names.home", None),
        ('away = "Mumbai"\n', "", "names.away", None),
        ('away = "Mumbai"', 'away = "Flat Rock"', "names.away", None),
        ('hotel_area = "Bandra"', 'hotel_area = "Little Delhi"', "names.hotel_area", None),
        ('"Rosewater Canteen"', '"The Flying Home"', "names.favourite", None),
        ('"Rosewater Canteen"', '"{home}"', "names.favourite", None),
        ('weekday = "Thursday"', 'weekday = "Friday"', "dates.flight.weekday", None),
        ('weekday = "Thursday"', 'weekday = "Thirsty"', "dates.flight.weekday", None),
        ("day = 2026-10-15", "day = 2026-10-01", "dates.flight.day", None),
        ("day = 2026-10-09", "day = 2026-10-08", "days.session-12-moved.md", None),
        ('trip_note = "session-11.md"', 'trip_note = "gone.md"', "roles.trip_note", None),
        ('home_note = "session-04.md"', 'home_note = "session-12-moved.md"', "roles", None),
        ('"session-04.md", "session-11.md"]', '"session-04.md"]', "roles.trip_alone", None),
        ('trip = ["for a week"', 'trip = ["", "for a week"', "words.trip.0", None),
        ('request = ["dinner", "eat", "restaurant", "restaurants"]', "request = []", "words", None),
        ("checks = [1, 2, 3]", "checks = [3, 2]", "checks", None),
        ("checks = [1, 2, 3]", "checks = [4]", "checks", None),
        ("schema = 1", "schema = 2", "schema", None),
        ("schema = 1", "schema = 1\nsurprise = true", "surprise", None),
        ("schema = 1", "schema = ", "line 1", None),
        ("I moved to {away}.", "I moved to {awya}.", "says.move_says", None),
        ("I moved to {away}.", "I moved.", "notes.session-12-moved.md", None),
        ("I moved to {away}.", "I moved to {away} from {home}.", "notes.session-12", None),
        ("# Session 12, {day}", "# Session 12", "notes.session-12-moved.md", None),
        ("next {flight_weekday}", "next Friday", "notes.session-11.md", None),
        ("That was quick.", "Mumbai! That was quick.", "notes.session-12-moved.md", None),
        ("**Assistant:** That was", "**Bot:** That was", "notes.session-12-moved.md", None),
        ("published = 2026-10-13", "published = 2026-10-08", "published", None),
        ("comparable_before = 2026-10-15", "comparable_before = 2026-10-13", "comparable", None),
        ('id = "dinner"', 'id = "home"', "questions", None),
        ('id = "dinner"', 'id = "Tonight, dinner"', "questions.1.id", None),
        ("tonight's dinner be", "dinner in {away} be", "questions.dinner.q", None),
        ("far is {favourite}", "far is {favorite}", "questions.favourite: unknown", None),
        ('before = "meat and fish"', 'before = "{meat}"', "questions.food: unknown", None),
        ('about.before = "meat and fish"\n', "", "questions.5.about.before", None),
        ("does the user live?", "is Leeds?", "variants.leeds-york.questions.home.q", "leeds-york"),
        ('name = "leeds-york"', 'name = "lyon-porto"', "variants", None),
        ('home = "Leeds"', 'home = "New York"', "variants.leeds-york.names.home", "leeds-york"),
        ('home = "Leeds"', 'hme = "Leeds"', "variants.leeds-york.names", "lyon-porto"),
        ('home = "Lyon"', 'home = "Porto"', "variants.lyon-porto.names.home", "lyon-porto"),
    ],
)
def test_a_file_that_cannot_be_scored_is_refused_by_field(
    edited: Edit, old: str, new: str, field: str, variant: str | None
) -> None:
    folder = edited(old, new)
    with pytest.raises(UsageError) as refused:
        load_case("mid-trip", variant, folder=folder)
    assert str(folder / "mid-trip.toml") in refused.value.message
    assert field in refused.value.message


def test_a_second_case_needs_no_code(edited: Edit) -> None:
    folder = edited("Change of plans mid-trip", "Another one")
    (folder / "mid-trip.toml").rename(folder / "another.toml")
    assert case_names(folder) == ("another",)
    assert load_case("another", folder=folder).title == "Another one"
