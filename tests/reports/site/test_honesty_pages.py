"""Pages of the honesty suites: all there is of a development set, and nothing of a held-out one."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from runner.reports.schema import Report
from runner.reports.sealing import close
from runner.reports.site._env import env
from runner.reports.site._honesty import honesty_pages
from runner.reports.site._honesty_sheets import baseline
from runner.reports.site._honesty_sides import sides
from runner.reports.site._page import Entry, slugs
from runner.suites.memory_honesty import load_exam
from tests.reports._honesty import FAILED, report
from tests.reports._learning import report as lesson_report
from tests.suites.honesty_learning._kit import learned, said
from tests.suites.memory_honesty._kit import (
    BACKUPS,
    FILES,
    LEAVE,
    OLD_BACKUPS,
    ON_CALL,
    RELEASE,
    ROWS,
    exam,
)

HOSTILE = "<img src=x onerror=alert(1)>\u202e{{ 7*7 }}"
WRONG = {"q001": [OLD_BACKUPS, BACKUPS], "q003": None, "q005": [BACKUPS]}


class Read(HTMLParser):
    """Elements, ids and links of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def ids(self) -> list[str]:
        return [one["id"] or "" for _, one in self.tags if "id" in one]

    @property
    def links(self) -> list[str]:
        return [one["href"] or "" for tag, one in self.tags if tag == "a" and "href" in one]

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


def renamed(one: Report, name: str) -> Report:
    return one.model_copy(update={"system": one.system.model_copy(update={"name": name})})


def pages(*reports: Report) -> dict[str, str]:
    names = slugs(f"{one.system.name}-{getattr(one.case, 'set', 'lesson')}" for one in reports)
    entries = [
        Entry(slug, one, Path(f"{slug}.json")) for slug, one in zip(names, reports, strict=True)
    ]
    return {page.path: page.html for page in honesty_pages(entries, env())}


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """Two systems on a development and a held-out set, one of them of a hostile name."""
    return pages(
        *(
            renamed(report(exam(name), WRONG if system == "bm25" else {}, system=system, runs=2),
                    HOSTILE if system == "bm25" else system)
            for name in ("dev", "heldout")
            for system in ("bm25", "oracle")
        )
    )  # fmt: skip


@pytest.mark.slow
def test_every_set_and_every_report_has_a_page(made: dict[str, str]) -> None:
    slug = "img-src-x-onerror-alert-1-7-7"
    assert list(made) == [
        "honesty-dev.html", "honesty-heldout.html", f"report-{slug}-dev.html",
        "report-oracle-dev.html", f"report-{slug}-heldout.html", "report-oracle-heldout.html",
    ]  # fmt: skip
    for path, html in made.items():
        read = Read(html)
        assert len(read.ids) == len(set(read.ids)), path
        for link in read.links:
            file, _, anchor = link.partition("#")
            if file and file != "index.html" and not file.startswith("runs-"):
                assert file in made
            if anchor and file in made:
                assert anchor in Read(made[file]).ids
            elif anchor:
                assert anchor in read.ids
        assert not [tag for tag, _ in read.tags if tag in ("script", "style", "img", "iframe")]
        assert not [one for _, one in read.tags if any(k == "style" or k[:2] == "on" for k in one)]
        assert [tag for tag, _ in read.tags].count("h1") == 1
        assert "\u202e" not in html
        assert "<img" not in html
        assert "onerror=alert(1)>" not in html
    assert "<img src=x onerror=alert(1)><U+202E>{{ 7*7 }}" in Read(made["honesty-dev.html"]).text


@pytest.mark.slow
def test_a_development_set_is_told_question_by_question(made: dict[str, str]) -> None:
    whole = Read(made["honesty-dev.html"]).text
    for row in ROWS:
        assert row["q"] in whole
    for told in ("↶ stale", "≈ neighbour", "○ false refusal", "∅ refused", "✓ right"):
        assert told in whole
    assert "What moved between runs" in whole
    assert "Published of other memories" in whole
    assert "Nothing here ranks them" in whole
    [own] = [
        html for path, html in made.items() if path.startswith("report-img") and "-dev" in path
    ]
    text = Read(own).text
    assert f"{OLD_BACKUPS} 1 (replaced)" in text
    assert f"{BACKUPS} 1 (answers it)" in text
    assert f"{BACKUPS} 1 (sounds like it)" in text
    assert "it said that it has nothing" in text
    assert '"why": "a test"' in text
    assert "to be refused: nothing on Rust" in text
    assert "under the rules" in text


@pytest.mark.slow
def test_a_held_out_set_stays_closed_though_its_answers_are_there(made: dict[str, str]) -> None:
    for path, html in made.items():
        if "heldout" not in path:
            continue
        text = Read(html).text
        assert "This set is held out." in text
        assert "Question by question" not in text
        for secret in (*(row["q"] for row in ROWS), *FILES, "Rust", "飞船", "a test", "q001"):
            assert secret not in html, (path, secret)
        assert "wrong citations" in text
    # The tests of two systems are aggregates, and are told.
    assert 'id="paired"' in made["honesty-heldout.html"]


@pytest.mark.slow
def test_a_held_out_report_without_its_sealed_file() -> None:
    shut, _ = close(report(exam("heldout"), WRONG), "sealed.gz")
    found = pages(shut, report(exam("dev"), WRONG))
    text = Read(found["report-bm25-heldout.html"]).text
    assert "Its answers are sealed off" in text
    assert "its steps are sealed off" in text
    assert "wrong citations" in text
    assert 'id="paired"' not in found["honesty-heldout.html"]


@pytest.mark.slow
def test_a_run_that_failed_is_told_and_its_words_are_not() -> None:
    found = pages(report(exam("heldout"), ended=FAILED), report(exam("dev"), ended=FAILED))
    assert "no run came to its end (degraded, 1)" in Read(found["honesty-heldout.html"]).text
    shut, own = found["report-bm25-heldout.html"], found["report-bm25-dev.html"]
    assert "How often?" not in shut
    assert "How often?" in Read(own).text
    assert "nothing to grade" in Read(shut).text


def test_systems_stand_in_the_order_of_their_names_and_no_two_alike() -> None:
    reports = [report(exam("dev"), WRONG, system=one) for one in ("oracle", "bm25", "bm25")]
    entries = [
        Entry(slug, one, Path("x"))
        for slug, one in zip(slugs(one.system.name for one in reports), reports, strict=True)
    ]
    [(name, some)] = sides(entries).items()
    assert name == "dev"
    assert [side.label for side in some] == ["bm25 (bm25)", "bm25 (bm25-2)", "oracle"]
    assert baseline(some) is some[0]
    ruled = Entry("r", renamed(reports[0], "bm25-rules"), Path("x"))
    base = baseline(sides([*entries, ruled])["dev"])
    assert base is not None
    assert base.label == "bm25-rules"
    assert baseline(some[:1]) is None


@pytest.mark.slow
def test_a_week_is_told_with_proof_and_without() -> None:
    first, rust = "How frequently are databases copied?", "How often are Rust crates copied?"
    with_proof = lesson_report(
        before={"second": {"w001": None}},
        after={
            "second": {"w001": [BACKUPS]},
            "night": learned(
                said(first, BACKUPS, "Databases are copied <b>every</b> six hours."),
                unproved=[said(rust, BACKUPS, "made up", why="no such sentence")],
            ),
        },
    )
    without = lesson_report(
        proof=False,
        before={"second": {"w001": None}},
        after={
            "second": {"w004": [BACKUPS]},
            "night": learned(said(rust, BACKUPS, "made up"), proof=False),
        },
    )
    found = pages(with_proof, without)
    assert list(found) == ["report-router-lesson.html", "report-router-lesson-2.html"]
    read = Read(found["report-router-lesson.html"])
    assert "after it, with proof" in read.text
    assert "after it, without proof" in read.text
    assert "report-router-lesson-2.html" in read.links
    assert f"learned: {BACKUPS}, which answers it" in read.text
    assert "kept out:" in read.text
    assert "no such sentence" in read.text
    assert "Databases are copied <b>every</b> six hours." in read.text
    assert "<b>every" not in found["report-router-lesson.html"]
    assert "w001, correction" in read.text
    for html in found.values():
        ids = Read(html).ids
        assert len(ids) == len(set(ids))


def test_the_pages_of_other_suites_are_not_made_here() -> None:
    assert pages() == {}
    assert {LEAVE, ON_CALL, RELEASE} <= set(FILES)


@pytest.mark.slow
def test_two_hundred_questions_and_five_systems_stay_small() -> None:
    many = load_exam("heldout3").model_copy(update={"held_out": False, "set": "dev3", "depth": 50})
    names = [page.name for page in many.pages]
    reports = []
    for number, system in enumerate(("bm25", "bm25-rules", "dense", "oracle", "router")):
        given = {
            question.id: [*question.gold, *names[at % 40 :][:20]] if (at + number) % 4 else None
            for at, question in enumerate(many.asked())
        }
        reports.append(report(many, given, system=system))
    found = pages(*reports)
    assert len(found) == 6
    assert sum(len(html.encode()) for html in found.values()) < 3_000_000
    assert max(len(Read(html).tags) for html in found.values()) < 20_000
