"""``bench-packages``, which every image is sealed by."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "images/base/bin/bench-packages"


def package(folder: Path, name: str, version: str) -> None:
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"name": name, "version": version}))


def test_what_npm_installed_is_listed_however_deep_it_lies(tmp_path: Path) -> None:
    modules = tmp_path / "node_modules"
    package(modules / "bun", "bun", "1.4.5")
    package(modules / "@oven/bun-linux-x64", "@oven/bun-linux-x64", "1.4.5")
    package(modules / "bun/node_modules/deep", "deep", "1")
    package(modules / "@oven/bun-linux-x64/node_modules/@a/b", "@a/b", "2")
    # Neither is one that npm installed.
    package(modules / ".cache", "cached", "1")
    package(modules / "bun/plugin", "plugin", "1")
    found = runpy.run_path(str(SCRIPT))["npm"](modules)
    assert found == {
        ("npm", "bun", "1.4.5"),
        ("npm", "@oven/bun-linux-x64", "1.4.5"),
        ("npm", "deep", "1"),
        ("npm", "@a/b", "2"),
    }


@pytest.mark.parametrize(
    ("place", "why"), [("npm:/nonexistent", "no folder of npm"), ("/tmp", "no virtual environment")]
)
def test_a_place_that_holds_no_packages_is_refused(place: str, why: str, tmp_path: Path) -> None:
    dpkg = tmp_path / "dpkg-query"
    dpkg.write_text("#!/bin/sh\n")
    dpkg.chmod(0o755)
    done = subprocess.run(
        [sys.executable, SCRIPT, place],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert why in done.stderr
