"""Every kind of page opened from disk in a real browser: quiet, self-contained, for everybody."""

from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page

from runner.reports.site import Site

pytestmark = pytest.mark.slow

MOST_NODES = 20_000
HEIGHT = 900


def kinds(built: Site) -> list[str]:
    """All pages but those of runs, of which the first of each report stands for the others."""
    found, seen = [], set()
    for name in built.pages:
        stem = name.rpartition("-")[0].rpartition("-")[0]
        if not name.startswith("run-") or stem not in seen:
            found.append(name)
        seen.add(stem)
    return found


def opened(page: Page, built: Site, name: str) -> tuple[list[str], list[str]]:
    """Opens a page; what its console said, and every request it made."""
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda one: said.append(one.text))
    page.on("pageerror", lambda one: said.append(str(one)))
    page.on("request", lambda one: asked.append(one.url))
    page.goto((built.folder / name).as_uri(), wait_until="load")
    return said, asked


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_no_page_complains_asks_elsewhere_or_shuts_anyone_out(
    browser: Browser, built: Site, scheme: Literal["light", "dark"], width: int
) -> None:
    faults: list[str] = []
    for name in kinds(built):
        page = browser.new_page(
            color_scheme=scheme, viewport={"width": width, "height": HEIGHT}, bypass_csp=False
        )
        said, asked = opened(page, built, name)
        faults += [f"{name}: {one}" for one in said]
        faults += [
            f"{name}: asked {url}" for url in asked if not url.startswith(("file:", "data:"))
        ]
        if (nodes := page.evaluate("document.querySelectorAll('*').length")) >= MOST_NODES:
            faults.append(f"{name}: {nodes} nodes")
        if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            faults.append(f"{name}: wider than {width}")
        page.close()
        # Axe is a script of its own, which the page's policy would not let in.
        page = browser.new_page(
            color_scheme=scheme, viewport={"width": width, "height": HEIGHT}, bypass_csp=True
        )
        opened(page, built, name)
        for one in Axe().run(page).response["violations"]:
            if one["impact"] in ("serious", "critical"):
                faults.append(f"{name}: {one['id']} {one['nodes'][0]['target']}")
        page.close()
    assert not faults, "\n".join(faults)


def test_pages_are_read_without_a_script_by_keyboard_and_on_paper(
    browser: Browser, built: Site
) -> None:
    for name in kinds(built):
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        opened(page, built, name)
        page.keyboard.press("Tab")
        assert page.locator("a.skip:focus").count() == 1, name
        assert page.locator("main h1").first.is_visible(), name
        page.emulate_media(media="print")
        assert page.locator("main h1").first.is_visible(), name
        context.close()
