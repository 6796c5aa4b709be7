"""Streams under zstd, of one form: one frame that tells its size and carries a checksum."""

from collections.abc import Iterable, Iterator
from typing import Protocol

import zstandard

from runner.errors import DamagedArchive

LEVEL = 9
LEVELS = range(1, 20)
"""Higher ones need more memory to read than others grant."""
MOST = 64 << 30
"""Bytes a stream may unpack to, unless less is allowed."""
_WINDOW = 128 << 20
"""Bytes of what came before that a frame may refer to: what every reader grants."""
_JOB = 8 << 20
"""Bytes that one thread compresses at a time: few enough that the last ones do not keep the others
waiting for long, many enough to cost 2 in 1000 of the size."""
_MAGIC = (0xFD2FB528).to_bytes(4, "little")
_LEAST = 5
_BLOCK = 128 << 10
_RLE, _RESERVED = 1, 3
_CHECKSUM = 4


class Source(Protocol):
    """Gives bytes."""

    def read(self, count: int, /) -> bytes:
        """So many at most; none at its end alone."""


def compress(
    chunks: Iterable[bytes], size: int, *, level: int = LEVEL, threads: int = 1
) -> Iterator[bytes]:
    """A stream, compressed. The same bytes come out whatever the number of threads.

    Args:
        chunks: the stream.
        size: bytes it holds.
        level: one of ``LEVELS``.
        threads: at least 1.

    Raises:
        ValueError: a level or number of threads that cannot be, or a stream of another size.
    """
    if level not in LEVELS or threads < 1:
        raise ValueError(f"level {level} with {threads} threads cannot be")
    # With no thread it would compress in this one, and to other bytes than with any number.
    how = zstandard.ZstdCompressionParameters.from_level(
        level,
        source_size=size,
        threads=threads,
        job_size=_JOB,
        write_checksum=True,
        write_content_size=True,
    )
    packer = zstandard.ZstdCompressor(compression_params=how).compressobj(size=size)
    try:
        for chunk in chunks:
            if packed := packer.compress(chunk):
                yield packed
        yield packer.flush()
    except zstandard.ZstdError as error:
        raise ValueError(f"the stream does not hold {size} bytes: {error}") from error


def decompress(source: Source, *, most: int = MOST) -> Iterator[bytes]:
    """What was compressed, in pieces of no more than a block or two, whatever the source holds.

    Raises:
        DamagedArchive: it is no such frame, is damaged or cut off, refers to what is not in it,
            would unpack to more than ``most`` bytes, or something follows it.
    """
    head = _exactly(source, _LEAST)
    if not head.startswith(_MAGIC):
        raise DamagedArchive("What should be compressed with zstd is not.")
    try:
        head += _exactly(source, zstandard.frame_header_size(head) - _LEAST)
        told = zstandard.get_frame_parameters(head)
    except zstandard.ZstdError as error:
        raise DamagedArchive(f"The head of a compressed stream is damaged: {error}.") from error
    if not told.has_checksum:
        raise DamagedArchive("A compressed stream carries no checksum.")
    if told.content_size == zstandard.CONTENTSIZE_UNKNOWN:
        raise DamagedArchive("A compressed stream does not tell its size.")
    if told.content_size > most:
        raise DamagedArchive(
            f"A compressed stream would unpack to {told.content_size} bytes; {most} are allowed."
        )
    if told.dict_id:
        raise DamagedArchive("A compressed stream needs a dictionary, and there is none.")
    if told.window_size > _WINDOW:
        raise DamagedArchive(f"A compressed stream needs {told.window_size} bytes of memory.")
    unpacked = 0
    unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
    try:
        unpacker.decompress(head)
        # Block by block, as one of three bytes may unpack to all of a block.
        for block in _blocks(source):
            if piece := unpacker.decompress(block):
                unpacked += len(piece)
                yield piece
    except zstandard.ZstdError as error:
        raise DamagedArchive(f"A compressed stream is damaged: {error}.") from error
    if not unpacker.eof or unpacker.unused_data or unpacked != told.content_size:
        raise DamagedArchive("A compressed stream does not hold what its head tells.")
    if source.read(1):
        raise DamagedArchive("Something follows a compressed stream.")


def _blocks(source: Source) -> Iterator[bytes]:
    """The blocks of a frame, each with its head; the last with the checksum behind it."""
    last = False
    while not last:
        head = _exactly(source, 3)
        word = int.from_bytes(head, "little")
        last, kind, size = bool(word & 1), word >> 1 & 3, word >> 3
        if kind == _RESERVED or size > _BLOCK:
            raise DamagedArchive("A block of a compressed stream is damaged.")
        body = _exactly(source, 1 if kind == _RLE else size)
        yield head + body + (_exactly(source, _CHECKSUM) if last else b"")


def _exactly(source: Source, count: int) -> bytes:
    data = source.read(count) if count else b""
    while len(data) < count:
        more = source.read(count - len(data))
        if not more:
            raise DamagedArchive("A compressed stream is cut off.")
        data += more
    return data
