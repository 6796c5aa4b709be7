import copy
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.reports import integrity

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where every value that holds no other lies."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    empty = True
    for key, inner in items:
        empty = False
        yield from leaves(inner, (*path, key))
    if empty:
        yield path


def part_of(path: tuple[Any, ...]) -> str:
    """What a report calls the part a leaf lies in."""
    return f"runs[{path[1]}].{path[2]}" if path[0] == "runs" else str(path[0])


def changed(value: Any, path: tuple[Any, ...], to: Any) -> Any:
    """A copy with another value at that place; what does not lead there is shared."""
    if not path:
        return to
    forged = copy.copy(value)
    forged[path[0]] = changed(value[path[0]], path[1:], to)
    return forged


@pytest.fixture(scope="module")
def document(originals: dict[str, bytes]) -> dict[str, Any]:
    parsed: dict[str, Any] = orjson.loads(originals["reader"])
    return parsed


@pytest.fixture(scope="module")
def places(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [path for path in leaves(document) if path[0] != integrity.OWN_FIELD]


def test_a_report_as_saved_is_whole(document: dict[str, Any]) -> None:
    assert integrity.altered(document) == ()
    shuffled = dict(reversed(document.items()))
    assert integrity.altered(shuffled) == (), "the order of keys says nothing"


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_one_leaf_that_is_changed_is_found_and_its_part_named(
    data: st.DataObject, document: dict[str, Any], places: list[tuple[Any, ...]]
) -> None:
    path = data.draw(st.sampled_from(places))
    inner: Any = document
    for key in path:
        inner = inner[key]
    value = data.draw(JSON.filter(lambda value: orjson.dumps(value) != orjson.dumps(inner)))
    assert integrity.altered(changed(document, path, value)) == (part_of(path),)


def test_every_part_of_the_report_is_covered(
    document: dict[str, Any], places: list[tuple[Any, ...]]
) -> None:
    """Not a sample: each part once."""
    for part, path in {part_of(path): path for path in places}.items():
        assert integrity.altered(changed(document, path, "another")) == (part,)


@pytest.mark.parametrize("number", range(5))
def test_a_run_that_is_removed_added_or_moved_is_found(
    document: dict[str, Any], number: int
) -> None:
    runs = document["runs"]
    others = runs[:number] + runs[number + 1 :]
    assert "runs.length" in integrity.altered(changed(document, ("runs",), others))
    twice = [*runs, runs[number]]
    assert "runs.length" in integrity.altered(changed(document, ("runs",), twice))
    moved = [*others[: (number + 1) % 5], runs[number], *others[(number + 1) % 5 :]]
    assert moved != runs
    named = integrity.altered(changed(document, ("runs",), moved))
    assert f"runs[{number}].spec" in named


def test_a_part_that_is_added_or_taken_away_is_found(document: dict[str, Any]) -> None:
    assert integrity.altered({**document, "extra": 1}) == ("extra",)
    for name in document:
        rest = {key: value for key, value in document.items() if key != name}
        found = integrity.altered(rest)
        assert any(part == name or part.startswith(f"{name}[") for part in found), name


def test_digests_that_are_changed_themselves_are_found(document: dict[str, Any]) -> None:
    for part in document[integrity.OWN_FIELD]:
        forged = changed(document, (integrity.OWN_FIELD, part), "0" * 64)
        assert integrity.altered(forged) == (part,)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(["runs", "integrity", "case", "a"]), JSON))
def test_nothing_that_json_can_say_breaks_it(document: dict[str, Any]) -> None:
    digests = integrity.digests(document)
    assert integrity.altered({**document, integrity.OWN_FIELD: digests}) == ()
