"""Wordings of past and of present values, by what is known of how the two markers read them.

Blanks are filled in by a number, so that each wording stands for many sentences.
"""

import random
from collections.abc import Iterator, Mapping

BOTH = "both see a marker"
NEITHER = "neither sees one"
OVER = "a value that is said to be over, in other words"
BOUND = "a value bound by times, in other words than until a year"
OCCASION = "a value that ended at an occasion, or at a time without a year"
SITUATED = "a value in a time that is over"
HISTORY = "a dated restatement that does not begin with its date and a when"
LASTS = "a present value, until a year"
PLAN = "a plan, before a year"
HABIT = "being used to something, or used for it"
NAMED = "a former name of what it is of"
WHEN = "a present value, as of a day when something was"

OURS = (OVER, BOUND, OCCASION, SITUATED, HISTORY)
"""In which the marker of this bench sees one, and theirs does not."""
THEIRS = (LASTS, PLAN, HABIT, NAMED, WHEN)
"""The other way round."""

WORDINGS: Mapping[str, tuple[str, ...]] = {
    BOTH: (
        "The user worked for {name} until {year}.",
        "The user lived in {place} until {month} {year}.",
        "Until {month} {year} the user rented a flat in {place}.",
        "Until {year} the user's team met in {place}.",
        "The user previously paid 640 euros in rent.",
        "The user formerly worked for {name}.",
        "The user used to live in {place}.",
        "The user no longer works for {name}.",
        "The user had been a member of {name} in {place}.",
        "Back in {year} the user paid 640 euros a month.",
        "Before {year} the user's office was in {place}.",
        "As of {day}, when the user was in {place} for a week, they planned to fly home.",
        "as of {day}, when the user lived in {place}, the walk took ten minutes and was short.",
    ),
    NEITHER: (
        "In {year} the user's rent was 640 euros a month.",
        "The user lives in {place}.",
        "The user lives in {place}, as of {day}.",
        "The user lived in {place}.",
        "The user was in {place} on {day}.",
        "The user moved to {place} in {year}.",
        "The user moved to {place}, as of {day}.",
        "The user has worked for {name} since {year}.",
        "As of {day} the user lives in {place}.",
        "The user was born in {place} in {year}.",
        "The user is in {place} for a week, as of {day}.",
        "The user wanted a table in {place} for the evening of {day}.",
        "The user is in {place} until the end of {month}.",
        "The user's lease in {place} runs until {month}.",
        "The user joined {name} on {day}.",
        "The user prefers the former.",
    ),
    OVER: (
        "The user's former flat is in {place}.",
        "The user's previous employer was {name}.",
        "Back then the user lived in {place}.",
        "In those days the user worked for {name}.",
        "In the past, the user was a member of {name}.",
        "The user once lived in {place}.",
        "The user was once a guide in {place}.",
        "The user does not work for {name} anymore.",
        "The user's ex-employer is {name}.",
        "At the time, the user was living in {place}.",
    ),
    BOUND: (
        "From {early} to {year} the user worked for {name}.",
        "Between {early} and {year} the user worked for {name}.",
        "The user worked for {name} ({early}–{year}).",
        "The user was a member of {name} up to {month} {year}.",
        "The user lived in {place} through {year}.",
    ),
    OCCASION: (
        "The user lived in {place} until the move.",
        "The user worked for {name} until {month}.",
        "The user was a vegan until recently.",
        "The user stayed in {place} till {month} {year}.",
    ),
    SITUATED: (
        "The user lived in {place} before the move to Oslo.",
        "When the user lived in {place}, they kept bees.",
        "As a student the user shared a flat in {place}.",
        "The user's old address was in {place}.",
        "Five years ago the user's rent was 640 euros.",
        "Last year the user worked for {name}.",
        "The meeting in {place} was originally on a Tuesday.",
    ),
    HISTORY: (
        "The canteen was a ten-minute walk from the flat in {place}, as of {day}.",
        "The user was due to fly home to {place}, as of {day}.",
        "As of {day} the user's rent was 640 euros.",
        "The user's office was in {place}, as of {month} {year}.",
    ),
    LASTS: (
        "The user is in {place} until {day}.",
        "The user works in {place} until {month} {year}.",
        "The user extended the lease until {year}.",
        "The user booked a room in {place} until {day}.",
    ),
    PLAN: (
        "The user wants to move to {place} before {year}.",
        "The user plans to leave {name} before {year}.",
    ),
    HABIT: (
        "The user is used to the noise of {place}.",
        "The user is used to living alone.",
        "The user got used to early mornings in {place}.",
        "The user's phone is used to track runs.",
    ),
    NAMED: (
        "The user works for {name}, formerly Quillon.",
        "The user's team in {place} is the one formerly known as Blue.",
        "The user's street in {place} is the one previously called Mill Lane.",
    ),
    WHEN: (
        "As of {day}, when the user arrived, their home is in {place}.",
        "As of {day}, when it was asked, the user lives in {place}.",
    ),
}

PLACES = ("Pune", "Leeds", "Łódź", "San Diego", "Düsseldorf", "Navi Mumbai", "Delhi", "Hull")
NAMES = ("Acme", "Hillside Bakery", "Nord & Sons", "the port authority", "Quorum", "Okafor")
MONTHS = ("January", "March", "May", "June", "August", "October", "December")


def sentences(count: int) -> Iterator[tuple[str, str]]:
    """So many sentences, each with the kind of its wording; every wording in turn."""
    wordings = [(kind, wording) for kind, some in WORDINGS.items() for wording in some]
    for number in range(count):
        rng = random.Random(number)
        kind, wording = wordings[number % len(wordings)]
        year = rng.randrange(2001, 2029)
        yield (
            kind,
            wording.format(
                place=rng.choice(PLACES),
                name=rng.choice(NAMES),
                month=rng.choice(MONTHS),
                year=year,
                early=rng.randrange(1960, year),
                day=f"{year}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}",
            ),
        )
