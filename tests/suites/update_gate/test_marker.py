import time
import unicodedata

import pytest

from runner.suites.update_gate import load_set, marked

MARKED = """
The user used to live in Pune.
The user didn't use to drink coffee.
The user formerly worked at Acme.
The user, formerly a nurse, likes tea.
The user's former flat is in Delhi.
The user previously paid 640 euros in rent.
The user's previous employer was Acme.
The user’s then-manager was Ana.
The user's ex-landlord was Mr Hill.
The user no longer eats meat.
The user does not smoke anymore.
The user doesn’t eat meat any more.
Back then the user rode a Vespa.
Back in 2019 the user paid 500 a month.
In those days the team met on Mondays.
In the past, the user was a vegetarian.
At the time, the user was living in Leeds.
At one point the user had three cats.
The user once lived in Oslo.
The user was once a sailor.
The user had been a smoker.
The user was vegan until recently.
The user lived in Pune until 2019.
Until March 2024 the user rented a flat in Lyon.
Until 2024 the user's team built its releases with Jenkins.
The user wasn't a member until 2021.
The user was a member of the gym up to August 2023, as stated in the note of 2026-02-09.
From 2015 to 2019 the user worked for Quillon.
The user worked for Quillon (2015–2019).
Between 2019 and 2022 the user worked as a night porter.
As of 2026-10-08, when the user was in Mumbai for a week, they planned to fly back to Delhi.
The canteen was a ten-minute walk from the flat, where the user lived, as of 2026-09-04.
The canteen, which is in Delhi, was a ten-minute walk from the flat, as of 2026-09-04.
The user’s rent was 640 euros as of January 2024.
The user lived in Hull before the move to Leeds.
As a student the user shared a flat with two friends.
When the user lived in Pune, they kept bees.
The user's old address was 4 Mill Lane.
The meeting was originally on Tuesday.
Five years ago the user's rent was 640 euros.
Last year the user's rent was 640 euros.
""".strip().splitlines()

UNMARKED = """
In 2023 the user's rent was 640 euros a month.
The user was in Mumbai on 2026-09-01.
The user lived in Pune.
The user lives in Delhi, as of 2026-09-01.
The user is in Mumbai until 2026-09-08.
The user has been in Mumbai since 2019.
The user moved to Pune in 2019.
The user moved to Mumbai, as of 2026-10-01.
The user moved here two years ago.
The user joined Acme on 2024-01-01, as of 2026-03-01.
The user was promoted in 2023.
The user was born thirty years ago.
The user is used to living alone.
The user is used to the noise.
The user got used to early mornings.
The user's phone is used to track runs.
The user prefers the former.
The user works at Meta, formerly Facebook.
The team was formerly known as Blue.
The user goes to the gym once a week.
The user was once a week at the gym in 2026-09.
In the past year the user has run two marathons.
The user does not want any more cake.
The user wanted a dinner recommendation for the evening of 2026-09-01 in Mumbai.
The user extended the lease until 2027.
The user booked a hotel until 2026-12-03.
The user is originally from Goa.
The user was originally from Goa.
As of 2026-09-01 the user lives in Delhi, where they were born.
The user's old car is a Volvo.
The user has previous experience in sales.
The user's one-time password app is Aegis.
The user pays through PayPal.
The deadline is 30 June 2026, according to the plan of 2026-02-11.
Der Nutzer wohnte bis 2019 in Pune.
""".strip().splitlines()


@pytest.mark.parametrize("text", MARKED)
def test_words_that_say_it_is_past(text: str) -> None:
    assert marked(text)
    assert marked(text.upper())
    assert marked(unicodedata.normalize("NFD", text.replace("user", "usér")).replace(" ", "\u00a0"))


@pytest.mark.parametrize("text", UNMARKED)
def test_words_that_do_not(text: str) -> None:
    assert not marked(text)
    assert not marked(text.replace(" ", "  \n"))


def test_the_development_set_is_marked_where_its_values_are_past() -> None:
    pairs = load_set("development").pairs
    assert [pair.id for pair in pairs if marked(pair.older.text)] == [
        pair.id for pair in pairs if pair.class_ == "past-value"
    ]
    assert not [pair.id for pair in pairs if marked(pair.newer.text)]


@pytest.mark.parametrize(
    "part",
    ["", " ", "not ", "the ", "a", "1", "user ", "until ", "x's ", "as of the ", "who is ", "ex-"],
)
def test_no_text_takes_long_to_read(part: str) -> None:
    begun = time.perf_counter()
    marked(part * 10_000)
    assert time.perf_counter() - begun < 2
