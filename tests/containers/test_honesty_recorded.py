"""Several memories at once, one of which calls a model while it indexes: live, recorded, replayed,
finished later."""

from pathlib import Path

import orjson
import pytest

from runner.gateway import cassette
from runner.reports import files
from runner.reports.honesty import row_of, taken
from runner.reports.kept_answers import load_kept, regrade
from runner.reports.rescore import verdict
from runner.runs.page_tables import remembering
from runner.runs.sandbox import Engine
from runner.suites.memory_honesty import load_vault
from runner.systems.catalog import load
from tests.containers._bench import Bench
from tests.containers._standin import standing_in

pytestmark = [pytest.mark.containers, pytest.mark.all_images]

SEVERAL = ("honesty", "--systems", "bm25,mem0", "--set", "dev", "--quiet")
MEM0, BM25 = "honesty-mem0-dev.json", "honesty-bm25-dev.json"


@pytest.fixture
def bench(engine: Engine, tmp_path: Path) -> Bench:
    env = {"BENCH_STATE": str(tmp_path / "state"), "HTTPS_PROXY": "", "https_proxy": ""}
    return Bench(tmp_path, env=env, engine=engine)


def test_what_is_recorded_while_pages_are_indexed_answers_again(
    bench: Bench, engine: Engine, tmp_path: Path
) -> None:
    pages, purpose = load_vault("vault1"), load("mem0").ingestion
    assert purpose is not None
    table = tmp_path / "pages.toml"
    table.write_text(remembering(purpose, pages))
    bench.env["ANTHROPIC_API_KEY"] = "sk-of-a-test-000000000000"
    with standing_in(engine, system="mem0", table=table) as provider:
        done = bench.run(*SEVERAL, "--arm", "record", *provider.options, "--cassette", "c.gz",
                         "--yes", "--max-usd", "9", "-o", "recorded")  # fmt: skip
        assert done.returncode == 0, done.stderr
        # The bound is told before anything is spent, and holds.
        assert "upper bound: US$" in done.stderr
        recorded = bench.report(f"recorded/{MEM0}")
        asked = len(provider.seen())
        assert asked == len(recorded.runs[0].calls) == len(pages.pages)
        assert recorded.spend.estimate_bound_usd is not None
        assert 0 < recorded.spend.cost_usd < recorded.spend.estimate_bound_usd
        bench.env["ANTHROPIC_API_KEY"] = ""
        done = bench.run(*SEVERAL, "--arm", "replay", "--cassette", "c.gz", "-o", "replayed",
                         "--answers", "kept")  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert len(provider.seen()) == asked, "somebody was asked"
    tape = cassette.load(bench.folder / "c.gz")
    assert sum(len(entries) for entries in tape.runs.values()) == asked
    replayed = bench.report(f"replayed/{MEM0}")
    assert [one.cited for one in row_of(replayed).answers] == [
        one.cited for one in row_of(recorded).answers
    ]
    one, other = taken(recorded), taken(replayed)
    assert one is not None
    assert other is not None
    assert (one.calls, one.usd, one.simulated, other.simulated) == (asked, other.usd, False, True)
    assert one.peak_bytes is not None
    assert one.peak_bytes > 50_000_000
    # Who asks nobody is run as it is: nobody was let out, and nothing of it was recorded.
    plain = bench.report(f"recorded/{BM25}")
    assert (plain.arm, plain.cassette) == ("scripted", None)
    assert plain.runs[0].gateway is not None
    assert plain.runs[0].gateway.network == "none"
    home = bench.folder / "kept" / "mem0"
    [kept] = load_kept(home).sets
    assert kept.answered_by == "replay"
    assert regrade(home, kept) == kept.figures
    assert bench.left() == []


def test_a_half_written_folder_is_finished(bench: Bench) -> None:
    done = bench.run(*SEVERAL, "--runs", "2", "-o", "out")
    assert done.returncode == 0, done.stderr
    whole = bench.report(f"out/{MEM0}")
    half = whole.model_copy(update={"runs": whole.runs[:1]})
    half = half.model_copy(
        update={
            "verdict": verdict(half, half.runs, 1),
            "spend": half.spend.model_copy(update={"cost_usd": half.runs[0].cost_usd}),
        }
    )
    files.save(half, bench.folder / "out" / MEM0)
    (bench.folder / "out" / BM25).unlink()
    done = bench.run(*SEVERAL, "--runs", "2", "-o", "out", "--resume", "--format", "json")
    assert done.returncode == 0, done.stderr
    again = bench.report(f"out/{MEM0}")
    assert again.runs[0] == whole.runs[0]
    assert again.runs[1] != whole.runs[1]
    assert len(bench.report(f"out/{BM25}").runs) == 2
    # How much moved is in every report.
    for line in done.stdout.split("\n}\n"):
        if line.strip():
            document = orjson.loads(line + "\n}")
            assert document["verdict"]["repeats"]["moved"]["questions"] == 30
    assert bench.left() == []
