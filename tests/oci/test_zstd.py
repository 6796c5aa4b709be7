"""Compressed streams: one frame with a size and a checksum, and nothing else is read."""

import io
import random
import struct
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import DamagedArchive
from runner.oci import zstd
from tests.oci._kit import noise


def packed(data: bytes, *, piece: int = 70_000, **how: int) -> bytes:
    pieces = (data[at : at + piece] for at in range(0, len(data), piece))
    return b"".join(zstd.compress(pieces, len(data), **how))


def read(data: bytes, **how: int) -> bytes:
    return b"".join(zstd.decompress(io.BytesIO(data), **how))


MIXED = noise(3000) + b"a" * 400_000 + noise(150_000, 1) + bytes(range(256)) * 300


@given(st.binary(max_size=3000), st.integers(1, 5), st.integers(1, 3))
def test_what_is_compressed_comes_back(data: bytes, level: int, threads: int) -> None:
    assert read(packed(data, piece=700, level=level, threads=threads)) == data


def test_the_bytes_depend_on_neither_threads_nor_pieces() -> None:
    data = MIXED * 20
    forms = {
        packed(data, piece=piece, level=1, threads=threads)
        for threads in (1, 2, 3)
        for piece in (999, 1 << 20)
    }
    assert len(forms) == 1
    assert zstandard.ZstdDecompressor().decompress(forms.pop()) == data


def test_every_cut_and_everything_behind_the_end_is_noticed() -> None:
    data = packed(noise(2000) + bytes(5000))
    for length in range(len(data)):
        with pytest.raises(DamagedArchive):
            read(data[:length])
    skippable = struct.pack("<II", 0x184D2A50, 3) + b"abc"
    for more in (b"\0", b"x", data, packed(b""), skippable):
        with pytest.raises(DamagedArchive, match="follows"):
            read(data + more)
    with pytest.raises(DamagedArchive, match="is not"):
        read(skippable + data)


def test_flipped_bits_are_noticed() -> None:
    data = packed(MIXED)
    chosen = random.Random(7)
    places = [*range(30), *(chosen.randrange(len(data)) for _ in range(400))]
    for place in places:
        other = bytearray(data)
        other[place] ^= 1 << chosen.randrange(8)
        with pytest.raises(DamagedArchive):
            read(bytes(other))


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"write_checksum": False}, "no checksum"),
        ({"write_content_size": False}, "does not tell its size"),
    ],
)
def test_frames_of_another_form_are_refused(how: dict[str, Any], says: str) -> None:
    usual: dict[str, Any] = {"write_checksum": True, "write_content_size": True}
    data = zstandard.ZstdCompressor(**(usual | how)).compress(b"words" * 100)
    with pytest.raises(DamagedArchive, match=says):
        read(data)


def test_a_dictionary_and_a_huge_window_are_refused() -> None:
    words: list[Any] = [b"the same words again and again %d" % number for number in range(500)]
    known = zstandard.train_dictionary(2000, words)
    data = zstandard.ZstdCompressor(dict_data=known, write_checksum=True).compress(words[1])
    with pytest.raises(DamagedArchive, match="dictionary"):
        read(data)
    # A frame's head by hand: checksum, four bytes of size, a window of 2 to the 28th.
    head = struct.pack("<IBBI", 0xFD2FB528, 0b10000100, (28 - 10) << 3, 1 << 29)
    with pytest.raises(DamagedArchive, match="268435456 bytes of memory"):
        read(head + bytes(100))


def test_no_more_is_unpacked_than_is_allowed_and_little_at_a_time() -> None:
    size = 300 << 20
    bomb = b"".join(zstd.compress((bytes(1 << 20) for _ in range(300)), size, level=1))
    assert len(bomb) < 40_000
    with pytest.raises(DamagedArchive, match="would unpack to 314572800 bytes"):
        read(bomb, most=size - 1)
    pieces = [len(piece) for piece in zstd.decompress(io.BytesIO(bomb))]
    assert sum(pieces) == size
    assert max(pieces) <= 256 << 10


def test_a_source_may_give_less_than_it_is_asked_for() -> None:
    class Slow(io.BytesIO):
        def read(self, count: int | None = -1, /) -> bytes:
            return super().read(min(1, count or 0))

    assert b"".join(zstd.decompress(Slow(packed(MIXED[:5000])))) == MIXED[:5000]


@pytest.mark.parametrize("told", [0, 4, 6, 1 << 20])
def test_a_stream_of_another_size_than_told_is_an_error(told: int) -> None:
    with pytest.raises(ValueError, match=f"{told} bytes"):
        b"".join(zstd.compress((b"12345",), told))


@pytest.mark.parametrize(("level", "threads"), [(0, 1), (20, 1), (9, 0)])
def test_levels_and_threads_that_cannot_be(level: int, threads: int) -> None:
    with pytest.raises(ValueError, match="cannot be"):
        next(zstd.compress((), 0, level=level, threads=threads))
