"""Recorded model calls, in one file: what was asked, in canonical form, and what came back.

A cassette holds the runs of one protocol, each with its calls in the order they were made. The
file is gzip over JSON, the same bytes for the same content, and carries its own digest. Nothing
here knows of a network, a key or a container, so the orchestrator and the gateway share it.
"""

import base64
import difflib
import gzip
import hashlib
import io
import os
import zlib
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import Field, ValidationError

from runner.errors import AlteredReport, UsageError
from runner.model import Fixtures, Noun

MAX_BYTES = 1 << 30
"""More than any cassette holds once it is unpacked."""
KEPT_HEADERS = frozenset({"content-type", "request-id", "retry-after", "x-should-retry"})
"""Headers of a reply that a recording keeps. An allow-list: others may name an account."""

Where = Literal[
    "/v1/messages",
    "/v1/messages/count_tokens",
    "/v1/messages/batches",
    "/v1/chat/completions",
]


class Entry(Noun):
    """One recorded call."""

    path: Where
    step: str
    """The step of the run it was made in."""
    purpose: str
    model: str
    """The model asked for."""
    stream: bool = False
    key: str
    """What it is found by: see :func:`key_of`."""
    canonical: str
    """The request without what differs from call to call, as the system's wire writes it."""
    status: int = Field(ge=100, le=599)
    headers: dict[str, str] = Field(default_factory=dict)
    body: str = ""
    """The reply as it came; of a batch, the reply to its creation."""
    encoding: Literal["utf-8", "base64"] = "utf-8"
    """How ``body`` is written: base64 where it is no text."""
    cut: bool = False
    """Whether the reply broke off there."""
    failed: str = ""
    """Why no reply came, or not all of one, as the ledger has it, such as ``connect``."""
    detail: str = ""
    """The same in words."""
    ended: str = ""
    """Of a batch: its last state."""
    results: str = ""
    """Of a batch: its results, JSON lines."""
    requests: tuple[str, ...] = ()
    """Of a batch: the ids its client gave its requests, in their order."""

    @property
    def content(self) -> bytes:
        """The reply's body, byte for byte."""
        return base64.b64decode(self.body) if self.encoding == "base64" else self.body.encode()


def key_of(path: str, stream: bool, canonical: bytes) -> str:
    """What a recorded call is found by: where it goes, how it wants its answer, what it asks."""
    head = f"{path}\n{'stream' if stream else 'whole'}\n".encode()
    return hashlib.sha256(head + canonical).hexdigest()


def written(body: bytes) -> tuple[str, Literal["utf-8", "base64"]]:
    """A reply's bytes as an entry holds them: ``(body, encoding)``."""
    try:
        return body.decode(), "utf-8"
    except UnicodeDecodeError:
        return base64.b64encode(body).decode(), "base64"


class Cassette(Noun):
    """All recorded calls of one protocol."""

    cassette_version: Literal[1] = 1
    bench: str
    """Version of the bench that recorded it."""
    system: str
    suite: str
    case: str
    fixture_variant: str | None = None
    fixtures: Fixtures = "own"
    recorded_from: datetime
    recorded_to: datetime
    models: tuple[str, ...]
    """Every model that was asked, sorted."""
    runs: dict[str, tuple[Entry, ...]]
    """By the run's id, in the order the calls were made."""

    def sha256(self) -> str:
        """Digest of everything in it."""
        return hashlib.sha256(_plain(self)).hexdigest()


def models_of(runs: Iterable[Iterable[Entry]]) -> tuple[str, ...]:
    """Every model the recorded calls ask, sorted: what ``Cassette.models`` holds."""
    return tuple(sorted({entry.model for entries in runs for entry in entries}))


def dump(cassette: Cassette) -> bytes:
    """The file's bytes: the same for the same content."""
    document = orjson.dumps({"sha256": cassette.sha256(), "cassette": _json(cassette)})
    buffer = io.BytesIO()
    # No name and no time: neither is content.
    with gzip.GzipFile(fileobj=buffer, mode="wb", filename="", mtime=0) as packed:
        packed.write(document)
    return buffer.getvalue()


def save(cassette: Cassette, path: Path) -> str:
    """Write ``path``, whole or not at all; returns the cassette's digest.

    Raises:
        OSError: when it cannot be written.
    """
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with fresh.open("wb") as file:
            file.write(dump(cassette))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    return cassette.sha256()


def load(path: Path) -> Cassette:
    """Read a cassette and check it against its digest.

    Raises:
        UsageError: there is no such file.
        AlteredReport: it is no cassette, or not what its digest says.
    """
    try:
        packed = path.read_bytes()
    except OSError as problem:
        raise UsageError(f"The cassette {path} cannot be read: {problem.strerror}.") from problem
    return parse(packed, str(path))


def parse(packed: bytes, name: str) -> Cassette:
    """A cassette from its file's bytes, checked against its digest.

    Raises:
        AlteredReport: it is no cassette, or not what its digest says.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            plain = file.read(MAX_BYTES + 1)
        if len(plain) > MAX_BYTES:
            raise ValueError(f"it unpacks to more than {MAX_BYTES} bytes")
        document = orjson.loads(plain)
        stated = document["sha256"]
        cassette = Cassette.model_validate(document["cassette"])
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError) as problem:
        raise AlteredReport(f"{name} is no cassette: {_short(problem)}.") from problem
    if cassette.sha256() != stated:
        raise AlteredReport(
            f"The cassette {name} does not match its own digest.",
            hint="It was changed after it was recorded; record it again.",
        )
    return cassette


def difference(recorded: str, asked: str, *, lines: int = 40) -> str:
    """How a request differs from a recorded one, a line a value, as a unified diff."""
    shown = list(
        difflib.unified_diff(
            _spread(recorded), _spread(asked), "recorded", "asked", lineterm="", n=1
        )
    )
    cut = [line[:_SHOWN] for line in shown[:lines]]
    return "\n".join([*cut, f"... {len(shown) - lines} more lines"] if len(shown) > lines else cut)


def _spread(canonical: str) -> list[str]:
    """A canonical request, a value a line and long texts by their own lines, so that a diff shows
    what differs and not that something does."""
    try:
        document = orjson.loads(canonical)
    except orjson.JSONDecodeError:
        return canonical.split("\n")
    return list(_leaves(document, ""))


def _leaves(value: Any, path: str) -> Iterable[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{number}]")
    elif isinstance(value, str):
        # At newlines only, and whole: what differs anywhere is to show.
        for line in value.split("\n"):
            yield f"{path}: {line}"
    else:
        yield f"{path}: {orjson.dumps(value).decode()}"


_SHOWN = 400
"""How much of a long line a diff shows."""


def _json(cassette: Cassette) -> Any:
    return cassette.model_dump(mode="json")


def _plain(cassette: Cassette) -> bytes:
    return orjson.dumps(_json(cassette), option=orjson.OPT_SORT_KEYS)


def _short(problem: Exception) -> str:
    if isinstance(problem, ValidationError):
        error = problem.errors(include_input=False)[0]
        return f"{'.'.join(map(str, error['loc']))}: {error['msg']}"
    return f"{type(problem).__name__}: {problem}"
