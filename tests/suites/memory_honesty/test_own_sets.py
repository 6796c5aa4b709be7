"""The project's own vaults and sets, as far as asking them needs it; no question is shown."""

import hashlib

import pytest

from runner.paths import fixtures
from runner.suites.memory_honesty import (
    DEVELOPMENT,
    MARKERS,
    SETS,
    Marker,
    load_exam,
    load_vault,
    steps,
)

COUNTS = {
    "dev": (10, 10, 10),
    "dev2": (12, 13, 25),
    "dev3": (15, 15, 20),
    "heldout": (9, 6, 10),
    "heldout2": (15, 15, 20),
    "heldout3": (60, 60, 80),
}
PAGES = {"vault1": 30, "vault2": 60, "vault3": 110}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("marker", MARKERS)
def test_every_set_can_be_asked_under_every_marker(name: str, marker: Marker) -> None:
    asked = load_exam(name, marker=marker)
    assert tuple(asked.counts.values()) == COUNTS[name]
    assert asked.held_out is (name not in DEVELOPMENT)
    assert len(asked.pages) == PAGES[asked.vault]
    assert len(steps(asked, name, 1)) == 1 + sum(COUNTS[name])
    assert len(steps(asked, name, 1)[0].payload["pages"]) == PAGES[asked.vault]


@pytest.mark.parametrize("name", sorted(PAGES))
def test_the_digest_of_a_vault_is_that_of_its_registered_listing(name: str) -> None:
    listed = (fixtures() / "honesty" / f"{name}.sha256").read_bytes()
    assert load_vault(name).sha256 == hashlib.sha256(listed).hexdigest()


def test_the_second_vault_is_half_chinese() -> None:
    langs = [page.lang for page in load_vault("vault2").pages]
    assert (langs.count("en"), langs.count("zh")) == (30, 30)


@pytest.mark.parametrize("name", ["vault1", "vault2", "vault3"])
def test_under_another_marker_no_page_says_it_the_first_way(name: str) -> None:
    for marker in ("prose", "link"):
        for page in load_vault(name, marker).pages:
            assert not any(line.startswith(("status", "superseded")) for line in page.front)
