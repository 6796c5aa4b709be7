"""A stranger's SQLite file, opened so that it can do nothing: for readers of snapshots.

The file is copied first, so that opening it never changes what was archived. The connection is
read-only and immutable, distrusts the schema, cannot attach or write, and is interrupted when it
works for too long: a view or an index of the file's own could otherwise keep it busy for ever.
"""

import os
import shutil
import sqlite3
import stat
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from runner.errors import HostileSnapshot, UnreadableStore

MAX_BYTES = 256 * 2**20
"""Largest file that is read."""
MAX_ROWS = 200_000
"""Most rows one question may bring back."""
MAX_VALUE_BYTES = 4 * 2**20
"""Longest single value, and row."""
MAX_SECONDS = 60.0
"""Longest time spent reading one file."""

Value = str | int | float | bytes | None
Row = Mapping[str, Value]

_READING = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_PRAGMA,
    }
)


class Snapshot:
    """One open file. Text that is not UTF-8 comes back as bytes, so that nothing is guessed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        self.user_version = int(version)

    def tables(
        self, triggers: Collection[str] = (), virtual: Collection[str] = ()
    ) -> dict[str, tuple[str, ...]]:
        """Ordinary tables and their columns; SQLite's own are left out.

        Args:
            triggers: names of those that a store of this kind has. Nothing is ever written here,
                so that none can fire; any other is a sign that the file is not what it says.
            virtual: names of virtual tables that a store of this kind has. They are left out and
                must never be asked, so that what is behind one never runs.

        Raises:
            HostileSnapshot: the file brings views, other triggers, virtual tables or computed
                columns.
            UnreadableStore: the file is damaged.
        """
        names: list[str] = []
        for row in self.rows("SELECT type, name, sql FROM sqlite_schema"):
            kind, name, sql = row["type"], row["name"], row["sql"]
            if not isinstance(name, str) or not isinstance(kind, str):
                raise UnreadableStore("The store's schema holds a name that is no text.")
            if kind == "trigger" and name in triggers:
                continue
            if kind in ("view", "trigger"):
                raise HostileSnapshot(f"The store brings a {kind} along: {name[:80]!r}.")
            if kind == "table" and not name.startswith("sqlite_"):
                words = str(sql).upper().split(maxsplit=2)
                if words[:2] == ["CREATE", "VIRTUAL"] and name in virtual:
                    continue
                if words[:2] != ["CREATE", "TABLE"]:
                    raise HostileSnapshot(f"The store brings a virtual table along: {name[:80]!r}.")
                names.append(name)
        found: dict[str, tuple[str, ...]] = {}
        for name in names:
            quoted = name.replace('"', '""')
            columns = self.rows(f'PRAGMA table_xinfo("{quoted}")')
            # Not 0: a hidden or generated column, which would be computed by the file's own words.
            if any(column["hidden"] for column in columns):
                raise HostileSnapshot(f"The table {name[:80]!r} has computed columns.")
            found[name] = tuple(str(column["name"]) for column in columns)
        return found

    def plain(self, name: str, columns: Collection[str]) -> None:
        """Make sure that these are columns of an ordinary table, kept and not computed.

        Raises:
            HostileSnapshot: it is a view, a virtual table, or computes one of them.
            UnreadableStore: there is no such table, or it lacks one of them.
        """
        asked = f"SELECT type, sql FROM sqlite_schema WHERE name = '{name}'"  # noqa: S608
        found = self.rows(asked)
        if not found:
            raise UnreadableStore(f"The store has no table {name}.")
        words = str(found[0]["sql"]).upper().split(maxsplit=2)
        if found[0]["type"] != "table" or words[:2] != ["CREATE", "TABLE"]:
            raise HostileSnapshot(f"What the store calls {name} is no table.")
        hidden = {row["name"]: row["hidden"] for row in self.rows(f'PRAGMA table_xinfo("{name}")')}
        for column in columns:
            if column not in hidden:
                raise UnreadableStore(f"The table {name} has no column {column}.")
            if hidden[column]:
                raise HostileSnapshot(f"The table {name} computes its column {column}.")

    def rows(self, question: str) -> list[Row]:
        """All rows of a question of the reader's own.

        Raises:
            HostileSnapshot: more rows than a store may have, or too long in coming.
            UnreadableStore: the file is damaged.
        """
        try:
            found = self._connection.execute(question).fetchmany(MAX_ROWS + 1)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            # A damaged schema is quoted in SQLite's own message, bytes and all.
            raise _typed(error) from error
        if len(found) > MAX_ROWS:
            raise HostileSnapshot(f"The store has more than {MAX_ROWS} rows of a kind.")
        return [dict(zip(row.keys(), row, strict=True)) for row in found]


@contextmanager
def opened(file: Path, *, computed: bool = False) -> Iterator[Snapshot]:
    """Open a copy of a database for as long as the block lasts.

    Args:
        file: the database.
        computed: whether a store of this kind has columns that are computed by functions. Some
            releases of SQLite read no such schema unless they trust it. The reader then sees to it
            that it asks for none of these; see :meth:`Snapshot.plain`.

    Raises:
        HostileSnapshot: it is no plain file, or too big, or too much to read.
        UnreadableStore: it is not there, or no database.
    """
    with tempfile.TemporaryDirectory(prefix="memory-bench-store-") as folder:
        copy = Path(folder) / "store.db"
        _copy(file, copy)
        connection = _connect(copy, trusted=computed)
        try:
            try:
                snapshot = Snapshot(connection)
            except sqlite3.Error as error:
                raise _typed(error) from error
            yield snapshot
        finally:
            connection.close()


def _copy(file: Path, copy: Path) -> None:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise UnreadableStore(f"The snapshot has no {file.name}.") from error
    except OSError as error:
        raise HostileSnapshot(f"{file.name} is no plain file: {error.strerror}.") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise HostileSnapshot(f"{file.name} is no plain file.")
        if status.st_size > MAX_BYTES:
            raise HostileSnapshot(f"{file.name} is larger than {MAX_BYTES} bytes.")
        with os.fdopen(descriptor, "rb", closefd=False) as source, copy.open("wb") as target:
            shutil.copyfileobj(source, target)
    finally:
        os.close(descriptor)


def _connect(copy: Path, trusted: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{copy.as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None
    )
    connection.row_factory = sqlite3.Row
    connection.text_factory = _decoded
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    try:
        connection.execute(f"PRAGMA trusted_schema = {'ON' if trusted else 'OFF'}")
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA mmap_size = 0")
    except sqlite3.Error as error:
        connection.close()
        raise _typed(error) from error
    connection.set_authorizer(_only_reading)
    deadline = time.monotonic() + MAX_SECONDS
    connection.set_progress_handler(lambda: int(time.monotonic() > deadline), 10_000)
    return connection


def _decoded(raw: bytes) -> str | bytes:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _only_reading(action: int, *_about: str | None) -> int:
    # No function is among what is allowed: the readers' questions need none.
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _typed(error: Exception) -> HostileSnapshot | UnreadableStore:
    message = str(error)
    if "interrupted" in message:
        return HostileSnapshot(f"The store took longer than {MAX_SECONDS:.0f} s to read.")
    if "too big" in message:
        return HostileSnapshot(f"The store holds a value longer than {MAX_VALUE_BYTES} bytes.")
    return UnreadableStore(f"The store cannot be read: {message}.")
