"""Canonical tars: one form, and nothing but it is read."""

import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import DamagedArchive
from runner.oci import tars

NAMES = st.from_regex(
    r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,20}(/[A-Za-z0-9_-]{1,20}){0,3}", fullmatch=True
)
FILES = st.dictionaries(NAMES, st.binary(max_size=1200), max_size=4)


def packed(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    writer = tars.Writer(out)
    for name, data in files.items():
        writer.add(name, len(data), (data[:100], data[100:]))
    writer.end()
    return out.getvalue()


def read(data: bytes) -> dict[str, bytes]:
    return {
        one.name: data[one.offset : one.offset + one.size] for one in tars.members(io.BytesIO(data))
    }


SMALL = {"index.json": b"{}", "blobs/sha256/ab": bytes(range(256)) * 3, "empty": b""}


@pytest.mark.slow
@given(FILES)
def test_what_is_written_is_read_here_and_by_every_other_reader(files: dict[str, bytes]) -> None:
    data = packed(files)
    assert read(data) == files
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        found = {}
        for member in tar:
            file = tar.extractfile(member)
            assert file is not None
            found[member.name] = file.read()
            assert (member.uid, member.gid, member.mode, member.mtime) == (0, 0, 0o644, 0)
            assert (member.uname, member.gname, member.isreg()) == ("root", "root", True)
    assert found == files


def test_the_same_files_are_the_same_bytes() -> None:
    assert packed(SMALL) == packed(dict(SMALL))


@pytest.mark.slow
def test_every_other_byte_is_noticed_but_those_of_contents() -> None:
    data = packed(SMALL)
    contents = {
        place
        for one in tars.members(io.BytesIO(data))
        for place in range(one.offset, one.offset + one.size)
    }
    for place in range(len(data)):
        for bit in (0, 7):
            other = bytearray(data)
            other[place] ^= 1 << bit
            if place in contents:
                assert read(bytes(other)) != SMALL
            else:
                with pytest.raises(DamagedArchive):
                    read(bytes(other))


def test_every_cut_and_everything_behind_the_end_is_noticed() -> None:
    data = packed(SMALL)
    for length in range(len(data)):
        with pytest.raises(DamagedArchive):
            read(data[:length])
    for more in (b"\0", bytes(512), bytes(10240), b"x", data):
        with pytest.raises(DamagedArchive, match="follows the end"):
            read(data + more)


@pytest.mark.parametrize(
    ("change", "to"),
    [
        ("mode", 0o755),
        ("uid", 1),
        ("mtime", 1),
        ("uname", ""),
        ("type", tarfile.DIRTYPE),
        ("type", tarfile.SYMTYPE),
        ("linkname", "elsewhere"),
    ],
)
def test_members_of_another_form_are_refused(change: str, to: object) -> None:
    told = tarfile.TarInfo("name")
    told.mode, told.uname, told.gname = 0o644, "root", "root"
    setattr(told, change, to)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        tar.addfile(told)
    with pytest.raises(DamagedArchive, match=r"header.* at byte"):
        read(out.getvalue())


@pytest.mark.parametrize("name", ["", "/etc/passwd", "a//b", "a/", "ä", "a b", "a\0b", "x" * 101])
def test_names_that_cannot_be(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be a name"):
        tars.header(name, 0)


def test_sizes_that_cannot_be() -> None:
    assert tars.header("most", tars.MOST)
    with pytest.raises(ValueError, match="8589934591"):
        tars.header("more", tars.MOST + 1)
    with pytest.raises(ValueError, match="-1"):
        tars.header("less", -1)


@pytest.mark.parametrize("told", [0, 4, 6, 600])
def test_a_content_of_another_size_than_told_is_an_error(told: int) -> None:
    with pytest.raises(ValueError, match=f"{told} bytes"):
        tars.Writer(io.BytesIO()).add("name", told, (b"12345",))
