"""Layers in the one form that does not tell when, where and by whom they were made.

A layer is rewritten member by member as it comes: times are whole seconds and none is later than
the one given; other times are gone, and so are the names that the builder's machine has for owners,
but for root's, which every machine has. All else stays, byte for byte, so that a layer which is of
that form already is left as it is.
"""

from collections.abc import Iterable, Iterator

from runner.errors import CannotStart

BLOCK = 512
MOST_SAID = 1 << 20
"""Bytes of a header that says more of the next member, at most."""
_SIZE = slice(124, 136)
_TIME = slice(136, 148)
_SUM = slice(148, 156)
_OWNERS = ((slice(108, 116), slice(265, 297)), (slice(116, 124), slice(297, 329)))
_ROOT = b"root".ljust(32, b"\0")
_GNU = b"ustar  \0"
_GNU_TIMES = slice(345, 369)
_ZEROS = bytes(BLOCK)
# Files, links, devices, folders, pipes.
_MEMBERS = b"\x0001234567"
_SAYS_MORE = b"xg"
_LONG = b"LK"
# A name that has no room in the field is no root's.
_FORGOTTEN = {b"mtime", b"atime", b"ctime", b"uname", b"gname", b"LIBARCHIVE.creationtime"}


def canonical(chunks: Iterable[bytes], latest: int) -> Iterator[bytes]:
    """A layer in that form, a piece at a time.

    Args:
        chunks: the layer, a tar.
        latest: seconds since 1970 that are every later time.

    Raises:
        CannotStart: it is no tar, or holds what no layer of an engine does.
    """
    feed = _Feed(chunks)
    size: int | None = None
    time: int | None = None
    while True:
        head = feed.exactly(BLOCK)
        if head == _ZEROS:
            break
        kind = _checked(head)
        if kind in _SAYS_MORE:
            said = _said(feed, head)
            records = dict(_records(said))
            if kind == b"g" and records.keys() & {b"size", b"mtime"}:
                raise _strange("a size or a time for all members")
            if b"size" in records:
                size = _number(records[b"size"], 10)
            if b"mtime" in records:
                time = _whole(records[b"mtime"])
            kept = {key: value for key, value in records.items() if key not in _FORGOTTEN}
            if kept:
                text = b"".join(_record(key, value) for key, value in kept.items())
                yield _header(head, latest, size=len(text)) + text + bytes(-len(text) % BLOCK)
        elif kind in _LONG:
            said = _said(feed, head)
            yield _header(head, latest) + said + bytes(-len(said) % BLOCK)
        elif kind in _MEMBERS:
            length = _length(head) if size is None else size
            # Links and the like have no content, whatever they say of its size.
            length = length if kind in b"\x0007" else 0
            yield _header(head, latest, time=time)
            size = time = None
            yield from feed.pieces(length + -length % BLOCK)
        else:
            raise _strange(f"a member of the type {kind!r}")
    for piece in feed.rest():
        if piece.strip(b"\0"):
            raise _strange("something after its end")
    # Those who write them fill the end up to one size or another.
    yield 2 * _ZEROS


def _header(head: bytes, latest: int, *, size: int | None = None, time: int | None = None) -> bytes:
    """The header with what it may tell; the very same where that is all it tells."""
    new = bytearray(head)
    told = _field(head[_TIME], signed=True)
    wanted = min(told if time is None else time, latest)
    if wanted != told and (wanted >= 0 or told > latest):
        new[_TIME] = b"%011o\0" % max(wanted, 0)
    for number, name in _OWNERS:
        if head[name] != _ROOT or _field(head[number], signed=True) != 0:
            new[name] = bytes(32)
    if head[257:265] == _GNU:
        new[_GNU_TIMES] = bytes(24)
    if size is not None and size != _length(head):
        new[_SIZE] = b"%011o\0" % size
    if new == head:
        return head
    new[_SUM] = b" " * 8
    new[_SUM] = b"%06o\0 " % sum(new)
    return bytes(new)


def _checked(head: bytes) -> bytes:
    """The type of a member whose header is whole."""
    blank = head[: _SUM.start] + b" " * 8 + head[_SUM.stop :]
    if _number(head[_SUM], 8) != sum(blank):
        raise _strange("a damaged header")
    return head[156:157]


def _length(head: bytes) -> int:
    return _field(head[_SIZE])


def _field(raw: bytes, *, signed: bool = False) -> int:
    if raw[0] in (0x80, 0xFF):
        # Numbers that octal digits have no room for.
        value = int.from_bytes(raw[1:], "big", signed=raw[0] == 0xFF)
        if value < 0 and not signed:
            raise _strange("a negative size")
        return value
    return _number(raw, 8)


def _number(raw: bytes, base: int) -> int:
    text = raw.strip(b" \0")
    if not text:
        return 0
    # Python takes more for a number than a tar does: signs, underscores.
    if not text.isdigit():
        raise _strange("a number that is none")
    try:
        return int(text, base)
    except ValueError as error:
        raise _strange("a number that is none") from error


def _whole(seconds: bytes) -> int:
    """A time in whole seconds, those that have passed."""
    digits, _, rest = seconds.removeprefix(b"-").partition(b".")
    if not digits.isdigit() or (rest and not rest.isdigit()):
        raise _strange("a time that is none")
    whole = int(digits)
    return -whole - bool(rest.strip(b"0")) if seconds.startswith(b"-") else whole


def _said(feed: "_Feed", head: bytes) -> bytes:
    length = _length(head)
    if length > MOST_SAID:
        raise _strange(f"a header of {length} bytes")
    return feed.exactly(length + -length % BLOCK)[:length]


def _records(said: bytes) -> Iterator[tuple[bytes, bytes]]:
    """What a header says of the next member: key and value."""
    at = 0
    while at < len(said):
        space = said.find(b" ", at, at + 20)
        length = _number(said[at:space], 10) if space > at else 0
        record = said[space + 1 : at + length]
        key, equals, value = record.partition(b"=")
        if space + 1 >= at + length or at + length > len(said) or not equals:
            raise _strange("a damaged header")
        if not value.endswith(b"\n") or not key:
            raise _strange("a damaged header")
        yield key, value[:-1]
        at += length


def _record(key: bytes, value: bytes) -> bytes:
    """One record, which begins with its own length."""
    body = b" " + key + b"=" + value + b"\n"
    length = len(body)
    while length != len(body) + len(b"%d" % length):
        length = len(body) + len(b"%d" % length)
    return b"%d" % length + body


def _strange(what: str) -> CannotStart:
    return CannotStart(
        f"A layer that the engine saved is none: it holds {what}.",
        hint="Its storage may be damaged. Build the image again.",
    )


class _Feed:
    """Bytes as they come, taken by count."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._chunk = b""
        self._at = 0

    def exactly(self, count: int) -> bytes:
        """So many bytes."""
        end = self._at + count
        if end <= len(self._chunk):
            data = self._chunk[self._at : end]
            self._at = end
            return data
        return b"".join(self.pieces(count))

    def pieces(self, count: int) -> Iterator[bytes]:
        """So many bytes, in pieces as they come."""
        while count:
            if self._at == len(self._chunk):
                self._next()
            piece = self._chunk[self._at : self._at + count]
            self._at += len(piece)
            count -= len(piece)
            yield piece

    def rest(self) -> Iterator[bytes]:
        """All that is left."""
        if self._at < len(self._chunk):
            yield self._chunk[self._at :]
        yield from self._chunks

    def _next(self) -> None:
        for chunk in self._chunks:
            if chunk:
                self._chunk, self._at = chunk, 0
                return
        raise CannotStart("A layer that the engine saved is cut off.", hint="Try again.")
