from decimal import Decimal
from pathlib import Path

import pytest

from runner.model import Call
from runner.runs.ledgers import Salvage, parse
from runner.runs.sandbox import DeadLedger

LEASE = "0123456789abcdef"


def line(seq: int, usd: str) -> bytes:
    call = Call(
        seq=seq,
        step="deposit reader-01.md",
        purpose="extraction",
        requested_model="claude-sonnet-5-5",
        outcome="answered",
        cost_usd=Decimal(usd),
        prompt_sha256="0" * 64,
    )
    return call.model_dump_json().encode() + b"\n"


def said(folder: Path, **fields: object) -> list[str]:
    lines: list[str] = []
    usual = {"run_id": "reader-move-1", "lease": LEASE, "paid": True, "content": b""}
    Salvage(folder, lines.append)(DeadLedger(**{**usual, **fields}))  # type: ignore[arg-type]
    return lines


def test_what_was_spent_is_said_and_the_ledger_kept(tmp_path: Path) -> None:
    content = line(1, "0.0125") + line(2, "0.0300")
    (told,) = said(tmp_path / "ledgers", content=content)
    path = tmp_path / "ledgers" / "reader-move-1-01234567.jsonl"
    assert told.startswith("reader-move-1: its bench was killed after 2 calls, US$0.0425 spent")
    assert "play money" not in told
    assert str(path) in told
    assert path.read_bytes() == content


def test_a_cut_line_is_counted_and_kept(tmp_path: Path) -> None:
    content = line(1, "0.01") + line(2, "0.01")[:40]
    assert parse(content)[1] == 1
    (told,) = said(tmp_path, content=content)
    assert "1 call, US$0.0100 spent; 1 broken line" in told
    assert next(tmp_path.iterdir()).read_bytes() == content


def test_play_money_is_called_so(tmp_path: Path) -> None:
    (told,) = said(tmp_path, content=line(1, "0.01"), paid=False)
    assert "US$0.0100 of play money" in told


def test_a_run_that_made_no_call_is_not_mentioned(tmp_path: Path) -> None:
    assert said(tmp_path / "ledgers") == []
    assert not (tmp_path / "ledgers").exists()


def test_a_ledger_that_is_gone_is_no_proof_that_nothing_was_spent(tmp_path: Path) -> None:
    (told,) = said(tmp_path, content=None, why="The engine said no.")
    assert "not known" in told
    assert "The engine said no." in told


def test_a_name_from_a_label_leads_nowhere(tmp_path: Path) -> None:
    folder = tmp_path / "ledgers"
    said(folder, run_id="../../evil", content=line(1, "0.01"))
    assert [path.name for path in folder.iterdir()] == [".._.._evil-01234567.jsonl"]
    assert [path.name for path in tmp_path.iterdir()] == ["ledgers"]


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    (told,) = said(blocked / "ledgers", content=line(1, "0.01"))
    assert "US$0.0100 spent" in told
    assert "could not be kept" in told


@pytest.mark.parametrize("content", [b"\n", b"  \n\n"])
def test_blank_lines_are_no_calls(tmp_path: Path, content: bytes) -> None:
    assert said(tmp_path, content=content) == []
