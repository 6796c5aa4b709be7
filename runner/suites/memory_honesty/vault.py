"""A vault: the pages of one company, each held to its registered digest."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.errors import UsageError
from runner.paths import fixtures
from runner.suites.memory_honesty._file import MARKERS, Marker
from runner.suites.memory_honesty.markers import marked
from runner.suites.memory_honesty.pages import Flaw, Page, PageStatus, parse_page


@dataclass(frozen=True, slots=True)
class Vault:
    """All pages of one company, in the order of their names."""

    name: str
    marker: Marker
    """How a replaced page says so."""
    pages: tuple[Page, ...]
    sha256: str
    """Of the listing of what a system is given: see ``listing``."""

    @property
    def statuses(self) -> tuple[PageStatus, ...]:
        """What a scorer knows of every page."""
        return tuple(page.status for page in self.pages)


def load_vault(name: str, marker: Marker = "front-matter", *, folder: Path | None = None) -> Vault:
    """Read a vault; its files are held to ``NAME.sha256``, whatever the marker.

    Args:
        name: of its folder, such as ``vault1``.
        marker: how its replaced pages say so; any but ``front-matter`` is made from the files.
        folder: where the vaults lie; the project's own when left out.

    Raises:
        UsageError: no such vault or marker, no digests, a file more or less or another than the
            digests say, or a page that contradicts itself or names one that is not there.
    """
    if marker not in MARKERS:
        raise UsageError(f"There is no marker {marker!r}.", hint=f"Markers: {', '.join(MARKERS)}.")
    home = folder if folder is not None else fixtures() / "honesty"
    root = home / name
    if Path(name).name != name or not root.is_dir():
        raise UsageError(f"There is no vault {name!r}.", hint=f"It would be at {root}.")
    files = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }
    _registered(name, files, home / f"{name}.sha256")
    return make_vault(name, {key: _text(root / key, raw) for key, raw in files.items()}, marker)


def make_vault(name: str, files: Mapping[str, str], marker: Marker = "front-matter") -> Vault:
    """A vault of these files' texts, by their paths.

    Raises:
        UsageError: no page, or one that contradicts itself or names one that is not there.
    """
    pages: dict[str, Page] = {}
    if not files:
        raise UsageError(f"The vault {name} has no page.")
    for path in sorted(files):
        try:
            if not path.endswith(".md"):
                raise Flaw("not a Markdown page")
            pages[path] = parse_page(path, files[path])
        except Flaw as error:
            raise UsageError(f"{name}/{path}: {error}.") from error
    for page in pages.values():
        _replaced(name, page, pages)
    try:
        given = tuple(marked(page, pages, marker) for page in pages.values())
    except Flaw as error:
        raise UsageError(f"{name}: {error}.") from error
    told = listing((page.name, page.text.encode()) for page in given)
    return Vault(name, marker, given, hashlib.sha256(told.encode()).hexdigest())


def listing(files: Iterable[tuple[str, bytes]]) -> str:
    """A line a file, in the order of their names: digest, two spaces, name; as ``sha256sum`` does.

    For a vault as it is written this is what ``NAME.sha256`` holds, and what is digested again for
    the digest of a whole vault.
    """
    return "".join(f"{hashlib.sha256(raw).hexdigest()}  {name}\n" for name, raw in sorted(files))


def _replaced(vault: str, page: Page, pages: Mapping[str, Page]) -> None:
    """Follow what replaced a page to the page that stands."""
    passed = {page.name}
    while page.superseded_by is not None:
        following = pages.get(page.superseded_by)
        if following is None:
            raise UsageError(f"{vault}/{page.name}: there is no page {page.superseded_by!r}.")
        if following.name in passed:
            raise UsageError(f"{vault}/{page.name}: it is replaced by itself in the end.")
        passed.add(following.name)
        page = following


def _registered(vault: str, files: Mapping[str, bytes], path: Path) -> None:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        raise UsageError(f"The digests of {vault} are not there: {path}.") from error
    wanted: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        digest, _, name = line.partition("  ")
        if len(digest) != 64 or not name:
            raise UsageError(f"{path}: line {number} is no digest and name.")
        wanted[name.removeprefix("./").removeprefix(f"{vault}/")] = digest
    found = {name: hashlib.sha256(raw).hexdigest() for name, raw in files.items()}
    changed = sorted(
        name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name)
    )
    if changed:
        raise UsageError(
            f"{vault} is not the vault that was registered: {', '.join(changed[:5])}.",
            hint="Its files are never edited; get them again.",
        )


def _text(path: Path, raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: {error}.") from error
