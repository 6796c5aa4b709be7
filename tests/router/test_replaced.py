import pytest
from page_router.pages import Page, parse
from page_router.replaced import Replaced, current, replaced

from runner.suites.memory_honesty import MARKERS, Marker, load_vault


def vault(**texts: str) -> list[Page]:
    """Pages by name; ``new`` and ``old`` are there in any case."""
    pages = {"new": "# The new way\n", "old": "# The old way\n", **texts}
    return [parse(f"Rules/{name}.md", text) for name, text in pages.items()]


def found(*pages: Page) -> dict[str, str | None]:
    return {name: because.by for name, because in replaced(pages).items()}


OLD_TO_NEW = {"Rules/old.md": "Rules/new.md"}


@pytest.mark.parametrize("name", ["vault1", "vault2"])
@pytest.mark.parametrize("marker", MARKERS)
def test_every_replaced_page_of_the_vaults_is_found_and_no_other(name: str, marker: Marker) -> None:
    pages = load_vault(name, marker).pages
    because = replaced(parse(page.name, page.text) for page in pages)
    assert {old: by.by for old, by in because.items()} == {
        page.name: page.superseded_by for page in pages if page.superseded
    }


@pytest.mark.parametrize(
    "said",
    [
        "> Replaced by [The new way](new.md)",
        "> **Superseded by** [[new]].",
        "**Replaced by:** _The new way_",
        "*Replaced by [The new way](<../Rules/new.md>)*",
        "Replaced on 3 May 2026 by [the other](new.md#top).",
        "This page was replaced by “The new way” on 3 May 2026.",
        "This policy has been superseded by 'The new way'.",
        "Note: this page is now replaced by The new way, since May.",
        "It was replaced by the page *The new way*.",
        "Deprecated in favour of [The new way](/Rules/new.md).",
        "Obsolete, see [[The new way]].",
        "- Status: superseded by `new.md`",
        "Much text before. This document was replaced on 1 May by [x](new).",
        "本页已由《The new way》取代。",
        "> 已由 [The new way](new.md) 取代",
        "本规定自2026年5月3日起被《The new way》所替代。",
        "本页已于2026年5月3日被「The new way」取代。",
        "已废止，请看《The new way》",
    ],
)
def test_an_old_page_says_so_in_many_ways(said: str) -> None:
    assert found(*vault(old=f"# The old way\n\n{said}\n\nOther text.\n")) == OLD_TO_NEW


@pytest.mark.parametrize(
    "said",
    [
        "Replaces [The old way](old.md).",
        "This page replaces “The old way”.",
        "This note supersedes [[old]] and more.",
        "> Supersedes: [The old way](./old.md)",
        "本页取代《The old way》。",
        "本办法自2026年5月3日起代替原《The old way》。",
    ],
)
def test_a_new_page_says_so_in_many_ways(said: str) -> None:
    assert found(*vault(new=f"# The new way\n\n{said}\n")) == OLD_TO_NEW


@pytest.mark.parametrize(
    "front",
    [
        "status: superseded\nsuperseded_by: Rules/new.md",
        "superseded_by: new.md",
        'Superseded-By: "[[new]]"',
        "replaced_by: The new way",
        "status: deprecated\nsuccessor: '[the](new.md)'",
    ],
)
def test_front_matter_says_so(front: str) -> None:
    assert found(*vault(old=f"---\n{front}\n---\n# The old way\n")) == OLD_TO_NEW
    listed = "---\nsupersedes: [old.md, gone.md]\n---\n# The new way\n"
    assert found(*vault(new=listed)) == OLD_TO_NEW


@pytest.mark.parametrize(
    "said",
    [
        "Four rings replace the three stages we used.",
        "The boiler was replaced by [The new way](new.md) fitters.",
        "This page was not replaced by [The new way](new.md).",
        "Replaced by [something](https://example.org/new.md).",
        "Replaced by [a page that is not there](gone.md).",
        "Replaced by 4 people.",
        "This page was replaced by a better one. See [The new way](new.md).",
        "Replaces the filter after 180 days.",
        "锅炉由《The new way》公司更换。",
        "本页由《The new way》团队维护。",
        "See also [The new way](new.md).",
        "Replaced by [itself](old.md).",
    ],
)
def test_what_speaks_of_something_else_retires_nothing(said: str) -> None:
    assert found(*vault(old=f"# The old way\n\n{said}\n")) == {}


def test_a_page_that_is_over_is_left_out_also_when_nobody_says_for_what() -> None:
    assert found(*vault(old="---\nstatus: 已废止\n---\n")) == {"Rules/old.md": None}
    gone = "---\nsuperseded_by: Rules/gone.md\n---\n"
    assert found(*vault(old=gone)) == {"Rules/old.md": None}
    assert found(*vault(old="---\nstatus: current\nsuperseded_by: null\n---\n")) == {}


def test_the_successor_is_the_one_that_is_told_somewhere() -> None:
    old = "---\nstatus: superseded\n---\n# The old way\n"
    new = "# The new way\n\nReplaces [The old way](old.md).\n"
    assert found(*vault(old=old, new=new)) == OLD_TO_NEW


def test_prose_makes_no_page_be_replaced_by_an_older_one_or_in_a_ring() -> None:
    older = vault(
        old="---\ndate: 2026-01-02\n---\n> Replaced by [n](new.md)\n",
        new="---\ndate: 2026-01-01\n---\n",
    )
    assert found(*older) == {}
    ring = vault(old="> Replaced by [n](new.md)\n", new="> Replaced by [o](old.md)\n")
    assert len(found(*ring)) == 1


def test_titles_that_several_pages_have_name_the_one_beside() -> None:
    pages = [
        parse("A/old.md", "> Replaced by “Backups”\n"),
        parse("A/x.md", "# Backups\n"),
        parse("B/y.md", "# Backups\n"),
        parse("C/old.md", "> Replaced by “Backups”\n"),
    ]
    assert found(*pages) == {"A/old.md": "A/x.md"}


def test_the_page_that_stands_is_at_the_end_of_the_chain() -> None:
    because = {"a": Replaced("b", "a", ""), "b": Replaced("c", "b", "")}
    assert current("a", because) == "c"
    assert current("c", because) == "c"
    ring = {"a": Replaced("b", "a", ""), "b": Replaced("a", "b", "")}
    assert current("a", ring) in ("a", "b")
    assert current("x", {"x": Replaced(None, "x", "")}) == "x"


def test_it_says_who_says_so_and_how() -> None:
    (because,) = replaced(vault(new="# The new way\n\nReplaces [o](old.md).\n")).values()
    assert because == Replaced("Rules/new.md", "Rules/new.md", "Replaces [o](old.md).")
