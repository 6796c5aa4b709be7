"""The worker's log as it was captured, and what is made of it."""

from pathlib import Path

import pytest
from claude_mem_driver.errors import (
    Degraded,
    DriverError,
    GatewayRefused,
    ProviderFailed,
    UnusableReply,
)
from claude_mem_driver.log import Dropped, Kept, Log, outcome, parsed, search_failed

AT = "[2026-09-01 12:00:36.437]"
WARN = (
    f"{AT} [WARN ] [PARSER] [session-2] SDK returned non-XML prose response — ignoring queued batch"
)
QUEUED = (
    f"{AT} [INFO ] [QUEUE ] [session-2] ENQUEUED | sessionDbId=2 | messageId=4 | type=observation"
    " | tool=Read(/home/bench/vault/delta.md) | depth=1"
)
STORED = (
    f"{AT} [INFO ] [DB    ] [session-2] STORED | sessionDbId=2 | memorySessionId=ee5499c5-90d9"
    " | obsCount={} | obsIds=[{}] | summaryId={}"
)
REFUSED = (
    f"{AT} [ERROR] [PARSER] [session-2] SDK authentication failed; run /login to preserve queued"
    " batch {outputClass=prose, remediation=/login, preview=Failed to authenticate. API Error: 403"
    " no scripted answer}"
)


def prose(said: str) -> str:
    return f"{WARN} {{outputClass=prose, preview={said}, consecutiveContextOverflows=0}}"


def of(line: str) -> Kept | Dropped | None:
    (found,) = parsed(line)
    assert found.session == 2
    return outcome(found)


def test_what_was_kept() -> None:
    assert of(STORED.format(1, 3, "none")) == Kept((3,))
    assert of(STORED.format(2, "3,4", "none")) == Kept((3, 4))
    assert of(STORED.format(0, "", "none")) == Kept()
    assert of(STORED.format(0, "", 7)) == Kept((), 7)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (prose("I will skip this."), UnusableReply),
        (prose("The server is overloaded, says API Error: 529."), UnusableReply),
        (
            prose("API Error: Claude Code is unable to respond to this request, which appears to"),
            UnusableReply,
        ),
        (prose("API Error: 529 Overloaded. This is a server-side issue"), ProviderFailed),
        (prose("API Error: Request timed out."), ProviderFailed),
        (prose("Credit balance is too low"), ProviderFailed),
        (prose("API Error: 403 no scripted answer for this observation call"), GatewayRefused),
        (REFUSED, GatewayRefused),
        (
            f"{AT} [INFO ] [SESSION] Idle timeout reached, triggering abort to kill subprocess"
            " {sessionDbId=2, idleDurationMs=180018, thresholdMs=180000}",
            ProviderFailed,
        ),
        (
            f"{AT} [INFO ] [SESSION] [session-2] Generator exited — finalizing session"
            " {reason=idle}",
            ProviderFailed,
        ),
        (
            f"{AT} [WARN ] [SDK_SPAWN] [session-2] Claude process exited {{code=1, signal=null,"
            " pid=208}",
            Degraded,
        ),
        (f"{AT} [ERROR] [SESSION] [session-2] Generator failed {{provider=claude}}", Degraded),
    ],
)
def test_what_was_lost_and_whose_fault_that_is(line: str, error: type[DriverError]) -> None:
    came = of(line)
    assert isinstance(came, Dropped)
    made = came.error("the observation of a.md is lost")
    assert type(made) is error
    assert str(made).startswith("the observation of a.md is lost: ")


def test_words_of_a_model_are_told_from_words_in_their_place() -> None:
    for said, spoken in (("Nothing yet.", True), ("API Error: 529 Overloaded", False)):
        came = of(prose(said))
        assert isinstance(came, Dropped)
        assert (came.why, came.prose) == (said, spoken)


@pytest.mark.parametrize(
    "line",
    [
        QUEUED,
        STORED.format(1, 3, "none").replace("STORED", "STORING").split(" | obsIds")[0],
        f"{AT} [INFO ] [SDK   ] [session-2] ← Response received (17 chars) {{promptNumber=1}} API"
        " Error: 529",
        f"{AT} [WARN ] [PARSER] [session-2] Salvaged unstructured observation prose as narrative",
        f"{AT} [ERROR] [PARSER] [session-2] Invalid observation type: note, preserving it",
        f"{AT} [WARN ] [SDK   ] [session-2] Observer conversation recycled",
    ],
)
def test_the_rest_says_nothing_of_an_answer(line: str) -> None:
    assert of(line) is None


def test_a_line_goes_on_until_the_next_one_begins() -> None:
    found = list(parsed(f"lost\n{prose('two')[:-40]}\nlines, of\n  it\n{QUEUED}\nand more"))
    assert [line.part for line in found] == ["PARSER", "QUEUE"]
    assert found[0].text.endswith("lines, of it")
    assert found[1].text.endswith("depth=1 and more")


def test_a_search_that_went_on_without_its_vectors_is_seen() -> None:
    quiet = f"{AT} [INFO ] [CHROMA_MCP] Connected to chroma-mcp successfully\n{QUEUED}"
    assert search_failed(parsed(quiet)) is None
    for line in (
        f"{AT} [WARN ] [SEARCH] ChromaDB semantic search failed, falling back to FTS5",
        f"{AT} [ERROR] [CHROMA_SYNC] Batch add failed {{batchSize=3}}",
    ):
        assert search_failed(parsed(f"{quiet}\n{line}"))


def test_a_log_is_followed_from_day_to_day(tmp_path: Path) -> None:
    log = Log(tmp_path / "logs")
    assert log.new() == []
    (tmp_path / "logs").mkdir()
    first = tmp_path / "logs/claude-mem-2026-09-01.log"
    first.write_text(f"{QUEUED}\n{STORED.format(1, 3, 'none')[:60]}")
    assert [line.part for line in log.new()] == ["QUEUE"]
    assert log.new() == []
    # The rest of a line that was not whole yet, and a file of another day.
    first.write_text(f"{QUEUED}\n{STORED.format(1, 3, 'none')}\n")
    (tmp_path / "logs/claude-mem-2026-10-01.log").write_text(f"{prose('later')}\n")
    (tmp_path / "logs/other.txt").write_text(f"{QUEUED}\n")
    assert [outcome(line) for line in log.new()] == [Kept((3,)), Dropped("later", said=True)]
    assert log.new() == []
