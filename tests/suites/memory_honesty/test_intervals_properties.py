"""What has to hold of intervals and differences whatever a system answers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.stats import mcnemar
from runner.suites.memory_honesty import Grade, Mark, estimates, paired

pytestmark = pytest.mark.slow


def grade(number: int, drawn: tuple[str, bool, bool]) -> Grade:
    kind, answered_, good = drawn
    if kind == "refuse":
        mark = Mark.NEIGHBOUR if answered_ else Mark.REFUSED
    else:
        mark = Mark.FALSE_REFUSAL if not answered_ else Mark.RIGHT if good else Mark.STALE
    return Grade.model_validate(
        {
            "question": f"q{number}",
            "kind": kind,
            "lang": "en",
            "outcome": mark,
            "cited": "a.md" if answered_ else None,
            "score": None,
        }
    )


ONE = st.tuples(st.sampled_from(["correction", "current", "refuse"]), st.booleans(), st.booleans())


@settings(max_examples=60, deadline=None)
@given(st.lists(ONE, min_size=1, max_size=30), st.booleans(), st.integers(0, 3))
def test_an_interval_lies_within_what_is_possible(
    drawn: list[tuple[str, bool, bool]], stratified: bool, seed: int
) -> None:
    graded = [grade(number, one) for number, one in enumerate(drawn)]
    found = estimates(graded, stratified=stratified, resamples=200, seed=seed)
    for name, one in found.items():
        assert 0 <= one.undefined <= 200
        assert (one.low is None) is (one.high is None) is (one.undefined == 200)
        if one.low is not None and one.high is not None:
            least = -int(name.removeprefix("cost_")) if name.startswith("cost_") else 0
            assert least <= one.low <= one.high <= 1
    if len({one.outcome for one in graded}) == 1:
        for one in found.values():
            assert one.low == one.high == one.value


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(ONE, st.booleans(), st.booleans()), min_size=1, max_size=30),
    st.booleans(),
)
def test_a_difference_is_the_mirror_image_of_the_other_way_round(
    drawn: list[tuple[tuple[str, bool, bool], bool, bool]], stratified: bool
) -> None:
    first = [grade(number, one) for number, (one, _, _) in enumerate(drawn)]
    second = [grade(number, (one[0], a, b)) for number, (one, a, b) in enumerate(drawn)]
    there = paired(first, second, stratified=stratified, resamples=150)
    back = paired(second, first, stratified=stratified, resamples=150)
    for name, found in there.differences.items():
        mirror = back.differences[name]
        assert found.undefined == mirror.undefined
        if found.low is not None and found.high is not None:
            assert (mirror.low, mirror.high) == (-found.high, -found.low)
    test = there.tests["behaved"]
    alone = sum(a.behaved and not b.behaved for a, b in zip(first, second, strict=True))
    other_alone = sum(b.behaved and not a.behaved for a, b in zip(first, second, strict=True))
    assert (test.only_first, test.only_second) == (alone, other_alone)
    assert test.p_value == mcnemar(alone, other_alone)
