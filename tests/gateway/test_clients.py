"""Programs that know nothing of a gateway, through it, unchanged."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from runner.model import Usage
from tests.gateway._setup import KEY, MODEL, live
from tests.gateway.test_server import over_tcp
from tests.standin.upstream import How, Upstream

CLAUDE = os.environ.get("CLAUDE_CODE") or shutil.which("claude")


@pytest.mark.slow
@pytest.mark.skipif(CLAUDE is None, reason="Claude Code is not installed (CLAUDE_CODE names it)")
async def test_claude_code_gets_its_answer(tmp_path: Path) -> None:
    upstream = Upstream(How(text="hello from behind the door"))
    async with live(tmp_path, upstream) as (it, _), over_tcp(it) as url:
        assert CLAUDE is not None
        process = await asyncio.create_subprocess_exec(
            CLAUDE,
            *("-p", "say hello", "--model", MODEL),
            cwd=tmp_path,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "ANTHROPIC_BASE_URL": url,
                "ANTHROPIC_API_KEY": "none",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            },
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(60):
            said, problem = await process.communicate()
        lines = it.lines()
    assert (process.returncode, said.strip()) == (0, b"hello from behind the door"), problem
    assert {line.outcome for line in lines} == {"answered"}
    assert lines[-1].usage == Usage(input=100, output=20)
    assert lines[-1].streamed
    seen = upstream.seen[-1]
    assert seen.target == "/v1/messages?beta=true"
    assert seen.headers["x-api-key"] == KEY
    assert "claude-code" in seen.headers["anthropic-beta"]
