"""The published figures of the honesty bench: read strictly, and the page's own where it is."""

import re
from collections import Counter
from pathlib import Path

import pytest

from runner.errors import UsageError
from runner.paths import fixtures
from runner.published import OTHERS, Count, PublishedAnswers, PublishedHonesty, load_honesty
from runner.suites.memory_honesty import SETS, load_set

PAGE = Path(__file__).parents[2] / "shared" / "seeds" / "memory-honesty-bench.txt"
FILE = fixtures() / "published" / "memory-honesty.toml"


@pytest.fixture(scope="module")
def file() -> PublishedHonesty:
    return load_honesty()


def test_sets_have_the_names_and_the_counts_of_ours(file: PublishedHonesty) -> None:
    assert {one.name for one in file.sets} == set(SETS) - {"dev2"}
    for one in file.sets:
        assert one.counts == load_set(one.name).counts
    assert all(file.of(one.name) for one in file.sets)
    assert file.of("dev2") == ()
    assert sum(len(file.of(one.name)) for one in file.sets) == len(file.results) == 30


def test_a_result_is_told_once_a_table(file: PublishedHonesty) -> None:
    keys = Counter((one.table, one.set, one.label) for one in file.results)
    assert set(keys.values()) == {1}
    for one in file.results:
        assert one.table
        assert (one.date is None) is (one.table == "history")
        assert one.note == "" or one.note.endswith(".")


def test_parts_add_up(file: PublishedHonesty) -> None:
    """Where the page tells all of it: what is answered is right or wrong."""
    whole = 0
    for one in file.results:
        if one.wrong is None or one.corrections is None or one.current is None:
            continue
        right = one.corrections.hits + one.current.hits
        assert one.wrong.hits + right == one.wrong.of, one
        assert one.right is None or one.right.hits == right
        whole += 1
    assert whole == 14
    for one in file.results:
        if one.wrong is not None and one.right is not None:
            assert one.wrong.hits + one.right.hits == one.wrong.of, one


def test_known_totals_of_the_third_bench(file: PublishedHonesty) -> None:
    rows = {one.label: one for one in file.of("heldout3")}
    first = rows["KRouter 1.0.3"]
    assert (str(first.wrong), str(first.refused), str(first.interval)) == (
        "37 of 139", "46 of 80", "[19–34]",
    )  # fmt: skip
    assert rows["basic-memory 0.23.2 + rules"].wrong == Count(hits=5, of=27)
    assert (rows["KRouter 1.2.1"].wrong, rows["KRouter 1.2.1"].percent) == (None, 26)
    assert "others'" in OTHERS


def test_a_row_that_the_page_prints_twice_is_here_twice(file: PublishedHonesty) -> None:
    found = [one for one in file.of("heldout2") if one.label == "BM25 + rules"]
    assert [str(one.wrong) for one in found] == ["5 of 22", "4 of 21"]
    assert any("twice" in one.note for one in found)


# ---------------------------------------------------------------- what is no such file


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("schema = 1", "schema = 2", "schema"),
        ('suite = "memory-honesty"', 'suite = "update-gate"', "suite"),
        ("percent = 61", "percent = 51", "percent: 51 is not 14 of 23"),
        ("percent = 61", "percent = 161", "result.0.percent"),
        ("percent = 61", "procent = 61", "result.0.procent"),
        ("hits = 14, of = 23", "hits = 24, of = 23", "24 of 23"),
        ("hits = 14, of = 23", "hits = 14, of = 26", "percent"),
        ("hits = 1, of = 10", "hits = 1, of = 9", "refused: 1 of 9, not of 10"),
        ('set = "heldout"', 'set = "heldout9"', "heldout9: BM25: no such set"),
        ("low = 19, high = 34", "low = 19, high = 340", "interval.high"),
    ],
)
def test_a_file_that_says_something_else_is_refused_by_its_field(
    tmp_path: Path, old: str, new: str, named: str
) -> None:
    text = FILE.read_text()
    assert old in text
    (tmp_path / FILE.name).write_text(text.replace(old, new, 1))
    with pytest.raises(UsageError, match=re.escape(named)) as caught:
        load_honesty(folder=tmp_path)
    assert FILE.name in str(caught.value)


def test_a_result_without_any_rate_is_none(tmp_path: Path) -> None:
    text = re.sub(r"wrong = .*\npercent = 61\n", "", FILE.read_text(), count=1)
    (tmp_path / FILE.name).write_text(text)
    with pytest.raises(UsageError, match="neither wrong nor percent"):
        load_honesty(folder=tmp_path)


def test_files_that_are_not_there_or_not_toml(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=re.escape(FILE.name)):
        load_honesty(folder=tmp_path)
    (tmp_path / FILE.name).write_text("= 1")
    with pytest.raises(UsageError, match="cannot be used"):
        load_honesty(folder=tmp_path)
    (tmp_path / FILE.name).write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="cannot be used"):
        load_honesty(folder=tmp_path)


# ---------------------------------------------------------------- the page itself


@pytest.fixture(scope="module")
def page() -> str:
    if not PAGE.is_file():
        pytest.skip(f"the published page is not at {PAGE}")
    return PAGE.read_text().replace("**", "")


def cells(one: PublishedAnswers) -> str:
    """A row's cells as the page prints them, one after another."""
    assert one.wrong is not None
    big = one.set == "heldout3"
    rate = f"{one.percent}% ({one.wrong.hits} / {one.wrong.of})"
    told = [rate if one.interval is None else f"{rate} [{one.interval.low}, {one.interval.high}]"]
    for count in (one.refused, one.corrections, one.current):
        if count is not None:
            told.append(f"{count.hits}" if big else f"{count.hits} / {count.of}")
    if one.right is not None and one.corrections is None:
        in_head = one.table == "matched"
        told.append(f"{one.right.hits}" if in_head else f"{one.right.hits} / {one.right.of}")
    return " | ".join(told)


def test_every_row_stands_on_the_page(page: str, file: PublishedHonesty) -> None:
    for one in file.results:
        assert one.system.lower() in page.lower()
        assert all(part in page for part in one.version.split(" to "))
        assert one.date is None or one.date.isoformat() in page
        if one.table == "same coverage":
            assert one.wrong is not None
            assert one.right is not None
            assert f"{one.wrong.hits} / {one.right.hits}" in page
        elif one.wrong is not None:
            assert cells(one) in page, one
    assert "KRouter 26% > wrong citations, 47 of 80" in page
    assert "102 of 120 answerable right" in page


def test_every_rate_of_the_page_s_tables_is_in_the_data(page: str, file: PublishedHonesty) -> None:
    told = {tuple(map(int, found)) for found in re.findall(r"(\d+)% \((\d+) / (\d+)\)", page)}
    rated = [one for one in file.results if one.wrong and one.percent is not None]
    assert told == {(one.percent, one.wrong.hits, one.wrong.of) for one in rated if one.wrong}
