"""``bench images lock``, with an archive and an index that nothing but these tests have."""

from pathlib import Path

import pytest

from tests.commands.conftest import Bench
from tests.images._repository import wheel
from tests.images.conftest import Make, make
from tests.images.test_relock import index

__all__ = ["index", "make"]


@pytest.fixture
def image(index: Path, make: Make, monkeypatch: pytest.MonkeyPatch, bench: Bench) -> Path:
    """An image with a lock that nothing was ever resolved for."""
    # The pinned uv is where the machine has it.
    monkeypatch.delenv("BENCH_STATE")
    folder = make("some")
    (folder / "locks.toml").write_text(
        '[[python]]\nlock = "r.lock"\nrequire = "some"\npython = "3.13"\n'
    )
    wheel(index, "some", "2.0", "py3-none-manylinux_2_17_x86_64", "native")
    return folder


@pytest.mark.slow
def test_a_lock_is_checked_renewed_and_then_stands(image: Path, bench: Bench) -> None:
    lock = image / "r.lock"
    would = bench("images", "lock", "some", "--check", "--only", "python")
    assert (would.code, lock.exists()) == (1, False)
    assert "1 of 1 lock files would change." in would.out
    assert "uv resolves r.lock" in would.err

    done = bench("images", "lock", "--only", "python", "--quiet")
    assert (done.code, done.err) == (0, "")
    rows = [line.split() for line in done.out.splitlines()]
    assert ["images/some/r.lock", "native", "new", "1.0"] in rows
    assert ["some", "new", "2.0"] in rows
    assert "some, r.lock: arm64 has no wheel of some" in done.out
    assert "wrote images/some/r.lock" in done.out
    assert max(map(len, done.out.splitlines())) <= 80

    written = lock.read_bytes()
    assert written.startswith(b"native==1.0 ")
    again = bench("images", "lock", "some", "--check", "--only", "python", "--only", "npm")
    assert (again.code, lock.read_bytes()) == (0, written)
    assert "Nothing changes in 1 lock files." in again.out

    # Older versions are newer news, and other bytes of the same version too.
    lock.write_text("some==3.0 \\\n    --hash=sha256:" + "0" * 64 + "\nnative==1.0\n")
    changed = bench("images", "lock", "some", "--check", "--only", "python")
    assert changed.code == 1
    rows = [line.split() for line in changed.out.splitlines()]
    assert ["some", "3.0", "2.0"] in rows
    assert ["images/some/r.lock", "native", "1.0", "other", "files"] in rows


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["router"], "router has no locks of its own. These have: base,"),
        (["some", "--only", "cargo"], "cargo"),
    ],
)
def test_what_has_no_locks_is_told(bench: Bench, args: list[str], says: str) -> None:
    done = bench("images", "lock", *args)
    assert done.code == 2
    assert says in " ".join(done.err.replace("next: ", "").split())


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["router", "--markdown"], "--markdown is for --twice"),
        (["router", "--twice", "--locked"], "--twice goes with neither"),
        (["router", "--twice", "--snapshot", "2026-01-01"], "--twice goes with neither"),
        (["router", "--all"], "--all is every image"),
        (["router", "--snapshot", "tomorrow"], "'tomorrow' is no date"),
    ],
)
def test_what_does_not_go_together_is_told_before_an_engine_is_looked_for(
    bench: Bench, args: list[str], says: str
) -> None:
    done = bench("images", "build", *args)
    assert done.code == 2
    assert says in " ".join(done.err.split())
