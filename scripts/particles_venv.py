"""Install linkedparticles for this machine, out of its lock, beside the project and not in it.

    python scripts/particles_venv.py [--print] [--version VERSION]

What it makes lies in a folder of its own under the state folder, named after what it was made
from: a virtual environment with the lock's packages and the numpy encoder of ``images/particles``,
and the encoder's weights as a hub cache. Made once; a second run finds it. The last line printed
is a JSON object: ``python``, ``hub`` (for ``HF_HOME``), ``seconds`` and ``megabytes``.
"""

import argparse
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from runner.paths import images, state_dir  # noqa: E402 - the checkout itself is what is imported

READY = "ready.json"


def main() -> int:
    """Install where it is not yet, and say where it is."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--print", action="store_true", help="install nothing")
    context = images() / "particles"
    known = sorted(file.stem for file in (context / "locks").glob("*.txt"))
    usual = tomllib.loads((context / "system.toml").read_text())["version"]
    arguments.add_argument("--version", choices=known, default=usual)
    asked = arguments.parse_args()
    lock = context / "locks" / f"{asked.version}.txt"
    home = state_dir() / "particles" / _digest(context, lock)
    if not (home / READY).exists():
        if asked.print:
            print("linkedparticles is not installed", file=sys.stderr)
            return 1
        home.mkdir(parents=True, exist_ok=True)
        with (home.parent / "lock").open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            if not (home / READY).exists():
                _install(context, lock, home)
    print((home / READY).read_text())
    return 0


def _digest(context: Path, lock: Path) -> str:
    """What the installation is made from, in twelve hexadecimal digits."""
    total = hashlib.sha256(f"{sys.version_info[:2]}".encode())
    for file in (lock, *sorted((context / "encoder").rglob("*.py"))):
        total.update(f"{file.relative_to(context)}\0{len(file.read_bytes())}\0".encode())
        total.update(file.read_bytes())
    return total.hexdigest()[:12]


def _install(context: Path, lock: Path, home: Path) -> None:
    started = time.monotonic()
    venv = home / "venv"
    shutil.rmtree(venv, ignore_errors=True)
    _run(sys.executable, "-m", "venv", *(("--without-pip",) if _uv() else ()), str(venv))
    python = venv / "bin" / "python"
    locked = ("--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", str(lock))
    if uv := _uv():
        _run(uv, "pip", "install", "--quiet", "--python", str(python), *locked)
    else:
        _run(str(python), "-m", "pip", "install", "--quiet", "--no-compile", *locked)
    _run(str(python), str(context / "encoder" / "install.py"), str(home / "hub"))
    _run(str(python), "-m", "compileall", "-q", "-j", "0", str(venv / "lib"), check=False)
    size = sum(file.lstat().st_size for file in home.rglob("*") if not file.is_dir())
    ready = {
        "python": str(python),
        "hub": str(home / "hub"),
        "seconds": round(time.monotonic() - started, 1),
        "megabytes": round(size / 1e6),
    }
    fresh = home / f".{READY}.{os.getpid()}"
    fresh.write_text(json.dumps(ready))
    fresh.replace(home / READY)


def _uv() -> str | None:
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.exists() else shutil.which("uv")


def _run(*command: str, check: bool = True) -> None:
    subprocess.run(command, check=check, stdout=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
