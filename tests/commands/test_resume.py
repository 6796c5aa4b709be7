"""A half-written report is looked at before anything is started: here no engine answers at all."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from tests.commands.conftest import Bench

Forge = Callable[[Path, Callable[[dict[str, Any]], object]], None]


def test_an_altered_report_is_not_resumed(bench: Bench, reader: Path, forge: Forge) -> None:
    document = orjson.loads(reader.read_bytes())
    document["model"] = "another"
    altered = reader.with_name("altered.json")
    altered.write_bytes(orjson.dumps(document))
    done = bench("--arm", "scripted", "--output", altered, "--resume")
    assert done.code == 7
    assert "model" in done.err
    forge(reader, lambda doc: doc["runs"][0]["calls"].pop())
    done = bench("--arm", "scripted", "--output", reader, "--resume")
    assert done.code == 7
    assert "runs[0]." in done.err
    assert "calls come to" in done.err or "costs of its calls" in done.err


def test_what_is_no_report_is_not_resumed(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    path.write_text('{"mine": true}')
    assert bench("--arm", "scripted", "--output", path, "--resume").code == 7
    assert path.read_text() == '{"mine": true}'


def test_a_report_that_is_there_is_not_written_over(bench: Bench, reader: Path) -> None:
    before = reader.read_bytes()
    done = bench("--arm", "scripted", "--output", reader)
    assert done.code == 2
    assert "--resume" in done.err
    assert reader.read_bytes() == before


def test_every_output_of_all_variants_is_looked_at(bench: Bench) -> None:
    Path("all-lyon-porto.json").touch()
    done = bench("--arm", "scripted", "--all-variants", "--output", "all.json")
    assert done.code == 2, done.err
    assert "all-lyon-porto.json" in done.err
