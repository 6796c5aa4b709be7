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
