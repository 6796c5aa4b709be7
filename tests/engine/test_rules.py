import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_engine import rules
from memory_engine.rules import Reading

SAMPLES = list(itertools.product((False, True), repeat=3))


@pytest.mark.parametrize(("contradicts", "changes", "past_value"), SAMPLES)
def test_the_three_rules_on_every_sample(
    contradicts: bool, changes: bool, past_value: bool
) -> None:
    production = rules.production(contradicts=contradicts, changes=changes, past_value=past_value)
    only = rules.changes_only(changes=changes)
    before = rules.before_same_slot(contradicts=contradicts, changes=changes)

    # Each rule admits what the stricter one does, and nothing without a settled change.
    assert before <= production <= only
    assert only == changes
    assert production == (before if past_value else only)


@pytest.mark.parametrize(("contradicts", "changes", "past_value"), SAMPLES)
def test_the_option_chooses_the_rule(contradicts: bool, changes: bool, past_value: bool) -> None:
    sample = {"contradicts": contradicts, "changes": changes}
    assert rules.retires(
        same_slot_admits=True, past_value=past_value, **sample
    ) == rules.production(past_value=past_value, **sample)
    assert rules.retires(
        same_slot_admits=False, past_value=past_value, **sample
    ) == rules.before_same_slot(**sample)


readings = st.builds(
    Reading, st.sampled_from(["CHANGES", "FIXED", "NONE"]), st.sampled_from(["YES", "NO"])
)


@settings(deadline=None)
@given(readings, st.none() | readings)
def test_a_change_is_settled_only_by_two_readings_that_see_it(
    first: Reading, second: Reading | None
) -> None:
    wanted = ("CHANGES", "YES")
    both = second is not None and {
        (first.slot, first.verdict),
        (second.slot, second.verdict),
    } == {wanted}
    assert rules.settled(first, second) == both


@pytest.mark.parametrize(
    "text",
    [
        "The user used to live in Turin.",
        "Marta formerly taught chemistry.",
        "The user's previous landlord was Mr Okoye.",
        "The user's former employer is Halden Marine.",
        "The user's ex-husband is called Piet.",
        "Back then the user rode a bicycle to work.",
        "The user once lived above a bakery.",
        "The user worked at Halden Marine until 2023.",
        "The user lived in Turin until March 2021.",
        "The user was at Halden Marine from 2019 to 2022.",
        "In 2021 Marta's rent was 700 francs.",
        "The office was on Quay Street as of 2025-02-11.",
        "As of 2025-02-11, the user was due to fly on 2025-02-14.",
        "As of 2025-02-11 the user planned to sail on Friday.",
        "During the summer of 2022 the user stayed with Ines.",
        "The user had two dogs in the 1990s.",
        "The user lived in Turin three years ago.",
        "The user paid 300 euros for parking last year.",
    ],
)
def test_a_value_that_is_told_as_past_carries_the_marker(text: str) -> None:
    assert rules.has_past_value_marker(text)


@pytest.mark.parametrize(
    "text",
    [
        "The user lives in Turin.",
        # A dated statement of something current, and an end that is to come.
        "The user lives in Turin, as of 2026-09-01.",
        "The user is in Lyon for a week, as of 2026-09-01.",
        "The user is in Lyon until 2026-09-08.",
        "The user has worked at Halden Marine since 2019.",
        "The user will fly to Turin on 2026-10-15.",
        # What happened once left a value that may still hold.
        "The user moved to Turin in 2019.",
        "The user moved to Turin, as told on 2026-10-01.",
        "The user was promoted to foreman in 2023.",
        "The user was born in Turin in 1990.",
        "The user bought a van two years ago.",
        # Accustomed, or made for: another "used to".
        "The user is used to getting up early.",
        "The user got used to cold water.",
        "The blue key is used to open the shed.",
        # An absence is current.
        "The user no longer eats meat.",
        # Past by its tense alone.
        "The user was in Lyon for a week.",
        "The user spends 2000 euros a month on rent.",
        "",
    ],
)
def test_what_is_current_or_merely_old_carries_none(text: str) -> None:
    assert not rules.has_past_value_marker(text)


@settings(deadline=None)
@given(st.text(max_size=400))
def test_the_marker_is_read_off_any_text(text: str) -> None:
    assert rules.has_past_value_marker(text) in (True, False)


@settings(deadline=None)
@given(st.sampled_from(["used to", "previously", "former"]), st.text("abc .,", max_size=30))
def test_case_and_surroundings_do_not_hide_a_marker(marker: str, around: str) -> None:
    assert rules.has_past_value_marker(f"{around} {marker.upper()} {around}")
