import os
from pathlib import Path

from runner.reports.view import scan, version
from runner.reports.view._folder import reports


def test_a_folder_that_is_not_there_is_an_empty_one(tmp_path: Path) -> None:
    assert version(scan(tmp_path / "none")) == version(scan(tmp_path)) != ""


def test_what_pages_depend_on_makes_another_version(tmp_path: Path) -> None:
    seen = {version(scan(tmp_path))}
    report = tmp_path / "one.json"
    for change in (
        lambda: report.write_text("{}"),
        lambda: os.utime(report, ns=(1, 1)),
        lambda: (tmp_path / "one.sealed.gz").write_bytes(b"x"),
        lambda: (tmp_path / "one.cassette").write_bytes(b"x"),
        lambda: report.rename(tmp_path / "other.json"),
    ):
        change()
        now = version(scan(tmp_path))
        assert now not in seen
        seen.add(now)


def test_a_report_that_takes_the_place_of_another_is_noticed(tmp_path: Path) -> None:
    """Written beside and renamed, of the same size and with the same time."""
    report, fresh = tmp_path / "one.json", tmp_path / ".one.json.new"
    report.write_text("{}")
    os.utime(report, ns=(1, 1))
    before = version(scan(tmp_path))
    fresh.write_text("[]")
    os.utime(fresh, ns=(1, 1))
    assert version(scan(tmp_path)) == before, "what is being written is no report yet"
    fresh.replace(report)
    assert version(scan(tmp_path)) != before


def test_hidden_files_are_none_of_its_business(tmp_path: Path) -> None:
    before = version(scan(tmp_path))
    (tmp_path / ".hidden.json").write_text("{}")
    assert version(scan(tmp_path)) == before
    assert reports(tmp_path) == []
