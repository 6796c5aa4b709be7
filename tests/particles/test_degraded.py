"""An engine with less than it has does not pass for a whole one."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from runner.suites.trip_vs_move import load_case
from tests.particles._run import CommandBox, DriverBox, Installed, run

pytestmark = [pytest.mark.particles, pytest.mark.timeout(600)]


def box(particles: Installed, folder: Path, **env: str) -> DriverBox:
    return DriverBox(particles, folder, 9, folder / "clock", {}, env)


def test_without_its_encoder_nothing_is_done(particles: Installed, folder: Path) -> None:
    driver = box(particles, folder, HF_HOME=str(folder / "nowhere"))
    try:
        for verb in ("describe", "deposit", "consolidate", "snapshot"):
            reply = driver.ask(verb, name="a.md", text="A.", day="2026-09-01")
            assert reply["error"]["type"] == "degraded", reply
        assert driver.ask("stop")["ok"]
    finally:
        driver.close()


def test_a_store_made_without_an_encoder_says_so(particles: Installed, folder: Path) -> None:
    # The engine's own commands go on without a word.
    case = load_case("reader")
    nowhere = {"HF_HOME": str(folder / "nowhere")}
    ran = run(particles, folder, case, "trip-alone", env=nowhere, box=CommandBox)
    assert len(ran.final.unmapped) == len(ran.final.claims) == 2
    assert all("has no vector" in each for each in ran.final.unmapped)


def test_it_says_what_it_is(particles: Installed, folder: Path) -> None:
    driver = box(particles, folder)
    try:
        said = driver.result("describe")
        assert (said["name"], said["version"]) == ("particles", "1.214.1")
        assert said["encoder"].startswith("all-MiniLM-L6-v2")
        assert driver.ask("learn")["error"]["type"] == "unsupported"
        assert driver.ask("dance")["error"]["type"] == "bad_request"
        for name in ("", "..", "a/b", "/etc/passwd", None):
            assert driver.ask("deposit", name=name, text="A.")["error"]["type"] == "bad_request"
    finally:
        driver.close()


def test_a_model_that_cannot_be_had_is_no_empty_note(particles: Installed, folder: Path) -> None:
    driver = box(particles, folder)
    try:
        reply = driver.ask("deposit", name="a.md", text="I live in Delhi.\n", day="2026-09-01")
        assert not reply["ok"], reply
        snapshot = Path(driver.result("snapshot")["path"])
        with closing(sqlite3.connect(snapshot / "particles.db")) as store:
            assert store.execute("SELECT count(*) FROM particles").fetchone() == (0,)
    finally:
        driver.close()
