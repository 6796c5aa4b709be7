import io
import tarfile
from pathlib import Path

import pytest

from runner.errors import CannotStart
from runner.images import _differ
from runner.images._differ import ONE_ONLY, Difference


def layer(file: Path, *members: tuple[str, dict[str, object], bytes]) -> Path:
    with tarfile.open(file, "w", format=tarfile.PAX_FORMAT) as tar:
        for name, fields, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            for key, value in fields.items():
                setattr(info, key, value)
            tar.addfile(info, io.BytesIO(content))
    return file


def compared(tmp_path: Path, one: dict[str, object], other: dict[str, object]) -> tuple[str, ...]:
    """What is told of a file that has these fields in two layers."""
    contents = [fields.pop("content", b"x") for fields in (one, other)]
    files = [
        layer(tmp_path / str(at), ("same", {}, b""), ("a/b", fields, contents[at]))  # type: ignore[arg-type]
        for at, fields in enumerate((one, other))
    ]
    (found,) = _differ.in_layer(3, *files)
    assert (found.layer, found.path) == (3, "a/b")
    return found.what


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        ({"content": b"1"}, {"content": b"2"}, ("bytes",)),
        ({"mtime": 1}, {"mtime": 2}, ("time",)),
        ({"mode": 0o644}, {"mode": 0o755}, ("mode",)),
        ({"uid": 1}, {"uid": 2}, ("owner",)),
        ({"gname": "a"}, {"gname": "b"}, ("owner",)),
        ({"pax_headers": {"SCHILY.xattr.user.a": "1"}}, {}, ("xattr user.a",)),
        ({"mtime": 1, "content": b"1"}, {"mtime": 2, "content": b"2"}, ("bytes", "time")),
        (
            {"type": tarfile.SYMTYPE, "linkname": "x", "content": b""},
            {"type": tarfile.SYMTYPE, "linkname": "y", "content": b""},
            ("link",),
        ),
        ({"type": tarfile.DIRTYPE, "content": b""}, {"content": b""}, ("bytes", "type")),
    ],
)
def test_what_differs_of_a_file_is_told(
    tmp_path: Path, one: dict[str, object], other: dict[str, object], what: tuple[str, ...]
) -> None:
    assert compared(tmp_path, dict(one), dict(other)) == what


def test_a_file_of_one_layer_alone_is_told(tmp_path: Path) -> None:
    one = layer(tmp_path / "1", ("a", {}, b""), ("b", {}, b""))
    other = layer(tmp_path / "2", ("a", {}, b""), ("c", {}, b""))
    found = list(_differ.in_layer(1, one, other))
    assert found == [Difference(1, "b", (ONE_ONLY,)), Difference(1, "c", (ONE_ONLY,))]
    assert str(found[0]) == "layer 1, b: is in one only"


def test_layers_of_the_same_files_differ_by_their_order_or_their_writing(tmp_path: Path) -> None:
    one = layer(tmp_path / "1", ("a", {}, b""), ("b", {}, b""))
    other = layer(tmp_path / "2", ("b", {}, b""), ("a", {}, b""))
    assert [str(found) for found in _differ.in_layer(2, one, other)] == [
        "layer 2, the layer: order"
    ]
    other.write_bytes(one.read_bytes() + bytes(512))
    (found,) = _differ.in_layer(2, one, other)
    assert found.what == ("how the tar is written",)


def test_what_is_no_layer_is_told(tmp_path: Path) -> None:
    one = layer(tmp_path / "1", ("a", {}, b""))
    (tmp_path / "2").write_bytes(b"nothing" * 1000)
    with pytest.raises(CannotStart, match="saved is none"):
        list(_differ.in_layer(1, one, tmp_path / "2"))


def test_places_in_a_config_that_differ_are_told() -> None:
    one = {"a": {"b": [1, {"c": 2}]}, "same": 1, "gone": 1, "list": [1]}
    other = {"a": {"b": [1, {"c": 3}]}, "same": 1, "list": [1, 2]}
    found = [str(one) for one in _differ.in_config(one, other)]
    assert found == ["config, a.b[1].c: value", "config, gone: value", "config, list: value"]
    assert not list(_differ.in_config(one, one))


# ---------------------------------------------------------------- what an engine may leave out


def folder(name: str, **fields: object) -> tuple[str, dict[str, object], bytes]:
    return name, {"type": tarfile.DIRTYPE, "mode": 0o755, **fields}, b""


def spurious(tmp_path: Path, *layers: list[tuple[str, dict[str, object], bytes]]) -> list[str]:
    files = [layer(tmp_path / str(at), *members) for at, members in enumerate(layers)]
    return [str(found) for found in _differ.spurious(files, 2)]


BELOW = [folder("a"), folder("a/b"), ("a/b/c", {}, b"1"), folder("tmp"), ("gone", {}, b"")]


def test_what_is_new_changed_or_gone_has_to_be_in_a_layer(tmp_path: Path) -> None:
    changes = [
        folder("a", mtime=5),
        folder("a/b", mtime=5),
        ("a/b/c", {}, b"22"),
        ("a/b/new", {}, b""),
        folder("tmp", mode=0o700),
        (".wh.gone", {}, b""),
    ]
    assert spurious(tmp_path, BELOW, changes) == []


def test_what_is_as_it_was_need_not_be_in_a_layer(tmp_path: Path) -> None:
    # Nobody reads a file to see whether it changed: its time and size are the same.
    changes = [folder("a"), folder("a/b"), ("a/b/c", {}, b"2"), folder("tmp", mtime=5)]
    assert spurious(tmp_path, BELOW, changes) == [
        "layer 2, a: is as it was below",
        "layer 2, a/b: is as it was below",
        "layer 2, a/b/c: is as it was below",
        "layer 2, tmp: is as it was below",
    ]


def test_what_was_taken_away_meanwhile_is_new(tmp_path: Path) -> None:
    again = [folder("a"), folder("a/b"), ("a/b/c", {}, b"1"), ("gone", {}, b"")]
    hidden = [folder("a"), folder("a/b"), ("a/b/.wh..wh..opq", {}, b""), ("a/b/x", {}, b"")]
    assert spurious(tmp_path, BELOW, [(".wh.gone", {}, b""), (".wh.a", {}, b"")], again) == []
    assert spurious(tmp_path, BELOW, hidden, again) == [
        "layer 2, a/b/.wh..wh..opq: hides what was below",
        "layer 3, gone: is as it was below",
    ]


def test_the_layers_of_others_are_not_looked_at(tmp_path: Path) -> None:
    files = [layer(tmp_path / str(at), *BELOW) for at in range(3)]
    assert not list(_differ.spurious(files, 4))
    assert {found.layer for found in _differ.spurious(files, 3)} == {3}
