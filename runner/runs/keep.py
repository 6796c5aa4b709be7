"""What ``--keep`` leaves on disk: snapshots by digest, and each run's calls and log."""

from dataclasses import dataclass
from pathlib import Path

import orjson

from runner.model import RunRecord
from runner.runs.sandbox.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Keep:
    """Keeps evidence under a folder, or nothing when there is none."""

    folder: Path | None

    def snapshot(self, run_id: str, snapshot: Snapshot) -> None:
        """Store a snapshot under its content digest, once however often it is seen."""
        if self.folder is None:
            return
        blob = self.folder / "snapshots" / f"{snapshot.sha256}.tar"
        blob.parent.mkdir(parents=True, exist_ok=True)
        if not blob.exists():
            part = blob.with_suffix(f".{run_id}.part")
            part.write_bytes(snapshot.archive)
            part.replace(blob)

    def record(self, record: RunRecord, *, log: str) -> None:
        """Store a run's ledger lines and the system's log."""
        if self.folder is None:
            return
        folder = self.folder / "runs" / record.spec.id
        folder.mkdir(parents=True, exist_ok=True)
        lines = [orjson.dumps(call.model_dump(mode="json")) for call in record.calls]
        (folder / "calls.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
        (folder / "system.log").write_text(log, encoding="utf-8")
        (folder / "record.json").write_bytes(orjson.dumps(record.model_dump(mode="json")))
