"""Every page opened from disk in a real browser: quiet, self-contained, for everybody."""

from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page

from runner.reports.site import Site
from tests.browser._pages import HEIGHT, NARROW, WIDE, one_of_each, tab

pytestmark = pytest.mark.slow

MOST_NODES = 20_000
PAPER = 718
"""Pixels of a line of A4 (210 mm) within margins of 10 mm, at 96 an inch."""

SEEN = """() => [
  document.querySelectorAll('*').length,
  document.documentElement.scrollWidth,
  window.blocked,
]"""

STOPS = """() => {
  const closed = e => {
    for (let d = e.closest('details'); d; d = d.parentElement.closest('details'))
      if (!d.open && !(e.tagName === 'SUMMARY' && e.parentElement === d)) return true;
    return false;
  };
  window.stops = [...document.querySelectorAll('a[href], summary, [tabindex="0"]')]
    .filter(e => !closed(e));
  window.reached = [];
  document.addEventListener('focusin', one => {
    const seen = getComputedStyle(one.target), box = one.target.getBoundingClientRect();
    window.reached.push([window.stops.indexOf(one.target),
      seen.outlineStyle !== 'none' && parseFloat(seen.outlineWidth) > 0
        && box.width > 0 && box.height > 0]);
  });
  return window.stops.length;
}"""

CUT = """width => [...document.querySelectorAll('main *, footer *')]
  .filter(e => e.checkVisibility() && !e.closest('.unseen, svg *'))
  .filter(e => e.getBoundingClientRect().right > width + 1)
  .map(e => e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 30))"""


def test_no_page_complains_asks_elsewhere_or_is_too_wide(browser: Browser, built: Site) -> None:
    """On paper, what the reader opened is printed open, what is folded as its one line."""
    with tab(browser, built.folder, color_scheme="light") as shown:
        for name in built.pages:
            page = shown.open(name)
            for width in (WIDE, NARROW):
                page.set_viewport_size({"width": width, "height": HEIGHT})
                nodes, wide, blocked = page.evaluate(SEEN)
                if wide > width:
                    shown.fault(f"{wide} wide in {width}")
            if nodes >= MOST_NODES:
                shown.fault(f"{nodes} nodes")
            for one in blocked:
                shown.fault(f"against its own policy: {one}")
            page.set_viewport_size({"width": PAPER, "height": HEIGHT})
            page.emulate_media(media="print")
            if cut := page.evaluate(CUT, PAPER):
                shown.fault(f"{len(cut)} wider than the paper, such as {cut[0]}")
            if page.locator("header nav").is_visible() or not page.locator("h1").is_visible():
                shown.fault("paper shows what a screen is for, or not what it is about")
            page.emulate_media(media="screen")
    assert not shown.faults, "\n".join(shown.faults)


@pytest.mark.parametrize(
    ("scheme", "width", "rules"),
    [("light", NARROW, None), ("dark", WIDE, ["color-contrast", "link-in-text-block"])],
)
def test_no_page_shuts_anyone_out(
    browser: Browser,
    built: Site,
    scheme: Literal["light", "dark"],
    width: int,
    rules: list[str] | None,
) -> None:
    """All rules where there is little room; those on colours again in the other colours."""
    with tab(browser, built.folder, width, color_scheme=scheme) as shown:
        for name in one_of_each(built.pages):
            for one in violations(shown.open(name), rules):
                shown.fault(f"{one['id']} {[each['target'] for each in one['nodes'][:3]]}")
    assert not shown.faults, "\n".join(shown.faults)


def violations(page: Page, rules: list[str] | None) -> list[dict[str, Any]]:
    """What axe finds serious or critical.

    It is not to load style sheets a second time: of a page from disk it may not.
    """
    options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
    if rules is not None:
        options["runOnly"] = rules
    found = Axe().run(page, options=options).response["violations"]
    return [one for one in found if one["impact"] in ("serious", "critical")]


def test_the_keyboard_reaches_everything_in_order_and_shows_where_it_is(
    browser: Browser, built: Site
) -> None:
    with tab(browser, built.folder) as shown:
        for name in one_of_each(built.pages):
            page = shown.open(name)
            stops = page.evaluate(STOPS)
            for _ in range(stops):
                page.keyboard.press("Tab")
            reached = page.evaluate("window.reached")
            if [at for at, _ in reached] != list(range(stops)):
                shown.fault(f"{stops} stops, reached {[at for at, _ in reached]}")
            for at in (at for at, visible in reached if not visible):
                shown.fault(f"not seen: {page.evaluate('i => stops[i].outerHTML', at)[:90]}")
            first = page.locator("summary").first
            if first.count():
                is_open = "e => e.parentElement.open"
                before = first.evaluate(is_open)
                first.press("Enter")
                if first.evaluate(is_open) is before:
                    shown.fault("Enter does not open what is folded")
            page.locator("a.skip").press("Enter")
            if page.evaluate("document.activeElement.id") != "main":
                shown.fault("the first link does not skip to the content")
    assert not shown.faults, "\n".join(shown.faults)


def test_without_a_script_all_is_the_same(browser: Browser, built: Site) -> None:
    with (
        tab(browser, built.folder) as shown,
        tab(browser, built.folder, java_script_enabled=False) as plain,
    ):
        for name in one_of_each(built.pages):
            text = "document.body.innerText"
            with_, without = (one.open(name).evaluate(text) for one in (shown, plain))
            assert with_ == without != "", name
            first = plain.page.locator("summary").first
            if first.count():
                before = first.evaluate("e => e.parentElement.open")
                first.click()
                assert first.evaluate("e => e.parentElement.open") is not before, name
    assert not shown.faults + plain.faults
