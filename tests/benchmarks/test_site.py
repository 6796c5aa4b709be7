from benchmarks.site import Elements, Took, elements, over

PAGE = """<!doctype html><html><head><meta charset="utf-8"></head><body>
<details><summary>a <b>sign</b></summary><p>hidden <i>words</i><br>
<details open><summary>within</summary><p>x</p></details></details>
<details open><summary>more</summary><p>seen<svg><path d="M0"/></svg></p></details>
<p>last</p></body></html>"""


def test_what_is_closed_is_not_in_the_first_view() -> None:
    # html head meta body, details summary b, details summary p svg path, p
    assert elements(PAGE) == Elements(first=13, all=13 + 6)


def test_an_end_without_a_beginning_ends_nothing() -> None:
    assert elements("<p>one</b></p><p>two") == Elements(2, 2)


def test_a_ratio_is_the_middle_of_the_rounds_own() -> None:
    rounds = [
        {"read": Took(1.0, 1.0), "site": Took(8.0, 2.0)},
        {"read": Took(2.0, 2.0), "site": Took(4.0, 8.0)},
        {"read": Took(1.0, 1.0), "site": Took(3.0, 3.0)},
    ]
    assert over(rounds, "read", wall=True) == 3.0
    assert over(rounds, "read") == 3.0
