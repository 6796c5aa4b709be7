"""Reads what strace writes, whole or not at all: a line it cannot read is an error.

Written for ``strace --follow-forks --output=FILE``: a process id before every line, and calls of
several processes between each other (``<unfinished ...>``, ``<... resumed>``).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tests.containers._quiet.values import Odd, Struct, Text, Value, fields_of


class Unread(ValueError):
    """A trace that cannot be read: which line, and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Call:
    """One system call."""

    line: int
    """Where it begins in the trace, from 1."""
    process: int
    """The thread that made it."""
    name: str
    fields: Struct
    """Its arguments, which may have names."""
    result: int | None
    """What it returned; none when it never did."""
    error: str
    """The name of the error it failed with; empty where it did not."""
    text: str
    """As strace wrote it, its pieces put together."""

    @property
    def args(self) -> tuple[Value, ...]:
        """Its arguments without their names."""
        return tuple(value for _, value in self.fields.fields)


@dataclass(frozen=True, slots=True)
class Trace:
    """All calls of all processes, in the order they began."""

    calls: tuple[Call, ...]
    ended: Mapping[int, str]
    """How each process ended that did."""
    _parents: Mapping[int, tuple[int, int]] = field(repr=False)
    _programs: Mapping[int, list[tuple[int, str]]] = field(repr=False)

    def program(self, call: Call) -> str:
        """The program that made a call: the file of the last ``execve`` of the process, or of the
        one it came from."""
        process, line = call.process, call.line
        while True:
            known = [path for at, path in self._programs.get(process, ()) if at <= line]
            if known:
                return known[-1]
            if process not in self._parents:
                return "?"
            process, line = self._parents[process]


UNSEEN = "???"
"""The name of a call that strace came too late to look at."""
_LINE = re.compile(r"(\d+) +(.*)")
_ENDED = re.compile(r"\+\+\+ (exited with \d+|killed by \w+(?: \(core dumped\))?) \+\+\+")
_REPLACED = re.compile(r"\+\+\+ superseded by execve in pid (\d+) \+\+\+")
_STOPPED = re.compile(r"--- (?:SIG\w+ \{.*\}|stopped by SIG\w+) ---")
_BEGUN = re.compile(r"(\w+|\?{3})\((.*) <unfinished \.\.\.>")
_MOVED = re.compile(r"(execve(?:at)?\(.*) <pid changed to (\d+) \.\.\.>")
_RESUMED = re.compile(r"<\.\.\. (\w+|\?{3}) resumed>(.*)")
_GONE = re.compile(r"(.*?)(?: <unfinished \.\.\.>)?\) += \?")
_CALLED = re.compile(r"(\w+|\?{3})\(")
_RETURNED = re.compile(
    r" += (?:(?P<none>\?)|(?P<number>-?\d+)|(?P<hex>0x[0-9a-f]+))"
    r"(?: (?P<error>[A-Z]\w*) \(.*\))?(?: \(.*\))?"
)
_FORKS = frozenset({"fork", "vfork", "clone", "clone3"})
_EXECS = frozenset({"execve", "execveat"})


def read(lines: Iterable[str]) -> Trace:
    """A trace out of its lines.

    Raises:
        Unread: a line is of no form known here.
    """
    calls: list[Call] = []
    ended: dict[int, str] = {}
    begun: dict[int, tuple[int, str]] = {}
    for number, raw in enumerate(lines, start=1):
        line = raw.rstrip("\n")
        found = _LINE.fullmatch(line)
        if found is None:
            raise Unread(f"line {number}: no process id: {line[:200]!r}")
        process, rest = int(found[1]), found[2]
        if match := _ENDED.fullmatch(rest):
            calls += _unreturned(begun, process)
            ended[process] = match[1]
        elif _STOPPED.fullmatch(rest):
            continue
        # A thread that runs a program takes the place of its process, in the middle of its call.
        elif match := _REPLACED.fullmatch(rest):
            if (thread := int(match[1])) in begun:
                calls += _unreturned(begun, process)
                begun[process] = begun.pop(thread)
        elif match := _MOVED.fullmatch(rest):
            calls += _unreturned(begun, int(match[2]))
            begun[int(match[2])] = (number, match[1])
        elif match := _RESUMED.fullmatch(rest):
            at, start = begun.pop(process, (number, ""))
            if not start.startswith(f"{match[1]}("):
                raise Unread(f"line {number}: resumes what did not begin: {line[:200]!r}")
            calls.append(_call(at, process, start + match[2]))
        elif process in begun:
            raise Unread(f"line {number}: another call is not over: {line[:200]!r}")
        elif match := _BEGUN.fullmatch(rest):
            begun[process] = (number, f"{match[1]}({match[2]}")
        else:
            calls.append(_call(number, process, rest))
    for process in list(begun):
        calls += _unreturned(begun, process)
    calls.sort(key=lambda call: call.line)
    _check_unseen(calls, ended)
    return Trace(tuple(calls), ended, _parents(calls), _programs(calls))


def _check_unseen(calls: Iterable[Call], ended: Mapping[int, str]) -> None:
    """A process that is killed as it enters a call is gone before strace can look which it was, and
    so is the call; nothing else may go unseen."""
    unseen: dict[int, Call] = {}
    for call in calls:
        if call.process in unseen or (call.name == UNSEEN and call.result is not None):
            raise Unread(f"line {call.line}: goes on after a call that was not seen: {call.text!r}")
        if call.name == UNSEEN:
            unseen[call.process] = call
    for process, call in unseen.items():
        if process not in ended:
            raise Unread(f"line {call.line}: a call that was not seen: {call.text!r}")


def _unreturned(begun: dict[int, tuple[int, str]], process: int) -> Iterator[Call]:
    if process in begun:
        line, start = begun.pop(process)
        yield _call(line, process, f"{start.rstrip().rstrip(',')}) = ?")


def _call(line: int, process: int, text: str) -> Call:
    called = _CALLED.match(text)
    if called is None:
        raise Unread(f"line {line}: no call: {text[:200]!r}")
    if gone := _GONE.fullmatch(text):
        text = f"{gone[1].rstrip().rstrip(',')}) = ?"
    try:
        fields, end = fields_of(text, called.end(), ")")
    except Odd as odd:
        raise Unread(f"line {line}: {odd} in {text[:400]!r}") from None
    # The token takes the spaces behind the bracket too, and there is at least one.
    returned = _RETURNED.fullmatch(f" {text[end:]}")
    if returned is None:
        raise Unread(f"line {line}: no result: {text[max(0, end - 40) :][:200]!r}")
    given = returned["number"] or returned["hex"]
    return Call(
        line=line,
        process=process,
        name=called[1],
        fields=Struct(fields),
        result=int(given, 0) if given else None,
        error=returned["error"] or "",
        text=text,
    )


def _parents(calls: Iterable[Call]) -> dict[int, tuple[int, int]]:
    made = (call for call in calls if call.name in _FORKS and (call.result or 0) > 0)
    return {call.result: (call.process, call.line) for call in made if call.result}


def _programs(calls: Iterable[Call]) -> dict[int, list[tuple[int, str]]]:
    found: dict[int, list[tuple[int, str]]] = {}
    for call in calls:
        if call.name in _EXECS and call.result == 0:
            path = next((arg.text for arg in call.args if isinstance(arg, Text)), "?")
            found.setdefault(call.process, []).append((call.line, path))
    return found
