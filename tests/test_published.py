"""The published figures as data: whole, read strictly, and the page's own where it is at hand."""

import re
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from runner.errors import UsageError
from runner.estimate import estimate
from runner.paths import fixtures
from runner.profiles import Range, shipped
from runner.published import (
    SUITES,
    Count,
    GateTally,
    Ours,
    PublishedResult,
    beside,
    digests,
    load_published,
    published,
)

BESIDE = Path(__file__).parents[2] / "shared"
PAGE = BESIDE / "seeds" / "trip-versus-move.txt"
FACTS = BESIDE / "facts" / "particles.md"
MODELS = ("claude-sonnet-5-5", "claude-sonnet-4-6")
SETS = ("development", "held-out", "past-values", "past-marker-held-out")


def whole(suite: str = "trip-vs-move") -> tuple[PublishedResult, ...]:
    file = load_published(suite)
    assert file is not None
    return file.results


# ---------------------------------------------------------------- the data


@pytest.mark.parametrize("suite", SUITES)
def test_every_result_is_of_a_known_case_and_told_once(suite: str) -> None:
    results = whole(suite)
    keys = [(one.case, one.model, one.date, one.checks_version) for one in results]
    assert len(set(keys)) == len(keys)
    assert [one.date for one in results] == sorted(one.date for one in results)
    assert {one.model for one in results} == set(MODELS)
    for one in results:
        assert one.suite == suite
        assert one.source
        assert all(str(one.date) in name for name in one.reports)
        assert bool(one.kinds) != bool(one.sets)
        if one.kinds:
            assert {kind: runs.of for kind, runs in one.kinds.items()} == {
                "move": 3,
                "trip-alone": 2,
            }


def test_each_model_was_asked_the_same_number_of_samples() -> None:
    file = load_published("update-gate")
    assert file is not None
    assert tuple(one.name for one in file.sets) == SETS
    assert sum(one.pairs for one in file.sets) == 89
    for one in file.results:
        assert tuple(one.sets) == SETS
        assert [str(tally.controls.of) for tally in one.sets.values()] == ["57", "33", "24", "27"]
        assert all(tally.controls.of % 3 == 0 for tally in one.sets.values())
    for model in MODELS:
        record, replay = file.of("update-gate", model)
        assert (record.build, replay.build) == (None, "1.190.0")
        for name in SETS:
            assert replay.sets[name].updates == record.sets[name].updates
            assert replay.sets[name].controls == record.sets[name].controls


def test_files_that_the_published_runs_were_fed_have_digests() -> None:
    listed = digests()
    gate = load_published("update-gate")
    assert gate is not None
    notes = {f"{name}.md" for name in ("reader-01", "reader-02-moved")}
    notes |= {f"session-{name}.md" for name in ("04", "11", "12-moved")}
    assert set(listed) == notes | {one.file for one in gate.sets}
    assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in listed.values())


def test_costs_follow_from_the_published_tokens() -> None:
    """A dear run's tokens at list prices are the dear end of its range, to the cent."""
    measured = shipped()
    for one in whole():
        for kind, runs in one.kinds.items():
            if not runs.usage:
                continue
            assert runs.run_usd is not None
            profile = next(
                row for row in measured.profile if row.key == (one.case, one.model, kind)
            )
            assert profile.run_usd == runs.run_usd
            told = estimate(one.case, one.model, {kind: 1}, system="particles")
            cost = told.expected_usd
            assert runs.run_usd.low <= cost.quantize(Decimal("0.01")) <= runs.run_usd.high
    with_usage = {
        (one.case, one.model) for one in whole() if any(k.usage for k in one.kinds.values())
    }
    assert with_usage == {(case, model) for case in ("reader", "mid-trip") for model in MODELS}


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("schema = 1", "schema = 2", "schema"),
        ('suite = "trip-vs-move"', 'suite = "update-gate"', "suite"),
        ("passed = 3, of = 3", "passed = 3", "result.0.kinds.move.of"),
        ("hits = 0, of = 5", "hits = 6, of = 5", "result.0.observed.end_date"),
        ("bar_met = true", "bar_mat = true", "result.0.bar_mat"),
        ("cost_usd = 0.21", "cost_usd = -0.21", "result.0.cost_usd"),
        ("kinds.move", "kinds.moving", "no usage of moving"),
    ],
)
def test_a_file_that_says_something_else_is_refused_by_its_field(
    tmp_path: Path, old: str, new: str, named: str
) -> None:
    text = (fixtures() / "published" / "trip-vs-move.toml").read_text()
    assert old in text
    (tmp_path / "trip-vs-move.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(UsageError, match=re.escape(named)):
        load_published("trip-vs-move", folder=tmp_path)


def test_files_that_are_not_there_or_not_toml(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"update-gate\.toml"):
        load_published("update-gate", folder=tmp_path)
    (tmp_path / "update-gate.toml").write_text("= 1")
    with pytest.raises(UsageError, match="cannot be used"):
        load_published("update-gate", folder=tmp_path)
    (tmp_path / "upstream.sha256").write_text("one two three\n")
    with pytest.raises(UsageError, match="digests"):
        digests(folder=tmp_path)
    assert load_published("memory-honesty", folder=tmp_path) is None


# ---------------------------------------------------------------- beside a result of ours


@pytest.mark.parametrize(
    "name",
    ["claude-sonnet-5-5", "claude-sonnet-5-5-20260901", "anthropic:claude-sonnet-5-5"],
)
def test_a_model_goes_by_several_names(name: str) -> None:
    (one,) = published("trip-vs-move", "reader", name)
    assert (one.model, one.head) == ("claude-sonnet-5-5", "2026-10-14, 1.191.0, v2")
    assert published("trip-vs-move", "reader", f"{name}-mini") == ()
    assert published("trip-vs-move", "nobody's", name) == ()
    assert published("memory-honesty", "reader", name) == ()


def test_ours_beside_one_published_result() -> None:
    laid = beside(
        Ours(
            suite="trip-vs-move",
            case="reader",
            model="claude-sonnet-4-6",
            kinds={"move": Count(hits=2, of=3), "trip-alone": Count(hits=2, of=2)},
            run_usd={"move": Range(low=Decimal("0.061"), high=Decimal("0.0712"))},
            cost_usd=Decimal("0.2251"),
        )
    )
    assert [(row.label, row.ours, row.published) for row in laid.rows] == [
        ("move", "2 of 3", ("3 of 3",)),
        ("trip-alone", "2 of 2", ("2 of 2",)),
        ("move, US$ a run", "0.06–0.07", ("0.06–0.07",)),
        ("trip-alone, US$ a run", "", ("0.02",)),
        ("cost, US$", "0.23", ("0.22",)),
    ]
    assert laid.lines()[0].startswith("published 2026-10-14, 1.191.0, v2: move 3 of 3; trip-alone")
    assert laid.notes == ()


def test_ours_beside_several() -> None:
    laid = beside(Ours(suite="trip-vs-move", case="mid-trip", model="claude-sonnet-4-6"))
    assert laid.heads == (
        "2026-10-12, 1.187.0, v1",
        "2026-10-13, 1.190.0, v1",
        "2026-10-13, 1.190.0, v2 re-scored",
    )
    assert laid.rows[0].published == ("2 of 3", "2 of 3", "2 of 3")
    assert any("US$1.46 in all" in note for note in laid.notes)
    assert all(row.label != "cost, US$" for row in laid.rows)


def test_the_gate_beside_its_record_and_its_replay() -> None:
    tally = GateTally(
        updates=Count(hits=9, of=10),
        controls=Count(hits=0, of=57),
        before=Count(hits=3, of=10),
    )
    laid = beside(
        Ours(
            suite="update-gate",
            case="update-gate",
            model="claude-sonnet-4-6",
            sets={"development": tally},
        )
    )
    rows = {row.label: (row.ours, row.published) for row in laid.rows}
    assert rows["development"] == ("9 of 10, 0 of 57", ("10 of 10, 0 of 57",) * 2)
    assert rows["held-out"] == ("", ("8 of 8, 3 of 33",) * 2)
    assert rows["development, before 1.187"] == ("3 of 10", ("4 of 10", ""))
    assert "past-values, before 1.187" not in rows
    assert rows["cost, US$"] == ("", ("1.85", "1.86"))


@pytest.mark.parametrize(
    ("suite", "case", "model", "note"),
    [
        ("trip-vs-move", "reader", "opus", "of opus; published models: claude-sonnet-5-5, claude"),
        ("trip-vs-move", "third", "opus", "the case third; published: mid-trip, reader."),
        ("memory-rot", "reader", "opus", "Nothing was published of memory-rot."),
    ],
)
def test_where_nothing_was_published_it_says_of_what_something_was(
    suite: str, case: str, model: str, note: str
) -> None:
    laid = beside(Ours(suite=suite, case=case, model=model, cost_usd=Decimal(1)))
    assert (laid.results, laid.rows) == ((), ())
    (said,) = laid.notes
    assert note in said
    assert laid.lines() == (said,)


# ---------------------------------------------------------------- the page itself


@pytest.fixture(scope="module")
def page() -> str:
    if not PAGE.is_file():
        pytest.skip(f"the published page is not at {PAGE}")
    return PAGE.read_text()


def rows_of(page: str, heading: str) -> Iterator[tuple[str, list[str]]]:
    """The table rows under a heading: a label and a cell a model."""
    for line in page[page.index(heading) :].splitlines()[1:]:
        cells = line.split("\t")
        if len(cells) == 3:
            yield cells[0], cells[1:]
        elif len(cells) == 1 and line.endswith("¶"):
            return


def usd(cell: str) -> list[Decimal]:
    return [Decimal(found) for found in re.findall(r"US\$(\d+\.\d\d)", cell)]


def both(found: Range | None) -> list[Decimal]:
    assert found is not None
    return list(dict.fromkeys((found.low, found.high)))


RESULTS = "\nResults¶\n"
MID_TRIP = "The first runs (2026-10-12"
PAIRS = "Results of record, production rule"


def test_the_reader_table(page: str) -> None:
    text = page[page.index(RESULTS) :]
    rows = dict(rows_of(text, "The reader's case¶"))
    assert "Run on 2026-10-14 on the build released as 1.191.0" in text
    assert next(iter(rows)) == ""
    for place, model in enumerate(re.sub("`", "", cell) for cell in rows[""]):
        (one,) = published("trip-vs-move", "reader", model)
        assert (str(one.date), one.build, one.checks_version) == ("2026-10-14", "1.191.0", 2)
        cell = {label: cells[place] for label, cells in rows.items()}
        assert cell["Move, runs passing"] == str(one.kinds["move"].count)
        assert cell["Trip alone, runs passing"] == str(one.kinds["trip-alone"].count)
        assert (cell["Bar"] == "met") is one.bar_met
        assert usd(cell["Cost per move run (list price)"]) == both(one.kinds["move"].run_usd)
        assert usd(cell["Cost per trip-alone run"]) == both(one.kinds["trip-alone"].run_usd)
        assert usd(cell["Cost of the protocol"]) == [one.cost_usd]
        assert all(name in text for name in one.reports)


def test_the_mid_trip_table(page: str) -> None:
    text = page[page.index(RESULTS) :]
    rows = dict(rows_of(text, MID_TRIP))
    models = [cell.strip("`") for cell in rows.pop("")]
    assert tuple(models) == MODELS
    for place, model in enumerate(models):
        first, second, again = published("trip-vs-move", "mid-trip", model)
        assert [str(one.date)[-2:] for one in (first, second, again)] == ["12", "13", "13"]
        assert (first.build, second.build, second.sdk) == ("1.187.0", "1.190.0", "1.189.0")
        assert [one.checks_version for one in (first, second, again)] == [1, 1, 2]
        assert again.rescored
        cell = {label: cells[place] for label, cells in rows.items()}
        for label, one in (
            ("Move, runs passing (2026-10-12, checks v1)", first),
            ("Move, runs passing (2026-10-13, checks v1)", second),
            ("Move, runs passing (2026-10-13, re-scored under checks v2)", again),
        ):
            assert cell[label] == str(one.kinds["move"].count)
            alone = cell["Trip alone, runs passing (every row above)"]
            assert alone == str(one.kinds["trip-alone"].count)
        move = cell["Cost per move run, 2026-10-13 (list price)"]
        assert usd(move) == both(second.kinds["move"].run_usd)
        alone = cell["Cost per trip-alone run, 2026-10-13"]
        assert usd(alone) == both(second.kinds["trip-alone"].run_usd)
    file = load_published("trip-vs-move")
    assert file is not None
    for spent in file.spent:
        assert re.search(rf"{spent.date}, [^;]*US\${spent.usd} in all", text)
        assert spent.models == MODELS
    assert len(file.spent) == 2


def test_the_table_of_pair_sets(page: str) -> None:
    rows = dict(rows_of(page, PAIRS))
    assert [cell.strip("`") for cell in rows.pop("Set")] == list(MODELS)
    assert len(rows) == len(SETS)
    file = load_published("update-gate")
    assert file is not None
    for place, model in enumerate(MODELS):
        for one in file.of("update-gate", model):
            found = [cells[place] for cells in rows.values()]
            assert found == [str(one.sets[name]) for name in SETS]
    for name, pairs in zip(SETS, re.findall(r"\((\d\d)(?: pairs)?\)", page), strict=True):
        assert next(one.pairs for one in file.sets if one.name == name) == int(pairs)
    assert f"registered on {file.bar.fixed} before any model was asked" in page
    new, old = (file.of("update-gate", model)[0].sets for model in MODELS)
    assert (
        f"retired {new['development'].before} and {new['held-out'].before} dated updates on"
        f" claude-sonnet-5-5, and {old['development'].before} and {old['held-out'].before} on"
        " claude-sonnet-4-6"
    ) in page
    for cost in ("about US$1.75 on claude-sonnet-5-5", "US$1.85 on", "US$1.75 and US$1.86"):
        assert cost in page
    for one in file.results:
        assert all(name in page for name in one.reports)
        assert one.regression is True
    (row,) = file.reported
    assert row.older in page
    assert "in three samples of three on both models" in page


def test_estimates(page: str) -> None:
    file = load_published("trip-vs-move")
    assert file is not None
    assert [one.usd for one in file.estimates] == [Decimal("0.25"), Decimal("0.75"), Decimal("1.1")]
    assert "about US$0.25 for the reader's case on either model" in page
    assert "about US$0.75 on claude-sonnet-5-5 and US$1.10 on claude-sonnet-4-6" in page
    said = file.estimate("mid-trip", "anthropic:claude-sonnet-4-6")
    assert said is not None
    assert said.usd == Decimal("1.1")
    assert file.estimate("mid-trip", "opus") is None


def test_every_amount_of_the_page_is_in_the_data(page: str) -> None:
    names = ("published/trip-vs-move.toml", "published/update-gate.toml")
    data: set[Decimal] = set()
    for name in names:
        parsed = tomllib.loads((fixtures() / name).read_text(), parse_float=Decimal)
        data |= set(_amounts(parsed))
    assert {Decimal(found) for found in re.findall(r"US\$(\d+\.\d\d)", page)} <= data


def test_every_report_the_page_names_is_in_the_data(page: str) -> None:
    """But for what belongs to memory rot; re-scored reports go by a suffix there."""
    named = set(re.findall(r"[a-z][a-z0-9-]+-2026-10-1\d\.json", page))
    known = {name for suite in SUITES for one in whole(suite) for name in one.reports}
    assert named - known == {"update-gate-rot-adr0313-2026-10-12.json"}
    assert known - named == {f"trip-vs-move-{model}-2026-10-13-checks-v2.json" for model in MODELS}


def test_tokens_are_those_that_were_measured() -> None:
    if not FACTS.is_file():
        pytest.skip(f"the table of measured usage is not at {FACTS}")
    found = 0
    for line in FACTS.read_text().splitlines():
        told = re.match(
            r"\| (reader|mid-trip) (sonnet-\d-\d) (move|trip-alone) \|(.*)\|$", line.strip()
        )
        if told is None:
            continue
        case, model, kind, rest = told.groups()
        results = published("trip-vs-move", case, f"claude-{model}")
        (runs,) = [one.kinds[kind] for one in results if one.kinds[kind].usage]
        names = ("extraction", "semantic_lint", "subject_resolution", "verification")
        for name, cell in zip(names, rest.split("|"), strict=True):
            if cell.strip() == "–":
                assert name not in runs.usage
                continue
            calls, *tokens = (int(number) for number in re.findall(r"\d+", cell))
            purpose = runs.usage[name]
            given = (purpose.input, purpose.output, purpose.cache_write_5m, purpose.cache_read)
            assert (purpose.calls, given) == (calls, (*tokens, 0, 0)[:4])
            found += 1
    assert found == 28


def _amounts(value: object) -> Iterator[Decimal]:
    if isinstance(value, Decimal):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _amounts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _amounts(inner)
