import pytest

from runner.placeholders import fill


def test_names_are_filled_and_doubled_braces_stay() -> None:
    assert fill("{home} {{x}} {home_2}", {"home": "Delhi", "home_2": "é"}) == "Delhi {x} é"


def test_what_a_name_stands_for_is_not_filled_again() -> None:
    assert fill("{a}", {"a": "{b}", "b": "never"}) == "{b}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{nobody}", "unknown placeholder {nobody}"),
        ("a { b", "a lone '{'"),
        ("{Home}", "a lone '{'"),
        ("{home.__class__}", "a lone '{'"),
        ("}", "a lone '}'"),
    ],
)
def test_anything_else_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError) as refused:
        fill(text, {"home": "Delhi"})
    assert said in str(refused.value)
