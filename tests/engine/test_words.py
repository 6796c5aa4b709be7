from hypothesis import given, settings
from hypothesis import strategies as st
from memory_engine.words import content_words, proper_names, share, subject_key


def test_subjects_are_the_same_whatever_their_case_and_articles() -> None:
    assert subject_key("The user") == subject_key("  user ") == subject_key("USER.")
    assert subject_key("Casa Lua’s") == subject_key("casa lua's")
    assert subject_key("the") == "the"
    assert subject_key("user") != subject_key("user's sister")


def test_names_are_told_from_function_words_at_the_start() -> None:
    text = "The user's flat in São João is near Casa Lua's back door."
    assert proper_names(text) == {"são", "joão", "casa", "lua"}
    assert "flat" in content_words(text)
    assert not {"the", "user", "in"} & content_words(text)


def test_a_possessive_names_the_same_thing() -> None:
    assert share(["Lua’s kitchen"], "They met at Lua.")
    assert not share(["The user is in it."], "The user was on it.")


@settings(deadline=None)
@given(st.text(max_size=200), st.text(max_size=200))
def test_sharing_goes_both_ways(one: str, other: str) -> None:
    assert share([one], other) == share([other], one)
    assert subject_key(subject_key(one)) == subject_key(one)
