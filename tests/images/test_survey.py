from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from runner.images import _debian, _source, labels
from runner.images.build import BENCH_LOCAL
from runner.images.listing import Built
from runner.images.survey import Listed, State, compare
from tests.images.conftest import Make

BASE_ID = "sha256:base"
TWO = '[image]\nmodels = ["small", "large"]\nredistributable = false\nwhy = "a test"\n'


def built(image_id: str, name: str, *tags: str, **marks: str) -> Built:
    return Built(
        id=image_id,
        tags=tags,
        name=name,
        bytes=1000,
        created=datetime(2026, 11, 30, tzinfo=UTC),
        labels={labels.NAME: name, **marks},
    )


def base() -> Built:
    return built(BASE_ID, "base", _source.recipe("base").tag)


def states(rows: tuple[Listed, ...], name: str) -> list[tuple[str, str, str, str]]:
    return [
        (row.version, row.model, row.state.value, row.held.id if row.held else "")
        for row in rows
        if row.name == name
    ]


def test_where_nothing_is_held_everything_can_be_built(make: Make) -> None:
    make("some", "ARG MODEL", "ARG VERSION=2.0", system=TWO, locks=("2.0.txt", "1.0.txt"))
    rows = compare([])
    assert [row.name for row in rows] == ["base", *["some"] * 4, "bench"]
    assert {row.state for row in rows} == {State.MISSING}
    assert [row.default for row in rows] == [True, True, False, False, False, True]
    assert (rows[1].version, rows[1].model, rows[1].restriction) == ("2.0", "small", "a test")


def test_each_variant_is_known_by_its_tag(make: Make) -> None:
    make("some", "ARG MODEL", system=TWO)
    tag = _source.recipe("some", BASE_ID, model="large").tag
    rows = compare([base(), built("sha256:large", "some", tag)])
    assert states(rows, "base") == [("", "", "current", BASE_ID)]
    assert states(rows, "some") == [
        ("", "small", "not built", ""),
        ("", "large", "current", "sha256:large"),
    ]
    assert rows[2].tag == tag


def test_what_was_built_of_other_files_is_old(make: Make) -> None:
    folder = make("some")
    before = _source.recipe("some", BASE_ID)
    (folder / "more").write_text("")
    marks = {labels.VERSION: "1", labels.MODEL: "x", labels.REDISTRIBUTION: "no: as it was"}
    rows = compare(
        [
            base(),
            built("sha256:1", "some", before.tag, **{labels.SOURCE: before.source}, **marks),
            built("sha256:2", "some"),
        ]
    )
    assert states(rows, "some") == [
        ("", "", "not built", ""),
        ("1", "x", "old", "sha256:1"),
        ("", "", "old", "sha256:2"),
    ]
    assert rows[2].restriction == "as it was"


def test_without_what_it_stands_on_nobody_can_tell(make: Make) -> None:
    make("below")
    make("some", "ARG BENCH_BELOW")
    now = _source.recipe("some", BASE_ID, others={"below": "sha256:below"})
    same = built("sha256:1", "some", now.tag, **{labels.SOURCE: now.source})
    other = built("sha256:2", "some", "memory-bench/some:2", **{labels.SOURCE: "other"})
    below = built("sha256:below", "below", _source.recipe("below", BASE_ID).tag)

    def of_some(*held: Built) -> list[str]:
        return [state for _, _, state, _ in states(compare(held), "some")]

    assert of_some(base(), below, same, other) == ["current", "old"]
    assert of_some(base(), same, other) == ["not built", "undecided", "old"]
    assert of_some(below, same, other) == ["not built", "undecided", "old"]


def test_an_image_on_another_that_was_rebuilt_is_old(make: Make) -> None:
    make("below")
    make("some", "ARG BENCH_BELOW")
    tag = _source.recipe("some", BASE_ID, others={"below": "sha256:before"}).tag
    below = built("sha256:below", "below", _source.recipe("below", BASE_ID).tag)
    rows = compare([base(), below, built("sha256:1", "some", tag)])
    assert [state for _, _, state, _ in states(rows, "some")] == ["not built", "old"]


def test_what_compose_runs_is_told_apart(make: Make) -> None:
    make("some")
    now = _source.recipe("bench", BASE_ID).tag
    local = built("sha256:1", "bench", BENCH_LOCAL, "memory-bench/bench:1")
    assert states(compare([base(), local]), "bench") == [
        ("0.1.0", "", "not built", ""),
        ("", "", "Compose's", "sha256:1"),
    ]
    both = built("sha256:1", "bench", BENCH_LOCAL, now)
    assert states(compare([base(), both]), "bench") == [("0.1.0", "", "current", "sha256:1")]


def test_in_its_own_container_the_bench_is_what_runs(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    make("some")
    monkeypatch.setenv("BENCH_IMAGE", BENCH_LOCAL)
    local = built("sha256:1", "bench", BENCH_LOCAL)
    assert [one[2] for one in states(compare([base(), local]), "bench")] == ["Compose's"]


def test_images_that_no_folder_is_left_of(make: Make) -> None:
    make("some")
    way = _debian.way()
    rows = compare(
        [
            built("sha256:1", "gone", "memory-bench/gone:1"),
            built("sha256:2", "debian", "memory-bench/debian:2", **{labels.SOURCE: way}),
            built("sha256:3", "debian", "memory-bench/debian:3", **{labels.SOURCE: "other"}),
            built("sha256:4", "debian", **{labels.SOURCE: way}),
        ]
    )
    assert [one[2:] for one in states(rows, "gone")] == [("old", "sha256:1")]
    assert [one[2:] for one in states(rows, "debian")] == [
        ("current", "sha256:2"),
        ("old", "sha256:3"),
        ("old", "sha256:4"),
    ]


def test_what_somebody_built_on_one_of_ours_is_theirs(make: Make) -> None:
    theirs = replace(built("sha256:1", "base"), strange=("theirs:latest",))
    both = replace(built("sha256:2", "base", "memory-bench/base:2"), strange=("theirs:1",))
    assert states(compare([base(), theirs, both]), "base") == [
        ("", "", "current", BASE_ID),
        ("", "", "old", "sha256:2"),
    ]


def test_a_circle_is_no_reason_to_list_nothing(make: Make, tmp_path: Path) -> None:
    make("one", "ARG BENCH_TWO")
    make("two", "ARG BENCH_ONE")
    make("three", "ARG BENCH_GONE")
    assert {row.name for row in compare([base()])} == {"base", "one", "two", "three", "bench"}


def test_an_image_keeps_the_name_of_its_files_and_others_are_old(make: Make) -> None:
    make("some")
    tag = _source.recipe("some", BASE_ID).tag
    image = built("sha256:1", "some", "memory-bench/some:before", tag, BENCH_LOCAL)
    rows = [row for row in compare([base(), image]) if row.name == "some"]
    assert [row.state for row in rows] == [State.CURRENT, State.OLD]
    assert [row.held.tags if row.held else () for row in rows] == [
        (tag, BENCH_LOCAL),
        ("memory-bench/some:before",),
    ]
    assert rows[0].tag == tag


def test_what_may_still_be_under_way_is_nobodys(make: Make) -> None:
    make("some")
    young = built("sha256:1", "some", "memory-bench/some:building-0123456789ab")
    young = replace(young, created=datetime.now(UTC))
    assert [row.state.value for row in compare([base(), young]) if row.name == "some"] == [
        "not built"
    ]
    left = replace(young, created=datetime(2026, 1, 1, tzinfo=UTC))
    assert states(compare([base(), left]), "some")[1] == ("", "", "old", "sha256:1")
