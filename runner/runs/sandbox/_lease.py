"""Who is dead: a lock that the kernel lets go of when its owner ends, in whatever way it ends.

An owner takes the lock on a file of its own *before* it creates anything, and labels everything
with the file's name. Whoever can take that lock, or finds no file, knows that the owner is gone.
Process ids would not
do: the owner may be in another container than who asks.

A lock means something on one kernel and in one folder only. That pair is a *domain*, with an id of
its own in every label, so that nobody judges the leases of a machine he cannot see.
"""

import contextlib
import fcntl
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runner.errors import CannotStart

LABEL_LEASE = "memory-bench.lease"
LABEL_DOMAIN = "memory-bench.domain"
LABEL_RUN = "memory-bench.run"
LABEL_ROLE = "memory-bench.role"

_SUFFIX = ".lease"


def folder(environ: Mapping[str, str], home: Path) -> Path:
    """Where leases lie: ``BENCH_LEASES`` (in Compose a shared volume), else the user's state."""
    if chosen := environ.get("BENCH_LEASES"):
        return Path(chosen)
    state = environ.get("XDG_STATE_HOME")
    return (Path(state) if state else home / ".local" / "state") / "memory-bench" / "leases"


@dataclass(frozen=True, slots=True)
class Domain:
    """All leases that one folder on one kernel holds."""

    folder: Path
    id: str

    @classmethod
    def at(cls, folder: Path) -> "Domain":
        """The domain of a folder, which is made where it is missing.

        Raises:
            CannotStart: the folder cannot be written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / "domain"
            fresh = folder / f".domain-{uuid.uuid4().hex}"
            if not file.exists():
                fresh.write_text(uuid.uuid4().hex)
                with contextlib.suppress(FileExistsError):
                    file.hardlink_to(fresh)  # the first one stays
                fresh.unlink()
            name = file.read_text().strip()
        except OSError as error:
            raise CannotStart(
                f"The folder for leases, {folder}, cannot be used: {error.strerror or error}.",
                hint="Set BENCH_LEASES to a folder that can be written.",
            ) from error
        # The boot is part of it: a folder on a network share is seen by kernels that do not share
        # locks.
        return cls(folder, f"{name}-{_boot()}")

    def take(self) -> "Lease":
        """A lease of one's own, held until it is released or this process ends.

        Raises:
            CannotStart: the folder cannot be written.
        """
        name = uuid.uuid4().hex
        hidden = self.folder / f".new-{name}"
        try:
            handle = os.open(hidden, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o644)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Only a locked file ever gets a name that others look at.
            hidden.rename(self.folder / f"{name}{_SUFFIX}")
        except OSError as error:
            raise CannotStart(
                f"No lease can be taken in {self.folder}: {error.strerror or error}.",
                hint="Set BENCH_LEASES to a folder on a local disk.",
            ) from error
        return Lease(self, name, handle)

    def dead(self, name: str) -> bool:
        """Whether the owner of a lease of this domain is gone."""
        if not name.isalnum():
            return True
        try:
            handle = os.open(self.folder / f"{name}{_SUFFIX}", os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        try:
            fcntl.flock(
                handle, fcntl.LOCK_SH | fcntl.LOCK_NB
            )  # shared: two who ask do not look alive
        except OSError:
            return False
        finally:
            os.close(handle)
        return True

    def living(self) -> tuple[str, ...]:
        """Leases that somebody holds."""
        names = sorted(file.name.removesuffix(_SUFFIX) for file in self.folder.glob(f"*{_SUFFIX}"))
        return tuple(name for name in names if not self.dead(name))

    def forget(self, name: str) -> None:
        """Remove the file of a dead lease, once nothing bears its label any more."""
        if name.isalnum():
            (self.folder / f"{name}{_SUFFIX}").unlink(missing_ok=True)

    def files(self) -> tuple[str, ...]:
        """Names of all leases that still have a file."""
        return tuple(
            sorted(file.name.removesuffix(_SUFFIX) for file in self.folder.glob(f"*{_SUFFIX}"))
        )


@dataclass(slots=True)
class Lease:
    """One held lease. Releasing it says: nothing of mine is left."""

    domain: Domain
    name: str
    _handle: int = field(repr=False)

    def labels(self, run_id: str, role: str) -> dict[str, str]:
        """What every container and volume of a run is labelled with."""
        return {
            LABEL_LEASE: self.name,
            LABEL_DOMAIN: self.domain.id,
            LABEL_RUN: run_id,
            LABEL_ROLE: role,
        }

    def release(self) -> None:
        """Give it up. Twice is once."""
        if self._handle >= 0:
            self.domain.forget(self.name)
            os.close(self._handle)
            self._handle = -1


def _boot() -> str:
    """What tells this boot of this kernel from others."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", "")[:12]
    except OSError:
        return "unknown"
