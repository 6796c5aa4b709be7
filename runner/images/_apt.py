"""What apt would install on an empty Debian, of any architecture, told by apt itself.

Nothing of the machine has a part in it but the program: apt works on a folder of its own, with its
own lists, configuration and (empty) database, so that arm64 can be asked for on amd64 too.
"""

import os
import re
import shutil
import subprocess
import tempfile
import urllib.parse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

from runner.errors import CannotStart
from runner.images._buildx import apt_proxy

DEADLINE_S = 300.0
SMALLEST = ("?essential", "?priority(required)", "apt")
"""What every Debian here has before anything is installed: mmdebstrap's ``minbase``."""
_TOLD = re.compile(r"'\S+' (\S+)_(\S+)_(\S+)\.deb \d+ SHA256:([0-9a-f]{64})")
_DATE = re.compile(r"^Date: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, order=True)
class Deb:
    """A package of Debian, down to its bytes.

    Attributes:
        name: without the architecture.
        version: as Debian writes it.
        architecture: the package's own, which is ``all`` where it does not matter.
        sha256: of the file it comes in.
    """

    name: str
    version: str
    architecture: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Index:
    """What an archive offers to one architecture."""

    config: Path

    def resolve(self, wanted: Sequence[str]) -> tuple[Deb, ...]:
        """All that would be there if these were installed on nothing, by name.

        Args:
            wanted: names of packages, or apt's patterns.

        Raises:
            CannotStart: apt cannot tell.
        """
        told = _apt(self.config, "install", "--yes", "--print-uris", *wanted)
        rows = (_TOLD.fullmatch(line) for line in told.splitlines() if line.startswith("'"))
        found = [Deb(row[1], urllib.parse.unquote(row[2]), row[3], row[4]) for row in rows if row]
        if not found:
            raise CannotStart(f"apt names no package for {' '.join(wanted)}:\n{told[-1000:]}\n")
        return tuple(sorted(found))

    def date(self) -> datetime:
        """When the youngest of its parts was made, by the archive's own word."""
        dates = [
            parsedate_to_datetime(found[1])
            for file in self.config.parent.glob("lists/*Release")
            if (found := _DATE.search(file.read_text(encoding="utf-8")))
        ]
        return max(dates, default=datetime.fromtimestamp(0, UTC))


@contextmanager
def index(architecture: str, sources: Sequence[str]) -> Iterator[Index]:
    """Fetches what an archive offers.

    Args:
        architecture: Debian's name of it, such as ``arm64``.
        sources: lines of a ``sources.list``.

    Raises:
        CannotStart: there is no apt here, or it fails.
    """
    if shutil.which("apt-get") is None:
        raise CannotStart(
            "Debian's packages are looked up by apt-get, and there is none.",
            hint="Run this on a Debian machine, or leave them out with --only.",
        )
    with tempfile.TemporaryDirectory(prefix="memory-bench-apt-") as name:
        folder = Path(name)
        for part in ("lists/partial", "cache/archives/partial"):
            (folder / part).mkdir(parents=True)
        (folder / "status").touch()
        (folder / "sources.list").write_text("".join(f"{line}\n" for line in sources))
        config = folder / "apt.conf"
        config.write_text(_config(folder, architecture))
        # Without the error mode, a part that cannot be fetched is a warning, and old in silence.
        _apt(config, "update", "-o", "APT::Update::Error-Mode=any")
        yield Index(config)


def _config(folder: Path, architecture: str) -> str:
    nothing = ("main", "parts", "sourceparts", "preferences", "preferencesparts")
    lines = [f'Dir::Etc::{part} "/dev/null";' for part in nothing]
    lines += [
        f'Dir::Etc::sourcelist "{folder}/sources.list";',
        f'Dir::State "{folder}";',
        f'Dir::State::lists "{folder}/lists";',
        f'Dir::State::status "{folder}/status";',
        f'Dir::Cache "{folder}/cache";',
        'Dir::Log "/dev/null";',
        'Acquire::Languages "none";',
        'Acquire::ForceHash "SHA256";',
        'Acquire::Retries "3";',
        'APT::Sandbox::User "";',
        'APT::Install-Recommends "false";',
        'Debug::NoLocking "true";',
        f'APT::Architecture "{architecture}";',
        "#clear APT::Architectures;",
        f'APT::Architectures {{ "{architecture}"; }};',
    ]
    if proxy := os.environ.get("http_proxy") or apt_proxy():
        lines.append(f'Acquire::http::Proxy "{proxy}";')
    return "\n".join(lines) + "\n"


def _apt(config: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["apt-get", "--quiet=1", *arguments],
            env={**os.environ, "APT_CONFIG": str(config), "LC_ALL": "C"},
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
        )
    except subprocess.TimeoutExpired as error:
        raise CannotStart(
            f"apt-get did not finish within {DEADLINE_S:g} s.", hint="Try again."
        ) from error
    if done.returncode != 0:
        raise CannotStart(
            f"apt-get {arguments[0]} failed with code {done.returncode}:\n"
            f"{(done.stdout.strip() + chr(10) + done.stderr.strip()).strip()[-2000:]}\n",
            hint="It needs a Debian mirror; BENCH_DEBIAN_MIRROR names another.",
        )
    return done.stdout
