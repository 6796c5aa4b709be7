"""``bench verify`` and ``bench submit check``: what is printed, and how they end."""

import json
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.archive._made import archived, forged, honesty, trip
from tests.commands.conftest import Bench

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """An archive of a whole result."""
    folder = tmp_path_factory.mktemp("archived")
    return archived(trip(folder / "trip"), folder / "a.tar").read_bytes()


@pytest.fixture
def file(archive: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "a.tar"
    path.write_bytes(archive)
    return path


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return trip(tmp_path / "trip").path


def narrow(out: str) -> bool:
    """Whether it fits eighty columns."""
    return all(cell_len(line.rstrip()) <= 80 for line in out.splitlines())


# ---------------------------------------------------------------- bench verify


def test_what_holds(bench: Bench, file: Path) -> None:
    before = file.read_bytes()
    done = bench("verify", file)
    assert done.code == 0
    assert done.err.splitlines() == [
        "verifying blobs", "computing the report again", "unpacking layers",
    ]  # fmt: skip
    assert "24 checks that could be made hold" in " ".join(done.out.split())
    assert "does not hold" not in done.out
    assert "Not checked" not in done.out
    assert narrow(done.out)
    assert file.read_bytes() == before


def test_what_cannot_be_checked_is_said(bench: Bench, report: Path) -> None:
    done = bench("verify", report)
    assert (done.code, done.err) == (0, "")
    assert "Not checked, and so not proved: inputs, scripted, snapshots." in done.out
    assert narrow(done.out)


def test_what_does_not_hold(bench: Bench, file: Path) -> None:
    whole = bytearray(file.read_bytes())
    whole[len(whole) // 2] ^= 1
    file.write_bytes(whole)
    done = bench("verify", file, "--quiet")
    assert (done.code, done.err) == (7, "")
    assert "does not hold" in done.out
    assert "blobs" in done.out.splitlines()[-1]
    assert narrow(done.out)


def test_what_a_terminal_would_obey_is_shown(bench: Bench, report: Path) -> None:
    forged(report, lambda d: d["case"].update(name="\x1b[2J\u202e"))
    done = bench("verify", report)
    assert done.code == 7
    assert "\x1b" not in done.out
    assert "<U+001B>" in done.out
    assert narrow(done.out)


def test_every_check_as_json(bench: Bench, file: Path, report: Path) -> None:
    done = bench("verify", file, "-q", "--format", "json")
    assert (done.code, done.err) == (0, "")
    sheet = json.loads(done.out)
    assert sheet["holds"] is True
    assert {line["state"] for line in sheet["lines"]} == {"holds"}
    assert [line["id"] for line in sheet["lines"]][:5] == [
        "tar", "index", "blobs", "manifests", "referrers",
    ]  # fmt: skip
    forged(report, lambda d: d["spend"].update(cost_usd="0"))
    done = bench("verify", report, "--format", "json")
    assert done.code == 7
    (line,) = (one for one in json.loads(done.out)["lines"] if one["state"] == "does not hold")
    assert (line["id"], line["wrong"]) == ("costs", 1)
    assert "spend.cost_usd" in line["first"]


@pytest.mark.parametrize("raw", [b"", b"{", b"{}", b"no archive", b"\0" * 2048, b"\xff" * 9999])
def test_what_is_no_such_file_is_no_crash(bench: Bench, tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(raw)
    done = bench("verify", path)
    assert (done.code, done.err) == (7, "")


def test_no_file(bench: Bench, tmp_path: Path) -> None:
    for command in (("verify",), ("submit", "check")):
        done = bench(*command, tmp_path / "nothing")
        assert (done.code, done.out) == (2, "")
        assert "cannot be read" in done.err


# ---------------------------------------------------------------- bench submit check


def test_a_result_that_may_be_put_in_public(bench: Bench, file: Path) -> None:
    done = bench("submit", "check", file)
    assert (done.code, done.err) == (0, "")
    assert "It follows every rule that applies to it." in done.out
    assert "not applicable" in done.out
    assert narrow(done.out)


def test_one_that_may_not(bench: Bench, report: Path) -> None:
    forged(report, lambda d: d.update(checks_version=2))
    done = bench("submit", "check", report)
    assert (done.code, done.err) == (1, "")
    assert "Not to be put in public as it is: checks" in done.out
    assert "bench rescore REPORT --checks-version 3" in " ".join(done.out.split())
    assert narrow(done.out)


def test_every_rule_as_json(bench: Bench, tmp_path: Path) -> None:
    path = honesty(tmp_path / "dev").path
    done = bench("submit", "check", path, "--format", "json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert found["ready"] is True
    assert {rule["follows"] for rule in found["rules"]} == {"holds", "not applicable"}
    assert all(rule["why"] for rule in found["rules"])


def test_submit_alone_lists_what_it_can(bench: Bench) -> None:
    assert bench("submit").code == 2
    assert "check" in bench("submit", "--help").out
