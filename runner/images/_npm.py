"""Resolves what packages of npm an image gets, by npm."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from runner.errors import CannotStart
from runner.images._buildx import certificates
from runner.images._renewal import NpmLock

DEADLINE_S = 600.0


def lock(folder: Path, how: NpmLock) -> str:
    """The text of a ``package-lock.json``, as it is resolved now.

    Raises:
        CannotStart: there is no npm, or it cannot resolve it.
    """
    if shutil.which("npm") is None:
        raise CannotStart(
            "package-lock.json is made by npm, and there is none here.",
            hint="Install npm, or leave it out with --only.",
        )
    with tempfile.TemporaryDirectory(prefix="memory-bench-") as scratch:
        shutil.copyfile(folder / "package.json", Path(scratch) / "package.json")
        # Where a package was fetched from is this machine's affair; its hash is what counts.
        command = ["npm", "install", "--package-lock-only", "--ignore-scripts"]
        command += ["--omit-lockfile-registry-resolved", "--no-audit", "--no-fund"]
        if how.legacy_peers:
            command.append("--legacy-peer-deps")
        env = {**os.environ, "npm_config_update_notifier": "false"}
        if bundle := certificates():
            env |= {"NODE_EXTRA_CA_CERTS": str(bundle), "npm_config_cafile": str(bundle)}
        try:
            done = subprocess.run(
                command,
                cwd=scratch,
                env=env,
                check=False,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=DEADLINE_S,
            )
        except subprocess.TimeoutExpired as error:
            raise CannotStart(
                f"npm did not finish within {DEADLINE_S:g} s.", hint="Try again."
            ) from error
        if done.returncode != 0:
            raise CannotStart(
                f"npm failed with code {done.returncode}:\n{done.stderr.strip()[-2000:]}\n",
                hint="It needs npm's registry.",
            )
        return (Path(scratch) / "package-lock.json").read_text(encoding="utf-8")
