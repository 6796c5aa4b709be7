"""Archives from strangers: refused whole, or turned into one canonical form."""

import io
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import HostileSnapshot
from runner.runs.sandbox.snapshot import Snapshot, from_tar, load, single_file

LIMITS = {"max_bytes": 1000, "max_files": 20}


def entry(name: str, data: bytes = b"", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, data


def folder(name: str) -> tuple[tarfile.TarInfo, bytes]:
    return entry(name, type=tarfile.DIRTYPE)


def tar(*entries: tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for info, data in entries:
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def read(*entries: tuple[tarfile.TarInfo, bytes]) -> Snapshot:
    return from_tar(tar(folder("1"), *entries), top="1", **LIMITS)


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ([entry("1/a", type=tarfile.SYMTYPE, linkname="/etc/passwd")], "symbolic link"),
        ([entry("1/a"), entry("1/b", type=tarfile.LNKTYPE, linkname="1/a")], "hard link"),
        ([entry("1/a", type=tarfile.CHRTYPE)], "device"),
        ([entry("1/a", type=tarfile.BLKTYPE)], "device"),
        ([entry("1/a", type=tarfile.FIFOTYPE)], "pipe"),
        ([entry("1/a", type=tarfile.CONTTYPE)], "odd type"),
        ([entry("1/a", type=b"Z")], "odd type"),
        ([entry("1/../../etc/cron.d/x")], "plain relative"),
        ([entry("/etc/passwd")], "outside"),
        ([entry("2/a")], "outside"),
        ([entry("../a")], "outside"),
        ([entry("1//a")], "plain relative"),
        ([entry("1/./a")], "plain relative"),
        ([entry("1/a"), entry("1/a")], "twice"),
        ([folder("1/a"), folder("1/a")], "twice"),
        ([entry("1/a"), folder("1/a")], "file and as a folder"),
        ([entry("1/a"), entry("1/a/b")], "file and as a folder"),
        ([entry("1/" + "/".join("d" * 40))], "folders deep"),
        ([entry("1/" + "n" * 256)], "sensible name"),
        ([entry("1/a\tb")], "sensible name"),
        ([entry("1/a\udcff")], "UTF-8"),
        ([entry("1/a", b"x" * 600), entry("1/b", b"x" * 600)], "more than 1000 bytes"),
        ([entry(f"1/{number}") for number in range(30)], "more than 20 entries"),
    ],
)
def test_what_is_hostile_is_refused(
    entries: list[tuple[tarfile.TarInfo, bytes]], told: str
) -> None:
    with pytest.raises(HostileSnapshot, match=told):
        read(*entries)


def test_a_sparse_file_of_any_kind_is_refused() -> None:
    old = entry("1/a", type=tarfile.GNUTYPE_SPARSE)
    with pytest.raises(HostileSnapshot, match=r"odd type|sparse|readable"):
        read(old)
    pax = entry("1/a", b"0\n", pax_headers={"GNU.sparse.major": "1", "GNU.sparse.minor": "0"})
    with pytest.raises(HostileSnapshot, match=r"sparse|readable"):
        read(pax)


@pytest.mark.parametrize(
    "headers", [{"size": "-5"}, {"size": "999999999999999999999"}, {"path": "../../x"}]
)
def test_extended_headers_do_not_get_round_a_check(headers: dict[str, str]) -> None:
    with pytest.raises(HostileSnapshot):
        read(entry("1/a", b"x", pax_headers=headers))


@given(st.binary(max_size=2000))
def test_noise_is_refused_by_type(noise: bytes) -> None:
    try:
        from_tar(noise, top="1", **LIMITS)
    except HostileSnapshot:
        return


@given(st.data())
def test_a_cut_or_damaged_archive_is_refused_or_read(data: st.DataObject) -> None:
    whole = bytearray(tar(folder("1"), entry("1/a", b"x" * 700), entry("1/b", b"y")))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(whole)))
    try:
        snapshot = from_tar(bytes(whole[:cut]), top="1", **LIMITS)
    except HostileSnapshot:
        return
    assert sum(map(len, snapshot.files.values())) <= 1000


names = st.text("ab", min_size=1, max_size=3)


@given(st.dictionaries(names, st.binary(max_size=20), max_size=5), st.integers(0, 10**9))
def test_content_alone_decides_the_digest(files: dict[str, bytes], stamp: int) -> None:
    one = read(*(entry(f"1/{name}", data) for name, data in files.items()))
    other = read(
        *(
            entry(f"1/{name}", data, mtime=stamp, uid=stamp % 1000, mode=0o777)
            for name, data in reversed(files.items())
        )
    )
    assert one == other
    assert dict(one.files) == files
    assert load(one.archive, **LIMITS) == one


def test_writing_gives_the_same_files(tmp_path: Path) -> None:
    snapshot = read(folder("1/empty"), entry("1/a/b/c", b"deep"), entry("1/d", b"flat"))
    snapshot.write(tmp_path)
    found = {
        str(path.relative_to(tmp_path)): path.read_bytes() if path.is_file() else None
        for path in tmp_path.rglob("*")
    }
    assert found == {"empty": None, "a": None, "a/b": None, "a/b/c": b"deep", "d": b"flat"}
    with pytest.raises(FileExistsError):
        snapshot.write(tmp_path)


def test_one_file_is_one_plain_file() -> None:
    assert single_file(tar(entry("os-release", b"x")), max_bytes=5) == b"x"
    for wrong in (
        tar(entry("a", type=tarfile.SYMTYPE, linkname="b")),
        tar(entry("a"), entry("b")),
        tar(entry("a", b"123456")),
        b"noise" * 200,
    ):
        with pytest.raises(HostileSnapshot):
            single_file(wrong, max_bytes=5)
