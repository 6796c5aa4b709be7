"""What ``--keep`` leaves on disk: snapshots by digest, and each run's calls and log."""

from dataclasses import dataclass
from pathlib import Path

import orjson

from runner.errors import CannotStart
from runner.model import RunRecord
from runner.runs.disk import give_to_owner, make_folder, try_out
from runner.runs.sandbox.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Keep:
    """Keeps evidence under a folder, or nothing when there is none."""

    folder: Path | None

    def prepare(self) -> None:
        """Find out before anything starts whether the folder can be written.

        Raises:
            CannotStart: when it cannot.
        """
        if self.folder is None:
            return
        try:
            make_folder(self.folder)
            try_out(self.folder)
        except OSError as error:
            raise CannotStart(
                f"Nothing can be kept in {self.folder}: {error.strerror or error}.",
                hint="Nothing was started. Choose a writable folder for --keep.",
            ) from error

    def snapshot(self, run_id: str, snapshot: Snapshot) -> None:
        """Store a snapshot under its content digest, once however often it is seen.

        Raises:
            OSError: when it cannot be written.
        """
        if self.folder is None:
            return
        blob = self.folder / "snapshots" / f"{snapshot.sha256}.tar"
        if not blob.exists():
            make_folder(blob.parent)
            part = blob.with_suffix(f".{run_id}.part")
            part.write_bytes(snapshot.archive)
            give_to_owner(part)
            part.replace(blob)

    def record(self, record: RunRecord, *, log: str) -> None:
        """Store a run's ledger lines and the system's log.

        Raises:
            OSError: when they cannot be written.
        """
        if self.folder is None:
            return
        folder = self.folder / "runs" / record.spec.id
        make_folder(folder)
        lines = [orjson.dumps(call.model_dump(mode="json")) for call in record.calls]
        for name, content in (
            ("calls.jsonl", b"".join(line + b"\n" for line in lines)),
            ("system.log", log.encode()),
            ("record.json", orjson.dumps(record.model_dump(mode="json"))),
        ):
            (folder / name).write_bytes(content)
            give_to_owner(folder / name)
