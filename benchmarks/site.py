"""What a site of reports weighs and takes to build, over reading the same reports and one table.

    python -m benchmarks.site FILE... [--rounds 3] [--json FILE]

FILE are reports, such as ``bench honesty --set heldout3 --system NAME -o FILE`` writes; of five of
200 questions each the target is told. It needs no engine, and asserts nothing.

Three processes of their own, a round each in turn, from their start to their exit, imports counted:

- **read**: every report read, and verified by its digests;
- **table**: the same, and what the terminal shows of each;
- **site**: ``bench report``: the same, and the site written: figures, pages, folder.

Ratios are of one round. CPU seconds are the process's own. The elements of a page are counted in
what was written: at first view without what closed ``details`` hold, their summaries counted; and
all of them.
"""

import argparse
import gc
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html.parser import HTMLParser
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

WAYS = ("read", "table", "site")
TARGET_S = 5.0
VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Elements:
    """Of one page."""

    first: int
    """Outside of what is closed at first."""
    all: int


class _Counter(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        """Elements we are in, and whether each hides what it holds."""
        self.first = self.all = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._count(tag)
        if tag not in VOID:
            closed = tag == "details" and "open" not in dict(attrs)
            self.open.append((tag, closed))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._count(tag)

    def handle_endtag(self, tag: str) -> None:
        names = [name for name, _ in self.open]
        if tag in names:
            del self.open[len(names) - 1 - names[::-1].index(tag) :]

    def _count(self, tag: str) -> None:
        self.all += 1
        hiding = [place for place, (_, closed) in enumerate(self.open) if closed]
        # The summary of the outermost closed one is seen, with what is in it.
        seen = tag if hiding == [len(self.open) - 1] else ""
        if hiding and len(self.open) > hiding[0] + 1:
            seen = self.open[hiding[0] + 1][0]
        self.first += not hiding or seen == "summary"


def elements(html: str) -> Elements:
    """How many elements a page has, as it is written."""
    counter = _Counter()
    counter.feed(html)
    return Elements(counter.first, counter.all)


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds of one process: by the clock, and of CPU."""

    wall: float
    cpu: float


Round = dict[str, Took]
"""By way."""


def over(rounds: Sequence[Round], way: str, *, wall: bool = False) -> float:
    """The middle of the rounds' own ratios: the site's CPU seconds, or those by the clock, over
    another way's."""
    if wall:
        return median(one["site"].wall / one[way].wall for one in rounds)
    return median(one["site"].cpu / one[way].cpu for one in rounds)


def go(way: str, files: Sequence[Path], out: Path) -> None:
    """Read, or read and show, in this process, which looks for garbage as little as the command."""
    from runner.commands import app
    from runner.reports import site, terminal

    assert app.registered_commands  # imported, as every command imports them
    gc.disable()
    some = [site.load(path) for path in files]
    if way == "table":
        with (out.parent / "table.txt").open("w") as file:
            console = Console(file=file, width=100)
            for one in some:
                terminal.show(one.report, console)
    gc.freeze()


def measured(way: str, files: Sequence[Path], out: Path) -> Took:
    """One way, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.site", "--way", way, "-o", str(out)]
    if way == "site":
        command = [str(Path(sys.executable).with_name("bench")), "report", "-o", str(out)]
    began = time.perf_counter()
    child = subprocess.Popen([*command, *map(str, files)], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    return Took(wall, used.ru_utime + used.ru_stime)


def table(rounds: Sequence[Round]) -> Table:
    """The figures, medians of rounds."""
    made = Table(box=None, pad_edge=False)
    made.add_column("medians of rounds")
    for title in ("s", "CPU s", "range", "site over it, s", "CPU s"):
        made.add_column(title, justify="right", no_wrap=True)
    for way in WAYS:
        cpu = [one[way].cpu for one in rounds]
        ratios = ("", "") if way == "site" else (
            f"{over(rounds, way, wall=True):.1f}", f"{over(rounds, way):.1f}",
        )  # fmt: skip
        wall = median(one[way].wall for one in rounds)
        made.add_row(
            way, f"{wall:.2f}", f"{median(cpu):.2f}", f"{min(cpu):.2f}-{max(cpu):.2f}", *ratios
        )
    return made


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures there too")
    parser.add_argument("--way", choices=WAYS[:2], help=argparse.SUPPRESS)
    parser.add_argument("-o", type=Path, dest="out", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        go(options.way, options.files, options.out)
        return
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "site"
        rounds = [
            {way: measured(way, options.files, out) for way in WAYS} for _ in range(options.rounds)
        ]
        size = sum(path.stat().st_size for path in out.iterdir())
        pages = {path.name: elements(path.read_text()) for path in out.glob("*.html")}
    largest = max(pages, key=lambda name: pages[name].first)
    console = Console()
    console.print(
        f"{os.cpu_count()} cores, Python {platform.python_version()}, load {load:.1f} before the"
        f" rounds; {len(options.files)} reports, {options.rounds} rounds"
    )
    console.print(table(rounds))
    wall = median(one["site"].wall for one in rounds)
    met = "met" if wall < TARGET_S else "NOT"
    console.print(f"the site of five in less than {TARGET_S:g} s: {wall:.2f} s, {met}")
    console.print(f"{len(pages)} pages, {size / 1e6:.2f} MB with style sheet and list of files")
    most = pages[largest]
    console.print(f"most elements: {largest}, {most.first} at first view, {most.all} in all")
    if options.json is not None:
        told = {
            "load": load,
            "bytes": size,
            "pages": {name: asdict(one) for name, one in pages.items()},
            "rounds": [{way: asdict(took) for way, took in one.items()} for one in rounds],
        }
        options.json.write_text(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
