"""The worker's own log, followed: the only place where it says what became of an answer.

The worker writes a line whenever an answer was kept or dropped, and goes on in silence either way.
So what a page's answer came to is read off here, and a page is never held to be taken because
nothing was heard.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from claude_mem_driver.errors import (
    Degraded,
    DriverError,
    GatewayRefused,
    ProviderFailed,
    UnusableReply,
)

_LINE = re.compile(
    r"\[[^\]]+\] \[(?P<level>[A-Z]+) *\] \[(?P<part>[A-Z_]+) *\] (?:\[session-(?P<session>\d+)\] )?"
    r"(?P<text>.*)"
)
_OF = re.compile(r"\bsessionDbId=(\d+)")
_STORED = re.compile(r"STORED \|.*?\bobsIds=\[(?P<ids>[\d,]*)\] \| summaryId=(?P<summary>\d+|none)")
_PREVIEW = re.compile(r"\bpreview=(?P<said>.*?)(?:, consecutiveContextOverflows=\d+)?\}\Z")
_ENDED = (
    "Idle timeout reached",
    "Generator exited",
    "Generator paused",
    "Generator killed",
    "Claude process exited",
)
"""How the worker says that an observer is gone. What was with it is lost."""
_TROUBLE = re.compile(
    r"(?:[\w ]+\. )?API Error(?:: (?P<status>\d{3})\b)?"
    r"|Invalid API key|Not logged in|Credit balance"
)
"""How what Claude Code puts in the place of an answer begins, where there was none."""
_DECLINED = "Claude Code is unable to respond to this request"
_SEARCH = re.compile(r"CHROMA|SEARCH")
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Line:
    """One line, with what follows it unnumbered."""

    level: str
    part: str
    session: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer of which something was kept, or which had nothing to keep."""

    observations: tuple[int, ...] = ()
    summary: int | None = None


@dataclass(frozen=True, slots=True)
class Dropped:
    """An answer, or an observer, that was lost, and with it what it was to note."""

    why: str
    said: bool = False
    """Whether the why is what came as an answer, in words that claude-mem does not read."""

    @property
    def prose(self) -> bool:
        """Whether a model did say it."""
        return self.said and not _TROUBLE.match(self.why)

    def error(self, what: str) -> DriverError:
        """What that is over the line protocol."""
        return failure(self.why, self.said, what)


def failure(why: str, said: bool, what: str) -> DriverError:
    """The error that stands for words of Claude Code's or of the worker's.

    Args:
        why: the words.
        said: whether they came in the place of an answer.
        what: what came to nothing.
    """
    shown = f"{what}: {why[:_SHOWN]}"
    trouble = _TROUBLE.match(why)
    if trouble and _DECLINED in why:
        return UnusableReply(f"{shown} (the model declined)")
    if trouble:
        return (GatewayRefused if trouble["status"] == "403" else ProviderFailed)(shown)
    if said:
        return UnusableReply(shown)
    # The worker waits three minutes for an answer, whatever Claude Code is still trying.
    return (ProviderFailed if "idle" in why.lower() else Degraded)(shown)


class Log:
    """The lines that were written since it was last asked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Path, int] = {}
        self._rest = ""

    def new(self) -> list[Line]:
        """Every whole line since."""
        # A file a day, and the day may move on between two looks.
        for file in sorted(self._folder.glob("*.log")):
            with file.open("rb") as opened:
                opened.seek(self._read.get(file, 0))
                some = opened.read()
            whole = some[: some.rfind(b"\n") + 1]
            self._read[file] = self._read.get(file, 0) + len(whole)
            self._rest += whole.decode("utf-8", "replace")
        lines, self._rest = list(parsed(self._rest)), ""
        return lines


def parsed(text: str) -> Iterator[Line]:
    """Lines, each with what follows it and has no head of its own."""
    found: Line | None = None
    for row in text.splitlines():
        head = _LINE.fullmatch(row)
        if head is None:
            if found is not None:
                found = Line(found.level, found.part, found.session, f"{found.text} {row.strip()}")
            continue
        if found is not None:
            yield found
        number = head["session"] or next(iter(_OF.findall(head["text"])), None)
        found = Line(head["level"], head["part"], int(number) if number else None, head["text"])
    if found is not None:
        yield found


def outcome(line: Line) -> Kept | Dropped | None:
    """What a line says became of an answer; none where it says nothing of that."""
    if stored := _STORED.match(line.text):
        summary = None if stored["summary"] == "none" else int(stored["summary"])
        return Kept(tuple(map(int, filter(None, stored["ids"].split(",")))), summary)
    if line.part == "PARSER" and line.level in ("WARN", "ERROR"):
        if not (said := _PREVIEW.search(line.text)):
            return None
        return Dropped(said["said"], said=True)
    if line.text.startswith(_ENDED) or (line.level == "ERROR" and line.session is not None):
        return Dropped(line.text)
    return None


def search_failed(lines: Iterable[Line]) -> str | None:
    """What went wrong with the vector search; the worker itself answers by words alone then."""
    for line in lines:
        if _SEARCH.search(line.part) and line.level in ("WARN", "ERROR"):
            return line.text[:_SHOWN]
    return None
