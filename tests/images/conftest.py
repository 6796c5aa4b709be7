"""A checkout of its own, with folders of images that a test makes."""

from collections.abc import Callable
from pathlib import Path

import pytest

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes the folder of an image: lines of its Dockerfile, its system.toml, names of locks."""
    monkeypatch.setenv("BENCH_ROOT", str(tmp_path))
    monkeypatch.delenv("BENCH_IMAGE", raising=False)

    def folder(name: str, *lines: str, system: str = "", locks: tuple[str, ...] = ()) -> Path:
        made = tmp_path / "images" / name
        made.mkdir(parents=True)
        (made / "Dockerfile").write_text("\n".join(("ARG BENCH_BASE", *lines, "FROM x", "")))
        if system:
            (made / "system.toml").write_text(system)
        for lock in locks:
            (made / "locks").mkdir(exist_ok=True)
            (made / "locks" / lock).write_text("")
        return made

    base = folder("base")
    (base / "debian.env").write_text("SOURCE_DATE_EPOCH=1\n")
    (base / "make-debian").write_text("")
    return folder
