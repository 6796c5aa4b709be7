from pathlib import Path

import pytest

from runner.images import _compose

SET = {"BENCH_BASE": "memory-bench/base:1", "BENCH_ORIGIN": "debian-packages:x"}
OURS = "BENCH_BASE=memory-bench/base:1\nBENCH_ORIGIN=debian-packages:x\n"


@pytest.mark.parametrize(
    ("old", "values", "new"),
    [
        ("", SET, OURS),
        (OURS, SET, OURS),
        ("BENCH_BASE=old\nA=1\n", SET, "A=1\n" + OURS),
        ("A=1", SET, "A=1\n" + OURS),
        ("# BENCH_BASE=kept\n\nBENCH_BASED=1\n", {}, "# BENCH_BASE=kept\n\nBENCH_BASED=1\n"),
        (OURS + "A=1\n", {}, "A=1\n"),
        (OURS, {}, ""),
    ],
)
def test_our_lines_are_set_and_all_others_kept(old: str, values: dict[str, str], new: str) -> None:
    assert _compose.render(old, values) == new
    assert _compose.render(new, values) == new


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "compose.yaml").write_text("")
    monkeypatch.setenv("BENCH_ROOT", str(tmp_path))
    monkeypatch.delenv("BENCH_IMAGE", raising=False)
    return tmp_path


def test_the_file_comes_and_goes_with_its_lines(checkout: Path) -> None:
    _compose.remember(SET)
    assert (checkout / ".env").read_text() == OURS
    _compose.remember({})
    assert not (checkout / ".env").exists()


def test_in_a_container_and_outside_a_checkout_nothing_is_written(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_IMAGE", "x")
    _compose.remember(SET)
    monkeypatch.delenv("BENCH_IMAGE")
    (checkout / "compose.yaml").unlink()
    _compose.remember(SET)
    assert list(checkout.iterdir()) == []
