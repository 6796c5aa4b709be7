"""Resolves what Python packages an image gets, by the pinned uv."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from runner import paths
from runner.errors import CannotStart
from runner.images._buildx import certificates
from runner.images._renewal import PythonLock

DEADLINE_S = 600.0
PLATFORMS = {"amd64": "x86_64-manylinux_2_40", "arm64": "aarch64-manylinux_2_40"}
"""What wheels an image can use, by its architecture: those for Debian 13's C library."""
PYTHON = "3.13"
"""The Python of Debian 13, which is that of every image."""
_INSTALLED = re.compile(r"^ \+ (\S+?)==", re.MULTILINE)
_WITHOUT = re.compile(r"Because (\S+?)==")
_BLOCK = re.compile(r"^(?=[A-Za-z0-9])", re.MULTILINE)


def compile_(folder: Path, lock: PythonLock) -> str:
    """The text of a lock, as it is resolved now.

    Args:
        folder: the image's.
        lock: which, of one version.

    Raises:
        CannotStart: uv cannot be had, or cannot resolve it.
    """
    with tempfile.TemporaryDirectory(prefix="memory-bench-") as scratch:
        place = Path(scratch)
        for one in (*lock.inputs, *filter(None, [lock.overrides])):
            _copy(folder, place, one)
        target = place / lock.lock
        target.parent.mkdir(parents=True, exist_ok=True)
        command = ["pip", "compile", "--universal", "--python-version", lock.python]
        command += ["--generate-hashes", "--no-header", "--upgrade", "--output-file", lock.lock]
        if lock.overrides:
            command += ["--override", lock.overrides]
        if not lock.dependencies:
            command.append("--no-deps")
        command += [*lock.inputs, *(["-"] if lock.require else [])]
        _uv(command, place, lock.require)
        return _comments(folder / lock.lock) + target.read_text(encoding="utf-8")


def lock(folder: Path, inputs: Sequence[str]) -> str:
    """The text of a project's ``uv.lock``, as it is resolved now.

    Raises:
        CannotStart: uv cannot be had, or cannot resolve it.
    """
    with tempfile.TemporaryDirectory(prefix="memory-bench-") as scratch:
        place = Path(scratch)
        for one in (*inputs, "uv.lock"):
            _copy(folder, place, one)
        _uv(["lock", "--upgrade"], place)
        return (place / "uv.lock").read_text(encoding="utf-8")


def without(text: str, source: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What of a lock an architecture cannot have, because there is no wheel for it.

    A lock that was just resolved has the hashes of all wheels there are.

    Args:
        text: of the lock.
        source: distributions that come without wheels anyway.

    Returns:
        Names by architecture, of every architecture that has to go without some.

    Raises:
        CannotStart: uv cannot be had, or fails for another reason.
    """
    had = {one: _installable(text, {*map(_plain, source)}, one) for one in PLATFORMS}
    every = set().union(*had.values())
    return {one: tuple(sorted(every - names)) for one, names in had.items() if every - names}


def _installable(text: str, left_out: set[str], architecture: str) -> set[str]:
    blocks = [block for block in _BLOCK.split(text) if not block.startswith("#")]
    with tempfile.TemporaryDirectory(prefix="memory-bench-") as scratch:
        place = Path(scratch)
        while True:
            kept = [block for block in blocks if _plain(_name(block)) not in left_out]
            (place / "lock.txt").write_text("".join(kept))
            command = ["pip", "install", "--dry-run", "--no-deps", "--require-hashes"]
            command += ["--only-binary", ":all:", "--python", sys.executable, "--target", "there"]
            command += ["--python-platform", PLATFORMS[architecture], "--python-version", PYTHON]
            done = _run([*command, "--requirement", "lock.txt"], place)
            if done.returncode == 0:
                return {_plain(name) for name in _INSTALLED.findall(done.stderr)}
            lacking = _WITHOUT.search(done.stderr)
            if lacking is None or _plain(lacking[1]) in left_out:
                raise _failed(command, done)
            left_out.add(_plain(lacking[1]))


def _name(block: str) -> str:
    return re.split(r"[=\[ ;]", block, maxsplit=1)[0]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _comments(file: Path) -> str:
    """What a file says before its first line that is none."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True) if file.is_file() else []
    count = next((at for at, line in enumerate(lines) if not line.startswith("#")), 0)
    return "".join(lines[:count])


def _copy(folder: Path, place: Path, name: str) -> None:
    (place / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(folder / name, place / name)


def _uv(command: Sequence[str], place: Path, given: str = "") -> None:
    done = _run(command, place, given)
    if done.returncode != 0:
        raise _failed(command, done)


def _failed(command: Sequence[str], done: subprocess.CompletedProcess[str]) -> CannotStart:
    return CannotStart(
        f"uv {' '.join(command[:2])} failed with code {done.returncode}:\n"
        f"{done.stderr.strip()[-2000:]}\n",
        hint="It needs the Python package index.",
    )


def _run(command: Sequence[str], place: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    env = dict(os.environ)
    # Settings of the machine, or of a project around it, have no part in a lock.
    env |= {"UV_NO_CONFIG": "1", "UV_PYTHON_DOWNLOADS": "never", "NO_COLOR": "1"}
    env.pop("VIRTUAL_ENV", None)
    if bundle := certificates():
        env["SSL_CERT_FILE"] = str(bundle)
    try:
        return subprocess.run(
            [_program(), *command],
            cwd=place,
            env=env,
            check=False,
            input=given,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
        )
    except subprocess.TimeoutExpired as error:
        raise CannotStart(f"uv did not finish within {DEADLINE_S:g} s.", hint="Try again.") from (
            error
        )


def _program() -> str:
    """The pinned uv: where the project's scripts put it, else put there now."""
    pinned = paths.root() / "scripts" / "uv.txt"
    key = hashlib.sha256(pinned.read_bytes()).hexdigest()[:12]
    folder = paths.state_dir() / f"uv-{key}"
    program = folder / "bin" / "uv"
    if not program.is_file():
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        install += ["--require-hashes", "--only-binary", ":all:", "--requirement", str(pinned)]
        steps = (
            [sys.executable, "-m", "venv", str(folder)],
            [str(folder / "bin" / "python"), *install],
        )
        for step in steps:
            done = subprocess.run(step, check=False, capture_output=True, text=True)
            if done.returncode != 0:
                shutil.rmtree(folder, ignore_errors=True)
                raise CannotStart(
                    f"uv could not be installed:\n{done.stderr.strip()[-1000:]}\n",
                    hint="scripts/bench installs it too; it needs the Python package index.",
                )
    return str(program)
