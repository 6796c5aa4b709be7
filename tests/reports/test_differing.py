"""What sets our runs of a memory apart from the published ones, in words."""

import pytest

from runner.published import PublishedMemory, load_honesty
from runner.reports.differing import differing
from runner.reports.schema import Report
from runner.suites.memory_honesty import load_exam
from tests.reports._honesty import report
from tests.reports._taken import call, took

pytestmark = pytest.mark.slow


def named(made: Report, name: str, version: str, encoder: str | None = None) -> Report:
    """The report as if another system had made it."""
    system = made.system.model_copy(update={"name": name, "version": version})
    runs = tuple(run.model_copy(update={"encoder": encoder}) for run in made.runs)
    return made.model_copy(update={"system": system, "runs": runs})


def test_version_embedder_observer_and_how_it_was_run() -> None:
    asked = load_exam("heldout3")
    notes = named(took(asked, call(1)), "claude-mem", "13.25.3", "all-MiniLM-L6-v2")
    plain = named(report(asked), "basic-memory", "0.23.2", "all-MiniLM-L6-v2")
    text = named(report(asked), "basic-memory-text", "0.24.1")
    found = dict(differing([notes, plain, text]))
    assert found["claude-mem"] == (
        "version 13.25.3 here, 13.39.0 there",
        "embedder all-MiniLM-L6-v2 here, none told there",
        "notes taken by no model (scripted: made from the page's own text) here, by"
        " claude-haiku-4-5 there",
        "there pages read in Claude Code sessions, one on the first vault, four on the third",
    )
    assert found["basic-memory"] == (
        "embedder all-MiniLM-L6-v2 here, BAAI/bge-small-en-v1.5 (its default) there",
        "there by its command line, a process a question",
    )
    assert found["basic-memory-text"][:2] == (
        "version 0.24.1 here, 0.23.2 there",
        "embedder none here, BAAI/bge-small-en-v1.5 (its default) there",
    )


def test_a_model_that_took_the_notes_is_named() -> None:
    asked = load_exam("heldout3")
    made = named(took(asked, call(1), scripted=False), "claude-mem", "13.39.0")
    spend = made.spend.model_copy(update={"simulated": False})
    live = made.model_copy(update={"spend": spend, "arm": "live"})
    [(_, found)] = differing([live])
    assert "notes taken by claude-sonnet-5-5 here, by claude-haiku-4-5 there" in found


def test_nothing_is_said_of_what_nobody_published() -> None:
    assert list(differing([report(load_exam("dev"), system="router")])) == []
    # Nothing of basic-memory was published on the second vault.
    assert list(differing([named(report(load_exam("dev3")), "basic-memory", "0.24.1")])) == []


def test_every_published_system_but_the_one_we_have_no_like_of_is_described() -> None:
    known = load_honesty()
    described: set[str] = {one.name for one in known.systems}
    assert {row.system for row in known.results} - described == {"KRouter"}
    ours = [name for one in known.systems for name in one.ours]
    assert len(ours) == len(set(ours))
    assert isinstance(known.like("bm25"), PublishedMemory)
    assert known.like("router") is None
