"""Points of Qdrant's local store, read without running anything.

Qdrant keeps each point as a pickle, and unpickling a stranger's bytes runs whatever they say. A
pickle is a small program. What is carried out of it here are the instructions that a point's plain
data is made of; a class is only ever a name, an object only that name and its state, and any other
instruction ends the reading.
"""

import pickletools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from runner.systems._rows import Unmappable

POINT = ("qdrant_client.http.models.models", "PointStruct")
CLASSES = frozenset({POINT, (POINT[0], "SparseVector")})
"""What a point is made of."""
MAX_INSTRUCTIONS = 100_000
"""Of one point; one with a vector of a thousand numbers takes a good thousand."""


@dataclass(slots=True)
class Made:
    """An object of a class that exists here by name only."""

    of: tuple[str, str]
    state: Any = None


@dataclass(frozen=True, slots=True)
class Point:
    """One point: its id and what is stored beside its vector."""

    id: str
    payload: Mapping[str, Any]


def point(pickled: bytes) -> Point:
    """The point in a pickle.

    Raises:
        Unmappable: it is no pickle of a point, or one that holds more than plain data.
    """
    made = _Reading().read(pickled)
    state = made.state if isinstance(made, Made) and made.of == POINT else None
    fields = state.get("__dict__") if isinstance(state, dict) else None
    if not isinstance(fields, dict):
        raise Unmappable("it is no point")
    id_, payload = fields.get("id"), fields.get("payload")
    if not isinstance(id_, str) or not isinstance(payload, dict):
        raise Unmappable("the point has no id or nothing stored beside its vector")
    return Point(id_, payload)


class _Stop(Exception):
    """The pickle is at its end."""


@dataclass(slots=True)
class _Reading:
    """A stack and what was remembered of it, as pickles use them."""

    stack: list[Any] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    memo: dict[int, Any] = field(default_factory=dict)

    def read(self, pickled: bytes) -> Any:
        try:
            for count, (code, argument, _at) in enumerate(pickletools.genops(pickled)):
                if count > MAX_INSTRUCTIONS:
                    raise Unmappable("the point is too large")
                act = _ACTS.get(code.name)
                if act is None:
                    raise Unmappable(f"the point holds more than plain data ({code.name})")
                act(self, argument)
        except _Stop:
            if len(self.stack) == 1 and not self.marks:
                return self.stack[0]
        except (ValueError, TypeError, AttributeError, LookupError, OverflowError) as error:
            raise Unmappable(f"the point's pickle is damaged: {str(error)[:100]}") from error
        raise Unmappable("the point's pickle is damaged")

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def pop(self) -> Any:
        if self.marks and len(self.stack) <= self.marks[-1]:
            raise LookupError("nothing is left above the mark")
        return self.stack.pop()

    def above(self) -> list[Any]:
        at = self.marks.pop()
        taken, self.stack[at:] = self.stack[at:], []
        return taken

    # ------------------------------------------------------------ what instructions do

    def stop(self, _: Any) -> None:
        raise _Stop

    def mark(self, _: Any) -> None:
        self.marks.append(len(self.stack))

    def remember(self, _: Any) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def recall(self, number: int) -> None:
        self.push(self.memo[number])

    def named(self, _: Any) -> None:
        name, module = self.pop(), self.pop()
        if (module, name) not in CLASSES:
            raise Unmappable(f"the point holds a {module}.{name}"[:200])
        self.push((module, name))

    def new(self, _: Any) -> None:
        arguments, of = self.pop(), self.pop()
        if of not in CLASSES or arguments != ():
            raise Unmappable("the point holds something that is made in a way of its own")
        self.push(Made(of))

    def build(self, _: Any) -> None:
        state, made = self.pop(), self.pop()
        if not isinstance(made, Made):
            raise Unmappable("the point changes something that is no part of it")
        made.state = state
        self.push(made)

    def set_item(self, _: Any) -> None:
        value, key = self.pop(), self.pop()
        _dict(self.stack[-1])[key] = value

    def set_items(self, _: Any) -> None:
        given = self.above()
        _dict(self.stack[-1]).update(zip(given[::2], given[1::2], strict=True))

    def append(self, _: Any) -> None:
        value = self.pop()
        _list(self.stack[-1]).append(value)

    def extend(self, _: Any) -> None:
        given = self.above()
        _list(self.stack[-1]).extend(given)

    def add_items(self, _: Any) -> None:
        given = self.above()
        if not isinstance(self.stack[-1], set):
            raise TypeError("no set to add to")
        self.stack[-1].update(given)

    def tuple_above(self, _: Any) -> None:
        self.push(tuple(self.above()))


def _dict(value: Any) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise TypeError("no table to set in")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("no list to append to")
    return value


def _tuple(size: int) -> Callable[[_Reading, Any], None]:
    def act(reading: _Reading, _: Any) -> None:
        taken = [reading.pop() for _each in range(size)]
        reading.push(tuple(reversed(taken)))

    return act


def _making(kind: type) -> Callable[[_Reading, Any], None]:
    return lambda reading, _: reading.push(kind())


def _constant(value: Any) -> Callable[[_Reading, Any], None]:
    return lambda reading, _: reading.push(value)


_VALUES = (
    *("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"),
    *("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"),
)
_ACTS: Mapping[str, Callable[[_Reading, Any], None]] = MappingProxyType(
    {
        "PROTO": lambda reading, _: None,
        "FRAME": lambda reading, _: None,
        "STOP": _Reading.stop,
        "MARK": _Reading.mark,
        "MEMOIZE": _Reading.remember,
        "BINGET": _Reading.recall,
        "LONG_BINGET": _Reading.recall,
        "STACK_GLOBAL": _Reading.named,
        "NEWOBJ": _Reading.new,
        "BUILD": _Reading.build,
        "SETITEM": _Reading.set_item,
        "SETITEMS": _Reading.set_items,
        "APPEND": _Reading.append,
        "APPENDS": _Reading.extend,
        "ADDITEMS": _Reading.add_items,
        "TUPLE": _Reading.tuple_above,
        "NONE": _constant(None),
        "NEWTRUE": _constant(True),
        "NEWFALSE": _constant(False),
        "EMPTY_DICT": _making(dict),
        "EMPTY_LIST": _making(list),
        "EMPTY_SET": _making(set),
        "EMPTY_TUPLE": _making(tuple),
        **{f"TUPLE{size}": _tuple(size) for size in (1, 2, 3)},
        **dict.fromkeys(_VALUES, _Reading.push),
    }
)
