import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.gateway.tables import TableError, Tables
from runner.placeholders import compiled, fill

NAMES = {"home": "Delhi", "away": "Mum*ai {x}"}

ONE = """
schema = 1
about = "a table"
[[answer]]
id = "one"
match = { task = "update", "older.text" = "The user lives in {home}.", newer.text = "*{away}*" }
reply = { verdict = "YES", list = ["{home}", { deep = "{{{home}}}" }], n = 1 }
usage = { input = 5, output = 6 }
"""

text = st.text(max_size=30)


def load(*tables: str, names: dict[str, str] | None = None) -> Tables:
    sources = [(f"t{number}", content) for number, content in enumerate(tables)]
    return Tables.load(sources, NAMES if names is None else names)


def ask(**fields: Any) -> dict[str, Any]:
    older, newer = {"text": "The user lives in Delhi."}, {"text": "gone to Mum*ai {x} now"}
    return {"task": "update", "older": older, "newer": newer} | fields


def test_an_entry_answers_what_it_matches_with_names_filled_everywhere() -> None:
    entry = load(ONE).find("any", ask())
    assert entry is not None
    assert entry.source == "t0:one"
    assert entry.answer == {"verdict": "YES", "list": ["Delhi", {"deep": "{Delhi}"}], "n": 1}
    assert (entry.usage and entry.usage.output, entry.stop_reason) == (6, "end_turn")


@pytest.mark.parametrize(
    "fields",
    [
        ask(task="updates"),
        ask(older={"text": "The user lives in delhi."}),
        ask(older={"text": "So: The user lives in Delhi."}),
        ask(older="The user lives in Delhi."),
        ask(newer={"text": "gone to Mumbai {x} now"}),
        {},
    ],
)
def test_a_pattern_is_the_whole_text_and_minds_the_case(fields: dict[str, Any]) -> None:
    assert load(ONE).find("any", fields) is None


def test_the_first_match_wins_and_overlays_come_first() -> None:
    overlay = 'schema = 1\n[[answer]]\nid = "one"\nmatch = { task = "upd*" }\ntext = "wrong"\n'
    found = load(overlay, ONE).find("any", ask())
    assert found is not None
    assert (found.source, found.text) == ("t0:one", "wrong")
    other = load(ONE, overlay).find("any", ask(older={"text": "else"}))
    assert other is not None
    assert other.source == "t1:one"


@pytest.mark.parametrize(
    ("match", "fields", "answers"),
    [
        ("n = 1", {"n": 1}, True),
        ("n = 1", {"n": True}, False),
        ("n = 1", {"n": "1"}, False),
        ('n = "1"', {"n": 1}, True),
        ('n = "*"', {"n": None}, True),
        ('n = "null"', {"n": None}, True),
        ("n = true", {"n": True}, True),
        ('"a.1.b" = "x"', {"a": [0, {"b": "x"}]}, True),
        ('"a.2.b" = "x"', {"a": [0, {"b": "x"}]}, False),
        ('"a.-1" = "x"', {"a": ["x"]}, False),
        ('a = "*,*"', {"a": ["x", "y"]}, True),
        ('a = "one*two"', {"a": "one\n\ntwo"}, True),
        ('a = "on(e|x)"', {"a": "one"}, False),
    ],
)
def test_paths_and_values(match: str, fields: dict[str, Any], answers: bool) -> None:
    tables = load(f'schema = 1\n[[answer]]\nid = "x"\nmatch = {{ {match} }}\ntext = "y"\n')
    assert (tables.find("any", fields) is not None) is answers


def test_a_purpose_narrows_an_entry() -> None:
    tables = load('schema = 1\n[[answer]]\nid = "x"\npurpose = "update"\ntext = "y"\n')
    assert tables.find("update", {}) is not None
    assert tables.find("extraction", {}) is None
    assert "purpose is 'extraction', wanted 'update'" in str(tables.nearest("extraction", {}))


def test_the_nearest_entry_says_what_differs() -> None:
    far = 'schema = 1\n[[answer]]\nid = "far"\nmatch = { task = "extraction" }\ntext = "y"\n'
    near = load(far, ONE).nearest("any", ask(older={"text": "The user resides in Delhi."}))
    assert str(near) == (
        "nearest is t1:one: older.text is 'The user resides in Delhi.',"
        " wanted 'The user lives in Delhi.'"
    )
    missing = load(ONE).nearest("any", {"task": "update", "older": {}})
    assert missing is not None
    assert "older.text is missing, wanted 'The user lives in Delhi.'" in missing.differences
    assert load().nearest("any", {}) is None
    long = load(ONE).nearest("any", ask(older={"text": "x" * 10_000}))
    assert len(str(long)) < 1000


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("schema = 1\n[[answer]\nx = 1", "table t0: .*line 2"),
        ("schema = 2", "table t0: schema"),
        ("answer = []", "table t0: schema: Field required"),
        ("schema = 1\nextra = 1", "table t0: extra"),
        ('schema = 1\n[[answer]]\ntext = "x"', r"table t0, answer 1 \(no id\): id: Field required"),
        ('schema = 1\n[[answer]]\nid = "a"', r"answer 1 \(a\): it: .*exactly one of"),
        ('schema = 1\n[[answer]]\nid = "a"\ntext = "x"\nreply = 1', "has .'reply', 'text'."),
        ('schema = 1\n[[answer]]\nid = "a"\ntext = "x"\nrelpy = 1', "relpy: Extra inputs"),
        ('schema = 1\n[[answer]]\nid = "a"\ntext = "{nobody}"', "unknown placeholder {nobody}; "),
        ('schema = 1\n[[answer]]\nid = "a"\ntext = "{not one}"', "a lone '{'"),
        ('schema = 1\n[[answer]]\nid = "a"\ntext = "a } b"', "a lone '}'"),
        ('schema = 1\n[[answer]]\nid = "a"\ntext = "x"\nusage = { inputs = 1 }', "usage.inputs"),
        ('schema = 1\n[[answer]]\nid = "a"\ntext = "x"\nusage = { input = -1 }', "usage.input"),
        ('schema = 1\n[[answer]]\nid = "a"\ntext = "x"\nstop_reason = "bored"', "stop_reason"),
        ('schema = 1\n[[answer]]\nid = "a"\nfail = { status = 200 }', "fail.status"),
        (ONE + ONE.replace("schema = 1\n", "").replace('about = "a table"\n', ""), "answer 2"),
    ],
)
def test_a_bad_table_says_where_and_why(content: str, told: str) -> None:
    with pytest.raises(TableError, match=told):
        load(content)


@given(text, text)
def test_a_name_is_filled_literally_into_texts_and_patterns(before: str, name: str) -> None:
    template = before.replace("{", "{{").replace("}", "}}").replace("*", "") + "{it}"
    plain = before.replace("*", "") + name
    assert fill(template, {"it": name}) == plain
    assert compiled(template, {"it": name}).fullmatch(plain)
    if "*" in name:
        other = plain.replace("*", "**")
        assert not compiled(template, {"it": name}).fullmatch(other)


@given(st.lists(st.text(alphabet="ab.\\+?$^[(|", max_size=5), min_size=1, max_size=4), text)
def test_only_a_star_is_wild(parts: list[str], between: str) -> None:
    pattern = compiled("*".join(parts), {})
    assert pattern.fullmatch(between.join(parts))
    if len(parts) == 1:
        assert pattern.pattern == re.escape(parts[0])
