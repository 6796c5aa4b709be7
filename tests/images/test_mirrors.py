import http.server
import threading
from collections.abc import Iterator

import pytest

from runner.errors import CannotStart, UsageError
from runner.images import _mirrors

MOMENT = "20261001T000000Z"


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A snapshot service that has one moment; the paths it was asked for."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            asked.append(self.path)
            there = self.path == f"/archive/debian/{MOMENT}/dists/trixie/InRelease"
            self.send_response(200 if there else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("BENCH_DEBIAN_SNAPSHOTS", f"http://127.0.0.1:{server.server_port}/archive/")
    yield asked
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("day", "moment"),
    [
        ("2026-10-01", "20261001T000000Z"),
        ("20261001", "20261001T000000Z"),
        (" 20261001T123456Z ", "20261001T123456Z"),
        ("2026-10-01T12:34:56Z", "20261001T123456Z"),
    ],
)
def test_a_day_is_its_beginning(day: str, moment: str) -> None:
    assert _mirrors.stamp(day) == moment


@pytest.mark.parametrize("day", ["", "yesterday", "2026-13-01", "20260230", "2026", "1/2/2026"])
def test_what_is_no_day_is_refused(day: str) -> None:
    with pytest.raises(UsageError, match="is no date"):
        _mirrors.stamp(day)


def test_packages_come_from_debian_a_mirror_or_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCH_DEBIAN_SNAPSHOTS", raising=False)
    monkeypatch.delenv("BENCH_DEBIAN_MIRROR", raising=False)
    assert _mirrors.mirrors().usual
    monkeypatch.setenv("BENCH_DEBIAN_MIRROR", "http://mirror/debian")
    mirror = _mirrors.mirrors()
    assert not mirror.usual
    assert [line.split("] ")[1] for line in mirror.lines("trixie")] == [
        "http://mirror/debian trixie main",
        "http://mirror/debian trixie-updates main",
        "http://deb.debian.org/debian-security trixie-security main",
    ]
    past = _mirrors.mirrors(MOMENT).lines("trixie")
    assert all("check-valid-until=no" in line and "signed-by=" in line for line in past)
    assert f"http://snapshot.debian.org/archive/debian-security/{MOMENT} " in past[2]
    assert not any("check-valid-until" in line for line in mirror.lines("trixie"))


def test_a_moment_the_service_has_is_there(service: list[str]) -> None:
    _mirrors.reach(MOMENT, "trixie")
    assert service == [f"/archive/debian/{MOMENT}/dists/trixie/InRelease"]


def test_a_moment_it_has_not_is_told_with_the_address(service: list[str]) -> None:
    with pytest.raises(CannotStart, match=r"answers 404: http://127.*/debian/20990101T000000Z/"):
        _mirrors.reach("20990101T000000Z", "trixie")
    assert len(service) == 1


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/archive", "nothing://x", "nowhere"])
def test_a_service_that_cannot_be_reached_is_told(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_DEBIAN_SNAPSHOTS", address)
    with pytest.raises(CannotStart, match=r"snapshot service cannot be reached \(") as caught:
        _mirrors.reach(MOMENT, "trixie")
    assert "BENCH_DEBIAN_SNAPSHOTS" in caught.value.hint


def test_lines_in_apts_other_format() -> None:
    first, _, third = _mirrors.stanzas(_mirrors.mirrors(MOMENT).lines("trixie")).split("\n\n")
    assert first.splitlines() == [
        "Types: deb",
        f"URIs: http://snapshot.debian.org/archive/debian/{MOMENT}",
        "Suites: trixie",
        "Components: main",
        f"Signed-By: {_mirrors.KEYRING}",
        "Check-Valid-Until: no",
    ]
    assert "Suites: trixie-security\n" in third
    assert _mirrors.stanzas(["deb http://x y main"]).startswith("Types: deb\nURIs: http://x\n")
    with pytest.raises(UsageError, match="no source of Debian's packages"):
        _mirrors.stanzas(["deb http://x y"])
