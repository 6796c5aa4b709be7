"""The site of real reports: whole, closed in itself, and true to what it was made from."""

import hashlib
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from runner.commands import _app
from runner.errors import AlteredReport, UsageError
from runner.gateway import cassette as recordings
from runner.gateway.cassette import Cassette, Entry, key_of
from runner.plain import plain
from runner.reports import files, site
from runner.reports.schema import CassetteUsed, Report
from runner.suites.memory_honesty import Exam
from runner.suites.update_gate import Gate
from tests.reports.site._pages import check, taken_apart

Forge = Callable[[Path, Callable[[dict[str, Any]], object]], None]


def built(*reports: Path, **beside: Any) -> dict[str, bytes]:
    some = site.entries([site.load(path) for path in reports])
    return site.rendered(some, site.evidence(some, **beside))


@pytest.mark.slow
def test_pages_of_every_suite_lead_to_each_other_and_nowhere_else(
    reader: Path, mid_trip: Path, others: tuple[Path, ...]
) -> None:
    pages = taken_apart(built(reader, mid_trip, *others))
    check(pages)
    assert max(len(page.all()) for page in pages.values()) < 20_000
    assert {"index.html", "report-reader.html", "report-gate.html", "runs-dev.html"} <= set(pages)
    reached, to_do = set(), ["index.html"]
    while to_do:
        name = to_do.pop()
        if name not in reached:
            reached.add(name)
            links = (one.attributes["href"].partition("#")[0] for one in pages[name].all("a"))
            to_do += [link for link in links if link]
    assert reached == set(pages)
    first = pages["index.html"].text
    assert "3 of 3 [29–100%]" in first
    assert "gate.json lacks 1 of 3 runs" in " ".join(first.split())
    # The published figures stand beside ours, each with its interval.
    beside = [one for one in pages["index.html"].all("table") if "published beside" in one.text]
    assert all("3 of 3 [29–100%]" in one.text for one in beside[:2])
    gate = pages["report-gate.html"].text
    assert "Half written." in gate
    case = files.load(others[0]).case
    assert isinstance(case, Gate)
    for pair in case.sets[0].pairs:
        assert pair.older.text in gate
        assert pair.newer.text in gate


@pytest.mark.slow
def test_a_run_is_told_down_to_the_row_and_the_call(mid_trip: Path) -> None:
    [entry] = site.entries([site.load(mid_trip)])
    pages = taken_apart(site.rendered([entry], site.evidence([entry])))
    for run in entry.report.runs:
        page = pages[entry.run_page(run)]
        for claim in (claim for one in run.snapshots for claim in one.store.claims):
            assert claim.text in page.text
            assert claim.id in page.text
        rows = {one.attributes["id"]: one for one in page.all("article")}
        for claim in run.snapshots[-1].store.claims:
            [row] = [one for one in rows.values() if claim.id in one.text]
            if claim.retired_by is not None:
                [winner] = [
                    i for i, one in rows.items() if f"{claim.retired_by}" in one.all("code")[0].text
                ]
                assert f"#{winner}" in {one.attributes["href"] for one in row.all("a")}
                assert f"#{row.attributes['id']}" in {
                    one.attributes["href"] for one in rows[winner].all("a")
                }
            if claim.restatement:
                assert "restates" in row.text
        checks = page.all("table")[0]
        for one in (one for result in run.checks for one in result.checks):
            assert one.title in checks.text
            for line in one.evidence:
                text = line.partition('" (')[0].removeprefix('"')
                [href] = {a.attributes["href"] for a in checks.all("a") if text in a.text}
                assert text in rows[href[1:]].text
        for call in run.calls:
            assert call.prompt_sha256[:12] in page.text
            assert (call.request_id or "") in page.text
        assert all(step.name in page.text for step in run.steps)


HOSTILE = (
    "</p><script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{7*7}}\x1b[31m\u202eevil\u2066"
)
KEPT = {
    "kind", "suite", "arm", "verb", "outcome", "result", "network", "ceiling", "fixtures",
    "manager", "reader",
    "sha256", "started_at", "finished_at", "day", "saw", "asserted_at", "retired_at", "valid_from",
    "valid_until", "registered", "published_day", "published", "move_day", "comparable_before",
    "expected", "update", "system", "case", "name", "model", "purposes", "pins",
    "report_version", "max_usd",
}  # fmt: skip
"""Fields that hold one of a few words, a day, a number, or what the bench looks something up by."""


def spoilt(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: spoilt(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [spoilt(inner, name) for inner in value]
    number = isinstance(value, str) and re.fullmatch(r"-?[\d.E-]+", value)
    if isinstance(value, str) and name not in KEPT and not number:
        return value + HOSTILE
    return value


@pytest.mark.slow
@pytest.mark.parametrize("which", ["trip", "gate", "dev"])
def test_hostile_words_stay_words(which: str, mid_trip: Path, others: tuple[Path, ...]) -> None:
    path = {"trip": mid_trip, "gate": others[0], "dev": others[1]}[which]
    document = orjson.loads(path.read_bytes())
    before = taken_apart(built(path))
    for part in ("runs", "images", "machine", "notes", "comparable", "clock", "planned"):
        document[part] = spoilt(document[part], part)
    if which != "dev":  # an exam's answers are looked up by its words
        document["case"] = spoilt(document["case"], "case") if which == "gate" else document["case"]
    else:
        document["runs"] = orjson.loads(path.read_bytes())["runs"]
        for run_ in document["runs"]:
            for part in ("calls", "escapes", "system", "warnings", "encoder", "log_tail"):
                run_[part] = spoilt(run_[part], part)
    document["system"] = spoilt(document["system"], "of") | {
        "name": document["system"]["name"], "version": HOSTILE
    }  # fmt: skip
    report = Report.model_validate_json(orjson.dumps(document))
    some = site.entries([site.Loaded(path, report, "0" * 64)])
    made = site.rendered(some, site.evidence(some))
    pages = taken_apart(made)
    check(pages)
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", "".join(
        data.decode() for data in made.values()))  # fmt: skip
    tags = {one.tag for page in before.values() for one in page.all()}
    for name, page in pages.items():
        assert {one.tag for one in page.all()} <= tags | {"br", "li", "ul"}, name
        assert plain(HOSTILE) in page.text or name.startswith("honesty-"), name
    for data in made.values():
        assert b"49\xe2" not in data


def test_of_a_held_out_set_no_page_tells_an_answer(
    others: tuple[Path, ...], tmp_path: Path
) -> None:
    whole = files.load(others[2])
    assert isinstance(whole.case, Exam)
    alone = tmp_path / "heldout.json"
    alone.write_bytes(others[2].read_bytes())
    for path in (others[2], alone):  # with the sealed answers beside it, and without
        made = built(path)
        check(taken_apart(made))
        assert {name.startswith("run-heldout-") for name in made} == {True, False}
        told = b"".join(made.values()).decode()
        for question in whole.case.asked():
            assert question.q not in told
        for name in made:
            if name.startswith(("run", "index")):
                assert not any(page.name.encode() in made[name] for page in whole.case.pages)


def test_it_is_written_whole_or_not_at_all(reader: Path, tmp_path: Path, forge: Forge) -> None:
    out = tmp_path / "site"
    first = site.build([site.load(reader)], out)
    assert first.index.is_file()
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    altered = tmp_path / "altered.json"
    altered.write_bytes(reader.read_bytes().replace(b'"passed": true', b'"passed": false', 1))
    with pytest.raises(AlteredReport, match=r"altered\.json"):
        site.load(altered)
    site.build([site.load(reader)], out)  # over one's own
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    (out / "mine.txt").write_text("keep me")
    with pytest.raises(UsageError, match=r"mine\.txt"):
        site.build([site.load(reader)], out)
    (out / "mine.txt").unlink()
    (out / "index.html").write_text("mine now")
    with pytest.raises(UsageError, match=r"index\.html"):
        site.build([site.load(reader)], out)
    assert (out / "index.html").read_text() == "mine now"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "altered.json", "reader.json", "site",
    ]  # fmt: skip


@pytest.mark.slow
def test_what_was_exchanged_is_told_where_the_cassette_is(
    reader: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = files.load(reader)
    first = report.runs[0]
    asked = orjson.dumps(
        {"messages": [{"content": "a <b>bold</b> question\nin two lines"}]}
    ).decode()
    call = first.calls[0].model_copy(
        update={"prompt_sha256": hashlib.sha256(asked.encode()).hexdigest()}
    )
    entry = Entry(
        path="/v1/messages", step=call.step, purpose=call.purpose, model=call.requested_model,
        key=key_of("/v1/messages", False, asked.encode()), canonical=asked, status=200,
        body='{"content": "the reply"}',
    )  # fmt: skip
    now = datetime(2026, 12, 1, tzinfo=UTC)
    tape = Cassette(
        bench="1", system="engine", suite=report.suite, case="reader", recorded_from=now,
        recorded_to=now, models=(entry.model,), runs={first.spec.id: (entry,)},
    )  # fmt: skip
    recordings.save(tape, tmp_path / "r.cassette")
    used = CassetteUsed(name="r.cassette", sha256=tape.sha256(), recorded_from=now, recorded_to=now)
    runs = (first.model_copy(update={"calls": (call, *first.calls[1:])}), *report.runs[1:])
    path = tmp_path / "recorded.json"
    files.save(report.model_copy(update={"cassette": used, "runs": runs}), path)
    [one] = site.entries([site.load(path)])
    found = taken_apart(built(path))[one.run_page(first)].text
    assert "a <b>bold</b> question\n" in found
    assert "content: the reply" in found
    away = tmp_path / "elsewhere"
    away.mkdir()
    moved = (tmp_path / "r.cassette").rename(away / "r.cassette")
    assert "give it with --cassette" in taken_apart(built(path))[one.run_page(first)].text
    assert "the reply" in taken_apart(built(path, cassettes=[moved]))[one.run_page(first)].text
    with pytest.raises(UsageError, match="None of the reports"):
        built(reader, cassettes=[moved])
    # As it is typed, with a log that was kept of that very run.
    kept = tmp_path / "kept" / "runs" / first.spec.id
    kept.mkdir(parents=True)
    (kept / "record.json").write_bytes(orjson.dumps(runs[0].model_dump(mode="json")))
    (kept / "system.log").write_text("a line of the log")
    out = tmp_path / "out"
    typed = ["report", str(path), "-o", str(out), "--cassette", str(moved)]
    assert _app.run([*typed, "--kept", str(tmp_path / "kept")]) == 0
    assert str(out / "index.html") in capsys.readouterr().out
    pages = {name.name: name.read_text() for name in out.glob("run-*.html")}
    assert [name for name, page in pages.items() if "a line of the log" in page] == [
        one.run_page(first)
    ]
    assert _app.run(["report", str(tmp_path / "none.json"), "-o", str(out)]) == UsageError.exit_code
