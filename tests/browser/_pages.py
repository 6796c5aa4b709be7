"""Pages opened in one tab, and all that was seen of them that nobody is to see."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Dialog, Page

WIDE, NARROW, HEIGHT = 1280, 360, 900

WATCH = """
window.blocked = [];
document.addEventListener('securitypolicyviolation',
  one => window.blocked.push(one.violatedDirective + ' ' + one.blockedURI));
"""


class Tab:
    """One tab that goes from page to page.

    Attributes:
        page: what it shows.
        faults: what was wrong with pages, each with the page's name.
    """

    def __init__(self, page: Page, folder: Path) -> None:
        self.page = page
        self.faults: list[str] = []
        self._folder, self._name = folder, ""
        page.on("console", lambda one: self.fault(f"console: {one.text}"))
        page.on("pageerror", lambda one: self.fault(f"error: {one}"))
        page.on("request", lambda one: self._asked(one.url))
        page.on("requestfailed", lambda one: self.fault(f"not there: {one.url}"))
        page.on("popup", lambda _: self.fault("opened a window"))
        # Where nobody listens, a dialog is dismissed before anyone could tell.
        page.on("dialog", self._dialog)

    def open(self, name: str) -> Page:
        """Show a page of the site."""
        self._name = name
        self.page.goto((self._folder / name).as_uri(), wait_until="load")
        return self.page

    def fault(self, what: str) -> None:
        """Something is wrong with the page that is shown."""
        self.faults.append(f"{self._name}: {what}")

    def _asked(self, url: str) -> None:
        if not url.startswith(("file:", "data:")):
            self.fault(f"asked {url}")

    def _dialog(self, dialog: Dialog) -> None:
        self.fault(f"dialog: {dialog.message}")
        dialog.dismiss()


@contextmanager
def tab(browser: Browser, folder: Path, width: int = WIDE, **more: Any) -> Iterator[Tab]:
    """A tab in a profile of its own.

    Args:
        browser: where.
        folder: of the site.
        width: of the window, in pixels.
        more: what else makes the profile, as Playwright names it.
    """
    context = browser.new_context(viewport={"width": width, "height": HEIGHT}, **more)
    context.add_init_script(WATCH)
    try:
        yield Tab(context.new_page(), folder)
    finally:
        context.close()


def one_of_each(pages: tuple[str, ...]) -> list[str]:
    """A page of every template, and of each suite's report one."""
    wanted = (
        "index.html", "honesty-dev3.html", "report-reader.html", "report-gate.html",
        "report-dev.html", "report-lesson.html", "runs-mem0.html", "report-errored.html",
    )  # fmt: skip
    assert set(wanted) <= set(pages)
    runs = [next(one for one in pages if one.startswith(f"run-{name}-"))
            for name in ("mid-trip", "troubled", "gate", "mem0")]  # fmt: skip
    return [*wanted, *runs]
