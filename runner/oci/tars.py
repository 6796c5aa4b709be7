"""Tar archives of one form: for names and contents there is one right sequence of bytes.

Every member is a plain file under the ``ustar`` format, of root, mode 0644, from 1970; its content
is filled up with zero bytes; two blocks of zeros end the archive, and nothing follows them. A
reader that asks for exactly that notices any byte that is another.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from runner.errors import DamagedArchive

BLOCK = 512
MOST = 8**11 - 1
"""Bytes a member can hold: what its header has digits for."""
_NAME = re.compile(r"[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*")
_NAME_BYTES = 100
_SIZE = slice(124, 136)
END = bytes(2 * BLOCK)


class Out(Protocol):
    """Takes bytes, all of them."""

    def write(self, data: bytes, /) -> object:
        """Takes them."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive, and where its content begins."""

    name: str
    size: int
    offset: int


def header(name: str, size: int) -> bytes:
    """The one header of a member.

    Raises:
        ValueError: the format has no room for the name or the size.
    """
    raw = name.encode("ascii", errors="replace")
    if len(raw) > _NAME_BYTES or _NAME.fullmatch(name) is None:
        raise ValueError(f"{name!r} cannot be a name in an archive")
    if not 0 <= size <= MOST:
        raise ValueError(f"{name} has {size} bytes; an archive can hold {MOST} of one file")
    block = bytearray(BLOCK)
    block[0 : len(raw)] = raw
    block[100:108] = b"0000644\0"
    block[108:116] = block[116:124] = b"0000000\0"
    block[_SIZE] = b"%011o\0" % size
    block[136:148] = b"%011o\0" % 0
    block[148:156] = b" " * 8
    block[156:157] = b"0"
    block[257:265] = b"ustar\x0000"
    block[265:269] = block[297:301] = b"root"
    block[329:337] = block[337:345] = b"0000000\0"
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def padding(size: int) -> bytes:
    """What fills the last block of a content of that many bytes."""
    return bytes(-size % BLOCK)


class Writer:
    """Writes members in the order they are given."""

    def __init__(self, out: Out) -> None:
        self._out = out

    def add(self, name: str, size: int, chunks: Iterable[bytes]) -> None:
        """Write one member.

        Raises:
            ValueError: it cannot be named so, or its content is not of that size.
        """
        self._out.write(header(name, size))
        written = 0
        for chunk in chunks:
            written += len(chunk)
            if written > size:
                break
            self._out.write(chunk)
        if written != size:
            raise ValueError(f"{name} was to have {size} bytes and has others")
        self._out.write(padding(size))

    def end(self) -> None:
        """Write what ends an archive."""
        self._out.write(END)


def members(file: BinaryIO) -> Iterator[Member]:
    """Every member of an archive, in order, from its start to its very end; contents are skipped.

    Args:
        file: can be sought in.

    Raises:
        DamagedArchive: a byte that is no content is not as it has to be.
    """
    length = file.seek(0, os.SEEK_END)
    at = file.seek(0)
    block = _exactly(file, BLOCK, at)
    while block != END[:BLOCK]:
        member = _member(block, at)
        filler = padding(member.size)
        past = member.offset + member.size
        if past > length:
            raise DamagedArchive(f"The archive ends within {member.name}.")
        yield member
        file.seek(past)
        rest = _exactly(file, len(filler) + BLOCK, past)
        if rest[: len(filler)] != filler:
            raise DamagedArchive(f"What follows {member.name} in the archive is not as written.")
        at, block = past + len(filler), rest[len(filler) :]
    if _exactly(file, BLOCK, at + BLOCK) != block:
        raise DamagedArchive(f"The archive does not end as it has to, at byte {at + BLOCK}.")
    if at + len(END) != length:
        raise DamagedArchive(f"Something follows the end of the archive, at byte {at + len(END)}.")


def _member(block: bytes, at: int) -> Member:
    try:
        name = block[:_NAME_BYTES].split(b"\0", 1)[0].decode("ascii")
        size = int(block[_SIZE][:-1], 8)
        right = header(name, size)
    except ValueError as error:
        raise DamagedArchive(f"There is no member's header at byte {at} of the archive.") from error
    if right != block:
        wrong = next(place for place, byte in enumerate(block) if byte != right[place])
        raise DamagedArchive(
            f"The header of {name} in the archive is not as written, at byte {at + wrong}."
        )
    return Member(name, size, at + BLOCK)


def _exactly(file: BinaryIO, count: int, at: int) -> bytes:
    data = file.read(count)
    if len(data) != count:
        raise DamagedArchive(f"The archive is cut off at byte {at + len(data)}.")
    return data
