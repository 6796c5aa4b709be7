import hashlib
import io
import tarfile
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import CannotStart
from runner.images import _canon

LATEST = 1_785_715_200
EARLIER = LATEST - 1000


def member(name: str, **fields: object) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.mtime = EARLIER
    for key, value in fields.items():
        setattr(info, key, value)
    return info


def layer(
    *members: tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT, **options: object
) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form, **options) as tar:  # type: ignore[call-overload]
        for info, content in members:
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        end = tar.offset + 1024
    # Python fills the end up, which engines do not.
    return out.getvalue()[:end]


def chunks(data: bytes, size: int) -> Iterator[bytes]:
    for at in range(0, len(data), size):
        yield data[at : at + size]


def canonical(data: bytes, size: int = 4096) -> bytes:
    return b"".join(_canon.canonical(chunks(data, size), LATEST))


def read(data: bytes) -> list[tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return tar.getmembers()


SOME = (
    (member("etc", type=tarfile.DIRTYPE, mode=0o755), b""),
    (member("etc/hosts", mode=0o600, uid=7, gid=8), b"127.0.0.1\n"),
    (member("etc/link", type=tarfile.SYMTYPE, linkname="hosts"), b""),
    (member("etc/hard", type=tarfile.LNKTYPE, linkname="etc/hosts"), b""),
    (member("dev/null", type=tarfile.CHRTYPE, devmajor=1, devminor=3), b""),
    (member("run/pipe", type=tarfile.FIFOTYPE), b""),
    (member("big"), b"x" * 5000),
    (member("empty"), b""),
)


def test_a_layer_of_that_form_stays_as_it_is_byte_for_byte() -> None:
    data = layer(*SOME)
    assert canonical(data) == data
    assert canonical(canonical(data)) == data


@pytest.mark.parametrize("size", [1, 7, 511, 512, 513, 1 << 20])
def test_how_the_bytes_come_does_not_matter(size: int) -> None:
    late = layer(*SOME, (member("late" * 60, mtime=LATEST + 0.5), b"y" * 700))
    assert canonical(late, size) == canonical(late)


def test_later_times_names_and_times_beside_are_gone_and_all_else_stays() -> None:
    late = member("a", mtime=LATEST + 9.25, uname="me", gname="us", uid=5, gid=6, mode=0o4755)
    late.pax_headers = {
        "atime": "9999999999.5",
        "ctime": "9999999999.5",
        "LIBARCHIVE.creationtime": "9999999999",
        "SCHILY.xattr.security.capability": "\x01\x02",
        "comment": "kept",
    }
    (found,) = read(canonical(layer((late, b"content"))))
    assert found.mtime == LATEST
    assert (found.uname, found.gname, found.uid, found.gid, found.mode) == ("", "", 5, 6, 0o4755)
    assert found.pax_headers == {
        "SCHILY.xattr.security.capability": "\x01\x02",
        "comment": "kept",
    }


def test_root_is_called_so_everywhere_and_keeps_its_name() -> None:
    names = [("root", "root", 0, 0), ("root", "shadow", 0, 42), ("root", "root", 7, 0)]
    members = [
        (member(str(at), uname=u, gname=g, uid=uid, gid=gid), b"")
        for at, (u, g, uid, gid) in enumerate(names)
    ]
    data = layer(*members)
    assert [(one.uname, one.gname) for one in read(canonical(data))] == [
        ("root", "root"),
        ("root", ""),
        ("", "root"),
    ]
    assert canonical(layer(members[0])) == layer(members[0])


def test_a_header_that_says_no_more_is_gone() -> None:
    data = layer((member("a", mtime=EARLIER + 0.5), b"content"))
    (found,) = read(canonical(data))
    assert (found.mtime, found.pax_headers) == (EARLIER, {})
    assert len(canonical(data)) == len(data) - 1024


def test_how_far_the_end_is_filled_up_does_not_matter() -> None:
    data = layer(*SOME)
    assert canonical(data + bytes(9000)) == data
    assert canonical(data[:-512]) == data


def test_two_builds_of_the_same_files_are_one_layer() -> None:
    one = layer((member("a", mtime=LATEST + 1.5, uname="a"), b"1"), (member("b"), b"2"))
    two = layer((member("a", mtime=LATEST + 77777, uname="b"), b"1"), (member("b"), b"2"))
    assert canonical(one) == canonical(two)
    assert canonical(one) != canonical(layer((member("a"), b"1"), (member("b"), b"2")))


def test_long_names_numbers_and_what_headers_say_of_sizes_are_understood() -> None:
    name = "d" * 150 + "/" + "é" * 200
    for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        data = layer(
            (member(name, mtime=LATEST + 5, uid=1 << 30), b"z" * 1000),
            (member("after", mtime=LATEST + 5), b"q"),
            form=form,
        )
        first, second = read(canonical(data))
        assert (first.name, first.uid, first.size) == (name, 1 << 30, 1000)
        assert (first.mtime, second.mtime, second.name) == (LATEST, LATEST, "after")


def test_a_size_that_only_a_header_before_tells_counts() -> None:
    content = b"s" * 600
    info = member("a", mtime=LATEST + 1)
    info.pax_headers = {"size": "600"}
    info.size = 600
    raw = bytearray(info.tobuf(tarfile.PAX_FORMAT) + content + bytes(424) + bytes(1024))
    # The member's own field says nothing, as for files beyond 8 GB.
    at = raw.index(b"a\0", 1024)
    raw[at + 124 : at + 136] = b"00000000000\0"
    raw[at + 148 : at + 156] = b" " * 8
    raw[at + 148 : at + 156] = b"%06o\0 " % sum(raw[at : at + 512])
    found = canonical(bytes(raw))
    assert content in found
    assert len(read(found)) == 1


def test_whiteouts_lose_the_time_of_the_removal() -> None:
    (found,) = read(canonical(layer((member("var/.wh.gone", mtime=LATEST + 4, mode=0o600), b""))))
    assert (found.name, found.mtime, found.size) == ("var/.wh.gone", LATEST, 0)


def broken(data: bytes, at: int, value: bytes) -> bytes:
    return data[:at] + value + data[at + len(value) :]


def summed(head: bytes) -> bytes:
    new = bytearray(head)
    new[148:156] = b" " * 8
    new[148:156] = b"%06o\0 " % sum(new)
    return bytes(new)


def typed(kind: bytes, size: int = 0) -> bytes:
    head = bytearray(member("a").tobuf(tarfile.USTAR_FORMAT))
    head[156:157] = kind
    head[124:136] = b"%011o\0" % size
    return summed(bytes(head))


def said(text: bytes, kind: bytes = b"x") -> bytes:
    filler = bytes(-len(text) % 512)
    return typed(kind, len(text)) + text + filler + typed(b"0") + bytes(1024)


PLAIN = layer((member("a"), b"content"))
HOSTILE = {
    "nothing": b"",
    "a part of a block": PLAIN[:100],
    "no content": PLAIN[:512],
    "a part of the content": PLAIN[:515],
    "no end": PLAIN[:1024],
    "a flipped byte": broken(PLAIN, 3, b"\x55"),
    "a sum that is none": broken(PLAIN, 148, b"zzzzzz\0 "),
    "something after the end": PLAIN + b"x",
    "a sparse file": typed(b"S") + bytes(1024),
    "a type nobody knows": typed(b"Z") + bytes(1024),
    "a volume's label": typed(b"V") + bytes(1024),
    "a header beyond all bounds": typed(b"x", (1 << 20) + 1),
    "a long name beyond all bounds": typed(b"L", 1 << 30),
    "a negative size": summed(broken(typed(b"0"), 124, b"\xff" * 12)) + bytes(1024),
    "a size with a sign": summed(broken(typed(b"0"), 124, b"-0000000001\0")) + bytes(1024),
    "a size with a joint": summed(broken(typed(b"0"), 124, b"0_000000001\0")) + bytes(1024),
    "a size that is no octal": summed(broken(typed(b"0"), 124, b"00000000009\0")) + bytes(1024),
    "a record without a length": said(b"mtime=1\n"),
    "a record of length 0": said(b"0 mtime=1\n"),
    "a record that is longer than all": said(b"99 mtime=1\n"),
    "a record that ends in its length": said(b"2 a=b\n"),
    "a record without a key": said(b"5 =a\n"),
    "a record without a value": said(b"8 abcde\n"),
    "a record without an end": said(b"6 a=bcd"),
    "a time that is a word": said(b"12 mtime=xx\n"),
    "one time for all": said(b"11 mtime=9\n", b"g"),
    "one size for all": said(b"11 size=99\n", b"g"),
    "a size that is a word": said(b"11 size=xx\n"),
    "a size that is negative": said(b"11 size=-9\n"),
    "a member that is longer than the file": typed(b"0", 1 << 40 >> 8) + bytes(1024),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_layer_is_refused(name: str) -> None:
    with pytest.raises(CannotStart, match=r"A layer that the engine saved is"):
        canonical(HOSTILE[name])


def test_no_more_than_a_little_is_held_at_a_time() -> None:
    size = 1 << 26
    head = summed(broken(typed(b"0", size), 136, b"%011o\0" % (LATEST + 1)))

    def endless() -> Iterator[bytes]:
        yield head
        block = bytes(1 << 16)
        for _ in range(size >> 16):
            yield block
        yield bytes(1024)

    total = most = 0
    for piece in _canon.canonical(endless(), LATEST):
        total += len(piece)
        most = max(most, len(piece))
    assert total == size + 512 + 1024
    assert most <= 1 << 16


TIMES = st.integers(0, 2 * LATEST) | st.integers(0, 8 * LATEST).map(lambda number: number / 4)
FILES = st.lists(
    st.tuples(
        st.text("abc/é", min_size=1, max_size=120).map(lambda name: "x" + name.strip("/") + "x"),
        st.binary(max_size=1500),
        TIMES,
        st.sampled_from([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT]),
    ),
    max_size=5,
)


@given(FILES, st.integers(1, 2000))
def test_whatever_is_in_it_only_times_and_names_change(
    files: list[tuple[str, bytes, float, int]], size: int
) -> None:
    form = files[0][3] if files else tarfile.PAX_FORMAT
    before = layer(*((member(name, mtime=time), text) for name, text, time, _ in files), form=form)
    after = canonical(before, size)
    assert canonical(after) == after
    with (
        tarfile.open(fileobj=io.BytesIO(before)) as one,
        tarfile.open(fileobj=io.BytesIO(after)) as two,
    ):
        for was, now in zip(one, two, strict=True):
            assert (now.name, now.size, now.mode, now.type) == (
                was.name,
                was.size,
                was.mode,
                was.type,
            )
            assert now.mtime == min(int(was.mtime), LATEST)
            assert digest(two, now) == digest(one, was)


def digest(tar: tarfile.TarFile, info: tarfile.TarInfo) -> str:
    file = tar.extractfile(info)
    return hashlib.sha256(file.read() if file else b"").hexdigest()


@given(st.integers(0, len(layer(*SOME)) - 1), st.integers(1, 255))
def test_a_flipped_byte_never_goes_unnoticed_in_a_header(at: int, flip: int) -> None:
    data = layer(*SOME)
    changed = broken(data, at, bytes([data[at] ^ flip]))
    pieces: Iterable[bytes] = _canon.canonical([changed], LATEST)
    try:
        after = b"".join(pieces)
    except CannotStart:
        return
    # Where it is taken, it is content or filling.
    assert after == changed
