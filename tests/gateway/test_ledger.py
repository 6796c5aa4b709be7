import asyncio
import resource
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from runner.gateway.ledger import Ledger, LedgerError
from runner.model import Call
from runner.paths import root
from tests.gateway._setup import settle_down


def call(number: int = 0) -> Call:
    return Call(
        seq=0,
        step="deposit reader-01.md",
        purpose="update",
        requested_model="m",
        outcome="answered",
        cost_usd=Decimal("0.0000001"),
        detail=f"call {number}",
        prompt_sha256="x",
    )


async def test_a_line_is_on_the_disk_when_append_returns(tmp_path: Path) -> None:
    path, followed = tmp_path / "calls.jsonl", list[bytes]()
    ledger = Ledger(path, followed.append)
    for number in range(1, 4):
        written = await ledger.append(call(number))
        assert written.seq == number
        lines = path.read_bytes().splitlines()
        assert lines == followed
        assert Call.model_validate_json(lines[-1]) == written
    await ledger.close()
    assert path.stat().st_mode & 0o777 == 0o640


async def test_lines_that_come_at_once_are_all_kept_in_order(tmp_path: Path) -> None:
    path, followed = tmp_path / "calls.jsonl", list[bytes]()
    ledger = Ledger(path, followed.append)
    written = await asyncio.gather(*(ledger.append(call(number)) for number in range(200)))
    await ledger.close()
    lines = [Call.model_validate_json(line) for line in path.read_bytes().splitlines()]
    assert [line.seq for line in lines] == list(range(1, 201))
    assert sorted(written, key=lambda line: line.seq) == lines
    assert path.read_bytes() == b"".join(line + b"\n" for line in followed)


async def test_a_client_that_leaves_does_not_take_its_line_with_it(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    ledger = Ledger(path, lambda _: None)
    asking = asyncio.create_task(ledger.append(call()))
    await asyncio.sleep(0)
    asking.cancel()
    await settle_down()
    await ledger.append(call(2))
    await ledger.close()
    assert len(path.read_bytes().splitlines()) == 2


async def test_what_was_there_before_stays(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text("before\n")
    ledger = Ledger(path, lambda _: None)
    await ledger.append(call())
    await ledger.close()
    assert path.read_text().startswith('before\n{"seq":1')


async def test_a_full_disk_fails_this_line_and_every_later_one() -> None:
    followed = list[bytes]()
    ledger = Ledger(Path("/dev/full"), followed.append)
    for _ in range(2):
        with pytest.raises(LedgerError, match="No space left"):
            await ledger.append(call())
    together = await asyncio.gather(
        *(ledger.append(call()) for _ in range(3)), return_exceptions=True
    )
    assert all(isinstance(outcome, LedgerError) for outcome in together)
    assert followed == []
    await ledger.close()


WRITER = """
import asyncio, pathlib, sys
from runner.gateway.ledger import Ledger
from tests.gateway.test_ledger import call

async def main():
    ledger = Ledger(pathlib.Path(sys.argv[1]), lambda _: None)
    await ledger.append(call(1))
    await ledger.append(call(2))

asyncio.run(main())
"""


@pytest.mark.slow
def test_half_a_line_is_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    room = len(call(1).model_dump_json()) * 3 // 2

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    seen = subprocess.run(
        [sys.executable, "-c", WRITER, str(path)],
        cwd=root(),
        preexec_fn=limited,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "File too large" in seen.stderr
    only = Call.model_validate_json(path.read_bytes())
    assert (only.seq, only.detail) == (1, "call 1")
