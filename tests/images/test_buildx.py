import os
import time
from pathlib import Path

import pytest

from runner.engine_api import Address
from runner.errors import CannotStart
from runner.images import _buildx

NOWHERE = Address("unix:///nonexistent/engine.sock", "a test", chosen=True)


def command(folder: Path, body: str) -> None:
    """A docker command that does as told."""
    file = folder / "docker"
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)


def build(context: Path, *, deadline_s: float = 20.0, **args: str) -> list[str]:
    said: list[str] = []
    _buildx.build(
        NOWHERE,
        context,
        tags=["memory-bench/x:1"],
        labels={"b": "2", "a": "1"},
        args={"BASE": "y", **args},
        progress=said.append,
        deadline_s=deadline_s,
    )
    return said


@pytest.fixture(autouse=True)
def _path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name in ("BENCH_CA", "SSL_CERT_FILE"):
            monkeypatch.delenv(name)


def test_the_command_says_all_that_matters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = tmp_path / "ca.crt"
    bundle.write_text("x")
    monkeypatch.setenv("BENCH_CA", str(bundle))
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    monkeypatch.setenv("DOCKER_CONTEXT", "elsewhere")
    monkeypatch.setenv("BUILDX_BUILDER", "mine")
    command(tmp_path, f'echo "$DOCKER_HOST|$DOCKER_CONTEXT|$BUILDX_BUILDER|$*" >{tmp_path}/said')
    build(tmp_path)
    host, context, builder, line = (tmp_path / "said").read_text().strip().split("|")
    assert (host, context, builder) == (NOWHERE.url, "", "")
    assert line.startswith("buildx --builder default build --load ")
    assert "--tag memory-bench/x:1 --label a=1 --label b=2 " in line
    assert "--build-arg BASE=y" in line
    for spelling in ("https_proxy", "HTTPS_PROXY"):
        assert f"--build-arg {spelling}=http://proxy:3128" in line
    assert line.endswith(f"--secret id=ca,src={bundle} {tmp_path}")


@pytest.mark.parametrize(
    ("setting", "env", "wanted"),
    [
        ("http://apt:3142", "", "http://apt:3142"),
        ("http://apt:3142", "http://own:3128", "http://own:3128"),
        ("DIRECT", "", None),
        ("", "", None),
    ],
)
def test_the_proxy_of_apt_serves_where_there_is_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, env: str, wanted: str | None
) -> None:
    settings = tmp_path / "apt.conf"
    settings.write_text(f'Acquire::http::Proxy "{setting}";\n' if setting else "")
    monkeypatch.setenv("APT_CONFIG", str(settings))
    monkeypatch.setenv("http_proxy", env)
    command(tmp_path, f'echo "$*" >{tmp_path}/said')
    build(tmp_path)
    said = (tmp_path / "said").read_text()
    assert (f"--build-arg http_proxy={wanted}" in said) == (wanted is not None)
    assert ("_proxy=" in said) == (wanted is not None)


def test_steps_are_told_as_they_come_and_chatter_is_not(tmp_path: Path) -> None:
    command(
        tmp_path,
        "echo '#1 [internal] load build definition'\n"
        "echo '#5 [stage-1 2/4] RUN --mount=type=bind,target=/x  make   it'\n"
        "echo '#5 0.3 [2/4] not a step'\n"
        "echo '#6 CACHED'",
    )
    assert build(tmp_path) == ["[stage-1 2/4] RUN make it"]


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("docker: 'buildx' is not a docker command.", "install docker-buildx"),
        ("SSL: CERTIFICATE_VERIFY_FAILED certificate verify failed", "BENCH_CA"),
        ("write /x: no space left on device", "disk is full"),
        ("Temporary failure resolving 'deb.debian.org'", "try again"),
        ("gcc: error: x.c", "bench doctor"),
    ],
)
def test_a_failure_shows_its_last_lines_and_what_to_do(
    tmp_path: Path, line: str, advice: str
) -> None:
    quoted = line.replace("'", "'\\''")
    command(tmp_path, f"seq 100\necho '#7 1.25 {quoted}' >&2\nexit 3")
    with pytest.raises(CannotStart) as caught:
        build(tmp_path)
    assert "memory-bench/x:1 failed with code 3" in caught.value.message
    assert f"  {line}\n" in caught.value.message
    assert "  100\n" in caught.value.message
    assert "  50\n" not in caught.value.message
    assert advice in caught.value.hint


HUB = [
    "requests.exceptions.ProxyError: HTTPSConnectionPool(host='huggingface.co', port=443)",
    "httpx.ConnectError: [Errno -2] Name or service not known: https://huggingface.co/api",
    "the model hub hf.co cannot be reached",
]


@pytest.mark.parametrize("line", HUB)
def test_a_hub_that_cannot_be_reached_is_told_from_a_registry(tmp_path: Path, line: str) -> None:
    quoted = line.replace("'", "'\\''")
    command(tmp_path, f"echo '#7 1.25 {quoted}' >&2\nexit 1")
    with pytest.raises(CannotStart) as caught:
        build(tmp_path, MODEL="bge-small")
    assert line in caught.value.message
    assert caught.value.hint.startswith("The hub that the model bge-small comes from could not be")
    with pytest.raises(CannotStart) as caught:
        build(tmp_path)
    assert "hub" not in caught.value.hint


def test_a_hub_that_is_only_named_is_not_blamed(tmp_path: Path) -> None:
    excerpt = "echo '  12 | >>> RUN fetch https://huggingface.co/x' >&2"
    command(tmp_path, f"echo 'Temporary failure resolving pypi' >&2\n{excerpt}\nexit 1")
    with pytest.raises(CannotStart) as caught:
        build(tmp_path, MODEL="bge-small")
    assert "package registry" in caught.value.hint


def test_packages_that_do_not_fit_are_no_matter_of_the_network(tmp_path: Path) -> None:
    command(tmp_path, "echo 'ERROR: ResolutionImpossible: see the documentation' >&2\nexit 1")
    with pytest.raises(CannotStart) as caught:
        build(tmp_path)
    assert "doctor" in caught.value.hint


def test_a_build_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    command(tmp_path, f"echo $$ >{tmp_path}/pid\necho waiting\nexec sleep 60")
    start = time.monotonic()
    with pytest.raises(CannotStart, match=r"longer than 0\.3 s[\s\S]*waiting"):
        build(tmp_path, deadline_s=0.3)
    assert time.monotonic() - start < 5
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


def test_an_interruption_ends_the_build(tmp_path: Path) -> None:
    command(tmp_path, f"echo $$ >{tmp_path}/pid\necho '#1 [1/2] RUN x'\nexec sleep 60")

    def interrupt(_line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _buildx.build(
            NOWHERE,
            tmp_path,
            tags=["x"],
            labels={},
            args={},
            progress=interrupt,
            deadline_s=30,
        )
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


def test_without_a_docker_command_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotStart, match="no docker command"):
        build(tmp_path)


def test_which_bundle_builds_are_lent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full, empty = tmp_path / "full", tmp_path / "empty"
    full.write_text("x")
    empty.write_text("")
    monkeypatch.setenv("SSL_CERT_FILE", str(full))
    assert _buildx.certificates() == full
    monkeypatch.setenv("BENCH_CA", str(empty))
    assert _buildx.certificates() is None
    monkeypatch.setenv("BENCH_CA", "/dev/null")
    assert _buildx.certificates() is None
