"""A site of every suite's reports, and a browser to open it in: Debian's own, headless."""

import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from runner.reports import site
from runner.reports.files import save
from tests.browser._reports import MEMORIES, escaped, kept, troubled
from tests.reports._honesty import FAILED
from tests.reports._honesty import report as of_honesty
from tests.reports.conftest import originals
from tests.reports.site.conftest import others
from tests.suites.memory_honesty._kit import exam

__all__ = ["originals", "others"]

PARTICLES = Path(__file__).parent / "data" / "particles-mid-trip.json.gz"
"""What `bench --system particles --arm scripted --case mid-trip --move-runs 1 --trip-alone-runs 1`
wrote: its runs cannot be made without its container."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium; without a sandbox of its own, which root has not."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("chromium is not installed: scripts/test installs Debian's where it can")
    with sync_playwright() as drive:
        found = drive.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="session")
def built(
    others: tuple[Path, ...], originals: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> site.Site:
    """The site, built once: of every suite and memory, of runs that ended in every way."""
    folder = tmp_path_factory.mktemp("site")
    for name, data in originals.items():
        (folder / f"{name}.json").write_bytes(data)
    (folder / "particles.json").write_bytes(gzip.decompress(PARTICLES.read_bytes()))
    for name in MEMORIES:
        save(kept(name), folder / f"{name}.json")
    save(of_honesty(exam("dev"), system="oracle", ended=FAILED), folder / "errored.json")
    troubled(folder / "troubled", folder / "troubled.json")
    escaped(folder / "escaped", folder / "escaped.json")
    paths = (*others, *sorted(folder.glob("*.json")))
    return site.build([site.load(path) for path in paths], folder / "out")
