"""Makes the pictures of docs/pictures from real runs, and notes beside them what they are of.

.venv/bin/python scripts/make_pictures.py             runs, builds a site, and takes the pictures
.venv/bin/python scripts/make_pictures.py --keep DIR  leaves the reports there as well
.venv/bin/python scripts/make_pictures.py --from DIR  takes them from reports that it left there

It needs a container engine and the images (``scripts/bench doctor`` sees to both), Debian's
chromium, and a font with Chinese characters, for pages that show some: without one they would be
boxes.
"""

import argparse
import hashlib
import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from rich.console import Console

from runner import __version__
from runner.reports import files, site, terminal

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
NOTES = "pictures.toml"
TRIP = "trip.json"
SYSTEMS = ("bm25", "bm25-rules", "router")
COMMANDS = {TRIP: ("--arm", "scripted", "--quiet")} | {
    f"honesty-{name}-dev.json": ("honesty", "--set", "dev", "--system", name, "--quiet")
    for name in SYSTEMS
}
"""What is run, by the file that its report goes to."""
LONGEST = 300_000
"""Bytes of a picture."""
WIDE = 1100
"""Pixels of a page's picture."""


def needed() -> str:
    """The path of chromium.

    Raises:
        SystemExit: something is missing; it says what, and how to get it.
    """
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("chromium is missing: apt-get install chromium")
    fonts = shutil.which("fc-list")
    told = subprocess.run([fonts, ":lang=zh"], capture_output=True, check=True) if fonts else None
    if told is None or not told.stdout.strip():
        raise SystemExit(
            "No font has Chinese characters, which pages would show as boxes:"
            " apt-get install fontconfig fonts-wqy-microhei"
        )
    return chromium


def run(folder: Path) -> None:
    """Make the reports."""
    for name, arguments in COMMANDS.items():
        print(f"bench {' '.join(arguments)}", flush=True)
        bench = [str(ROOT / ".venv" / "bin" / "bench"), *arguments, "-o"]
        place = folder / name if name == TRIP else folder  # suites of sets name their files
        done = subprocess.run([*bench, str(place)], stdout=subprocess.DEVNULL, check=False)
        if done.returncode > 1:  # 1 is a memory that failed
            raise SystemExit(f"it ended with {done.returncode}: see scripts/bench doctor")


def terminal_svg(report: Path) -> bytes:
    """What the terminal shows of a report; it loads no font from elsewhere."""
    console = Console(record=True, width=80, file=io.StringIO(), force_terminal=True)
    terminal.show(files.load(report), console)
    made = console.export_svg(title="bench --arm scripted", unique_id="bench")
    made = re.sub(r"@font-face \{.*?\}|<!--.*?-->", "", made, flags=re.DOTALL)
    made = made.replace("Fira Code, monospace", "monospace")
    return "\n".join(line.strip() for line in made.splitlines() if line.strip()).encode() + b"\n"


def pages(browser: Browser, built: Path) -> Iterator[tuple[str, bytes]]:
    """Pictures of pages: a move's timeline by day, and a set with all its systems by night."""
    wanted = (
        ("page.png", "run-trip-reader-move-1.html", "light", "#timeline", 1180),
        ("page-dark.png", "honesty-dev.html", "dark", "h1", 860),
    )
    for name, page, scheme, place, high in wanted:
        context = browser.new_context(
            viewport={"width": WIDE, "height": high},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        tab = context.new_page()
        tab.goto((built / page).as_uri())
        top = tab.locator(place).first.evaluate("e => e.getBoundingClientRect().top + scrollY")
        tab.evaluate(f"scrollTo(0, {max(0, top - 20)})")
        yield name, tab.screenshot(type="png")
        context.close()


def noted(reports: Mapping[str, bytes], made: Mapping[str, bytes], chromium: str) -> str:
    """The notes beside the pictures."""
    lines = ["# Written by scripts/make_pictures.py, with the pictures.", "", "[versions]"]
    versions = {"bench": __version__, "chromium": chromium}
    versions |= {name: version(name) for name in ("rich", "matplotlib")}
    lines += [f'{name} = "{value}"' for name, value in versions.items()]
    for name, data in reports.items():
        lines += ["", "[[reports]]", f'command = "bench {" ".join(COMMANDS[name])}"']
        lines += [f'sha256 = "{hashlib.sha256(data).hexdigest()}"']
    for name, data in made.items():
        lines += ["", "[[pictures]]", f'file = "{name}"', f"bytes = {len(data)}"]
        lines += [f'sha256 = "{hashlib.sha256(data).hexdigest()}"']
    return "\n".join(lines) + "\n"


def make(folder: Path, chromium: str) -> None:
    """Take the pictures of the reports in a folder."""
    paths = {name: folder / name for name in COMMANDS}
    made = {"terminal.svg": terminal_svg(paths[TRIP])}
    with tempfile.TemporaryDirectory() as place, sync_playwright() as drive:
        site.build([site.load(path) for path in paths.values()], Path(place) / "site")
        browser = drive.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        made |= dict(pages(browser, Path(place) / "site"))
        named = browser.version
        browser.close()
    if heavy := [name for name, data in made.items() if len(data) > LONGEST]:
        raise SystemExit(f"heavier than {LONGEST} bytes: {', '.join(heavy)}")
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, data in made.items():
        (PICTURES / name).write_bytes(data)
        print(f"wrote docs/pictures/{name}, {len(data) / 1000:.0f} kB")
    reports = {name: path.read_bytes() for name, path in paths.items()}
    (PICTURES / NOTES).write_text(noted(reports, made, named))


def main() -> int:
    """Run, and take the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--from", type=Path, dest="folder", help="reports that were made before")
    parser.add_argument("--keep", type=Path, help="leave the reports there")
    options = parser.parse_args()
    chromium = needed()
    if options.folder:
        make(options.folder, chromium)
        return 0
    with tempfile.TemporaryDirectory() as made:
        folder = options.keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        run(folder)
        make(folder, chromium)
    return 0


if __name__ == "__main__":
    sys.exit(main())
