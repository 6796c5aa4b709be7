"""Points are read as data; whatever else a pickle asks for is not done."""

import os
import pickle
import pickletools
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.systems._rows import Unmappable
from runner.systems.mem0._pickled import MAX_INSTRUCTIONS, point
from tests.mem0._store import MODULE, payload, pickled, qdrant

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", [4, 5])
@given(kept=st.dictionaries(st.text(), VALUES))
def test_it_reads_what_was_stored(protocol: int, kept: dict[str, Any]) -> None:
    found = point(pickled("b9c6bbb2", kept, protocol))
    assert found.id == "b9c6bbb2"
    assert found.payload == kept


class Calls:
    """A pickle that runs something when it is unpickled."""

    def __init__(self, what: Callable[..., object], *arguments: object) -> None:
        self._made = (what, arguments)

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self._made


def test_nothing_is_run(tmp_path: Path) -> None:
    target = tmp_path / "made"
    for harm in (Calls(os.mkdir, str(target)), Calls(os.system, f"touch {target}")):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            for blob in (
                pickle.dumps(harm, protocol),
                pickle.dumps({"id": "m", "payload": harm}, protocol),
                pickled("m", {"data": harm}, protocol=max(protocol, 2)),
            ):
                with pytest.raises(Unmappable):
                    point(blob)
    assert not target.exists()


def test_no_class_is_looked_up() -> None:
    assert MODULE not in sys.modules
    assert point(pickled("m", payload("A."))).payload["data"] == "A."
    assert MODULE not in sys.modules


def named(module: str, name: str) -> bytes:
    return pickle.dumps((module, name), 4).replace(b"\x86", b"\x93", 1)


@pytest.mark.parametrize(
    "blob",
    [
        named("posix", "system"),
        named(MODULE, "Filter"),
        named(MODULE, "PointStruct"),
        b"\x80\x04cposix\nsystem\n.",
        b"\x80\x04\x82\x01.",  # an extension of the registry
        b"\x80\x04P1\n.",  # a persistent id
        b"\x80\x04]" + b"2" * 5 + b".",  # DUP
        b"\x80\x04(\x8c\x01a\x93.",
        b"\x80\x04N}b.",
        b"\x80\x04K\x01N\x81.",
        b"\x80\x04h\x05.",
        b"\x80\x04(.",
        b"\x80\x04NN.",
        b"\x80\x04N",
        b"\x80\x04a.",
        b"\x80\x04Na.",
        b"\x80\x04NNNs.",
        b"\x80\x04N(Nu.",
        b"\x80\x04}(Nu.",
        b"\x80\x04}(]Nu.",
        b"\x80\x04N(N\x90.",
        b"\x80\x04\x8f(]\x90.",
        b"\x80\x04t.",
        b"\x80\x04N(N0.",
        b"\x80\x04\x94.",
        b"\x80\x04]\x94h\x00\x8a\xff.",
    ],
)
def test_what_is_no_pickle_of_a_point_is_refused(blob: bytes) -> None:
    with pytest.raises(Unmappable):
        point(blob)


def test_a_point_in_itself_is_read_and_followed_nowhere() -> None:
    kept: dict[str, Any] = {"data": "A."}
    kept["self"] = kept
    found = point(pickled("m", kept))
    assert found.payload["self"] is found.payload


def test_one_that_is_too_long_is_refused() -> None:
    blob = pickle.dumps([None] * (MAX_INSTRUCTIONS + 10), 4)
    with pytest.raises(Unmappable, match="too large"):
        point(blob)


@pytest.mark.slow
@given(st.integers(min_value=0), st.binary(min_size=1, max_size=3))
def test_a_damaged_point_is_told_or_read(at: int, put: bytes) -> None:
    whole = pickled("m", payload("A."))
    at %= len(whole)
    with suppress(Unmappable):
        point(whole[:at] + put + whole[at + len(put) :])


def test_the_test_writes_what_qdrant_writes() -> None:
    """The instructions of a point that qdrant-client 1.20.0 stored under Python 3.13."""
    seen = {code.name for code, _, _ in pickletools.genops(pickled("m", payload("A.")))}
    assert seen >= {
        "STACK_GLOBAL",
        "NEWOBJ",
        "BUILD",
        "EMPTY_SET",
        "ADDITEMS",
        "BINGET",
        "SETITEMS",
    }
    with qdrant() as module:
        assert module.PointStruct.__module__ == MODULE
