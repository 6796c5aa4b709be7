"""``bench view`` as it is used: a process, a browser, and reports that come meanwhile."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from runner.reports.files import save
from tests.reports._honesty import report
from tests.suites.memory_honesty._kit import exam

pytestmark = pytest.mark.slow
BENCH = Path(sys.executable).parent / "bench"
WAIT_MS = 90_000


class Served:
    """A running ``bench view`` of a folder; what it makes lies in ``room``."""

    def __init__(self, folder: Path, room: Path) -> None:
        self.room = room
        self.process = subprocess.Popen(
            [str(BENCH), "view", str(folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"TMPDIR": str(room)},
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()

    def stop(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        self.process.communicate(timeout=20)
        return self.process.returncode

    def left(self) -> list[str]:
        """Files and processes of it."""
        files = [path.name for path in self.room.iterdir()]
        commands = [
            path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            for path in Path("/proc").glob("[0-9]*/cmdline")
            if path.exists()
        ]
        return files + [one for one in commands if str(self.room) in one]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "reports"
    made.mkdir()
    return made


@pytest.fixture
def served(folder: Path, tmp_path: Path) -> Iterator[Served]:
    room = tmp_path / "room"
    room.mkdir()
    running = Served(folder, room)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.communicate()


def test_reports_appear_while_the_page_is_open(
    served: Served, folder: Path, browser: Browser
) -> None:
    page = browser.new_page()
    faults: list[str] = []
    asked: set[str] = set()
    page.on("console", lambda said: faults.append(said.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: asked.add(request.url))
    page.goto(served.address)
    expect(page.locator("h1")).to_have_text("No report yet", timeout=WAIT_MS)

    save(report(exam("dev")), folder / "dev.json")
    expect(page.locator("h1")).to_have_text("Results", timeout=WAIT_MS)
    expect(page.locator("#view-status")).to_have_text("Updated: 1 report, 1 run.")

    # What the reader has open, and where they stand, outlives the next.
    page.locator("details > summary").first.press("Enter")
    where = "document.activeElement.tagName"
    assert page.evaluate(where) == "SUMMARY"
    (folder / "bad.json").write_text("{}")
    expect(page.locator("#view-faults")).to_contain_text("bad.json", timeout=WAIT_MS)
    expect(page.locator("details").first).to_have_attribute("open", "")
    assert page.evaluate(where) == "SUMMARY"
    expect(page.locator("h1")).to_have_text("Results")

    assert faults == []
    assert {url for url in asked if not url.startswith((served.address, "data:"))} == set()
    assert served.stop(signal.SIGINT) == 130
    assert served.left() == []
    expect(page.locator("#view-status")).to_contain_text("not serving any more", timeout=WAIT_MS)
    page.close()


def test_it_can_be_stopped_while_it_makes_pages(served: Served, folder: Path) -> None:
    save(report(exam("dev")), folder / "dev.json")
    assert served.stop(signal.SIGTERM) == 143
    assert served.left() == []
