from typing import Annotated

import pytest
from pydantic import TypeAdapter, ValidationError

from runner.suites._names import among, exactly

BOTH = TypeAdapter(Annotated[dict[str, int], exactly(("one", "two"))])
SOME = TypeAdapter(Annotated[dict[str, int], among(("one", "two"), required=("one",))])


@pytest.mark.parametrize(
    ("given", "told"),
    [({"one": 1, "three": 3}, "no 'three'"), ({"one": 1}, "'two' is missing"), ({}, "missing")],
)
def test_a_mapping_has_the_very_names(given: dict[str, int], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        BOTH.validate_python(given)
    assert BOTH.validate_python({"two": 2, "one": 1}) == {"one": 1, "two": 2}


def test_some_names_may_be_left_out_but_none_made_up() -> None:
    assert SOME.validate_python({"one": 1}) == {"one": 1}
    for given in ({"two": 2}, {"one": 1, "three": 3}):
        with pytest.raises(ValidationError):
            SOME.validate_python(given)
