"""What is shown of linkedparticles' own reports: within eighty columns, and never obeyed."""

from io import StringIO
from pathlib import Path

from rich.console import Console

from runner.reports.upstream import render, rescore_upstream
from tests.reports._upstream import (
    SOUND,
    bars,
    changed,
    gate,
    move,
    pair,
    row,
    tally,
    trip,
    written,
)


def shown(folder: Path, document: object, version: int | None = None) -> str:
    said = StringIO()
    Console(file=said, width=80, color_system=None).print(
        render(rescore_upstream(written(folder, document), version))
    )
    lines = said.getvalue().splitlines()
    assert all(len(line.rstrip()) <= 80 for line in lines)
    return "\n".join(line.rstrip() for line in lines)


def test_a_sound_report(tmp_path: Path) -> None:
    text = shown(tmp_path, trip())
    assert "Trip versus move, reader: written by linkedparticles 1.191.0 on 2026-10-14" in text
    assert "move 1         passed   passed   hold: i, ii, iii, iv" in text
    assert "move        passed 3 of 3 [29–100%]" in text
    assert "saved: met; here: met. All of 3 move and 2 trip-alone runs passed" in text
    assert "Everything it says comes out again." in text


def test_an_altered_one(tmp_path: Path) -> None:
    text = shown(tmp_path, changed(trip(), "runs.0.passed", False))
    assert "What it says is not what its rows come to:" in text
    assert "· move 1, passed: saved no; again yes" in text


def test_a_gate(tmp_path: Path) -> None:
    rows = [*SOUND, pair("u3", "changes", "!CC"), pair("r1", "report", "nnn")]
    counts = {"production": 0, "changes-only": 0, "before-1.187": 0, "of": 3}
    told = bars(
        tally("3/3", "0/3"),
        reported={"r1": {"class": "dated-update", "expected": "report", **counts}},
    )
    text = shown(tmp_path, gate(past_marker={"rows": rows, "bars": told}))
    assert "past-marker-held-out   production     3 of 3, 0 of 3   3 of 3, 0 of 3" in text
    assert "saved: met; here: none. Not told: 1 of 3 samples" in text
    assert "never barred" in text
    assert "past-marker-held-out, bar here: saved met; again none" in text


def test_strangers_words_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    claim = "\x1b[2J [red]The user lives in Delhi.[/] \u202e" + "x" * 5_000
    rows = [*move(1)["rows"], row("x", claim, "reader-01.md")]
    document = trip(move(1, rows=rows), notes=["\x1b[31mnote"])
    text = shown(tmp_path, document)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "<U+001B>[2J [red]The user lives" in text
    assert "…" in text
    assert "x" * 300 not in text.replace("\n", "").replace(" ", "")


def test_only_so_many_differences_are_shown(tmp_path: Path) -> None:
    runs = [move(number, passed=False) for number in range(1, 71)]
    assert "and 21 more" in shown(tmp_path, trip(*runs))
