"""Nothing is spent before somebody says so."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.conftest import Bench

pytestmark = pytest.mark.slow

KEY = "sk-of-a-test-0123456789"
LIVE = ("--arm", "live")


@pytest.fixture(autouse=True)
def key(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("SSL_CERT_FILE", "")


def test_without_a_terminal_and_without_yes_nothing_starts(bench: Bench) -> None:
    done = bench(*LIVE, "--max-usd", "0.5")
    assert done.code == 8
    assert "about US$0.2403 (at most US$2.5000)" in done.err
    assert "upper bound: US$" in done.err
    assert "--yes" in done.err
    assert KEY not in done.err + done.out
    assert not list(Path.cwd().rglob("*.json"))


def test_with_yes_it_goes_on(bench: Bench) -> None:
    done = bench(*LIVE, "--yes")
    assert done.code == 6  # to where it needs an engine
    assert "No container engine answered" in done.err


@pytest.mark.parametrize(("answer", "code"), [("n", 8), ("", 8), ("y", 6)])
def test_at_a_terminal_it_asks(answer: str, code: int, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = Path(sys.executable).parent / "bench"
    environment = {
        **os.environ,
        "ANTHROPIC_API_KEY": KEY,
        "DOCKER_HOST": f"unix://{tmp_path}/none.sock",
        "BENCH_STATE": str(tmp_path),
    }
    process = subprocess.Popen(
        [command, *LIVE], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, cwd=tmp_path, env=environment,
    )  # fmt: skip
    os.write(ours, f"{answer}\n".encode())
    _, err = process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert process.returncode == code, err
    assert "Spend about US$0.2403 (no ceiling)?" in err


def test_scripted_and_replayed_runs_never_ask(bench: Bench) -> None:
    assert bench("--arm", "scripted").code == 6


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((*LIVE, "--cassette", "x"), "--cassette is of no use"),
        (("--arm", "record"), "needs --cassette"),
        (("--arm", "replay"), "needs --cassette"),
        (("--arm", "replay", "--cassette", "none"), "cannot be read"),
        ((*LIVE, "--model", "no-such"), "--price no-such="),
        ((*LIVE, "--price", "x"), "is no price"),
        ((*LIVE, "--price", "x=1,1", "--price", "x=2,2"), "names x twice"),
        (("--arm", "scripted", "--save-profile"), "--save-profile needs"),
        ((*LIVE, "--max-usd", "0.001"), "at least 0.0093"),
        (("--arm", "scripted", "--max-usd-total", "0"), "--max-usd-total"),
        (("--arm", "scripted", "--ca", "x"), "--ca is of no use"),
    ],
)
def test_what_cannot_be_is_said_before_anybody_is_asked(
    bench: Bench, args: tuple[str, ...], says: str
) -> None:
    done = bench(*args)
    assert done.code == 2, done.err
    assert says in done.err.replace("\n", " ")


def test_without_a_key_only_an_endpoint_of_ones_own_will_do(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    done = bench(*LIVE, "--yes")
    assert done.code == 2
    assert "there is no key" in done.err
    own = ("--anthropic-url", "http://10.0.0.7:8000", "--allow-private", "10.0.0.7")
    assert bench(*LIVE, "--yes", *own).code == 6
    assert bench(*LIVE, "--estimate").code == 0


def test_a_given_price_is_used_and_said(bench: Bench) -> None:
    done = bench("--model", "my-model", "--price", "my-model=1,1", "--estimate")
    assert done.code == 0, done.err
    assert "my-model as given with --price" in done.out.replace("\n", " ")
