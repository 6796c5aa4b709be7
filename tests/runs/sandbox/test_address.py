"""Which engine is spoken to."""

import hashlib
import json
from pathlib import Path

import pytest

from runner.errors import CannotStart
from runner.runs.sandbox._address import candidates


def context(home: Path, name: str, endpoint: dict[str, object]) -> Path:
    folder = hashlib.sha256(name.encode()).hexdigest()
    meta = home / ".docker" / "contexts" / "meta" / folder / "meta.json"
    meta.parent.mkdir(parents=True)
    meta.write_text(json.dumps({"Name": name, "Endpoints": {"docker": endpoint}}))
    (home / ".docker" / "config.json").write_text(json.dumps({"currentContext": name}))
    return home / ".docker" / "contexts" / "tls" / folder / "docker"


def test_a_choice_is_the_only_candidate(tmp_path: Path) -> None:
    context(tmp_path, "far", {"Host": "tcp://far:2376"})
    (one,) = candidates({"DOCKER_HOST": "unix:///x"}, tmp_path)
    assert (one.url, one.source, one.tls) == ("unix:///x", "DOCKER_HOST", None)
    (one,) = candidates({}, tmp_path)
    assert (one.url, one.source, one.tls) == ("tcp://far:2376", "the context 'far'", None)
    assert candidates({"DOCKER_CONTEXT": "default"}, tmp_path)[0].url == (
        "unix:///var/run/docker.sock"
    )


def test_a_context_brings_its_certificates(tmp_path: Path) -> None:
    tls = context(tmp_path, "far", {"Host": "tcp://far:2376", "SkipTLSVerify": True})
    tls.mkdir(parents=True)
    (one,) = candidates({}, tmp_path)
    assert (one.tls, one.verify) == (tls, False)


def test_tls_by_environment(tmp_path: Path) -> None:
    environ = {"DOCKER_HOST": "tcp://x:1", "DOCKER_TLS_VERIFY": "1"}
    assert candidates(environ, tmp_path)[0].tls == tmp_path / ".docker"
    assert candidates(environ | {"DOCKER_CERT_PATH": "/c"}, tmp_path)[0].tls == Path("/c")


def test_a_context_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    context(tmp_path, "far", {})
    with pytest.raises(CannotStart, match="'far'"):
        candidates({}, tmp_path)
    with pytest.raises(CannotStart, match="'gone'"):
        candidates({"DOCKER_CONTEXT": "gone"}, tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"currentContext": 3}', '"x"'])
def test_an_odd_configuration_is_no_choice(text: str, tmp_path: Path) -> None:
    (tmp_path / ".docker").mkdir()
    (tmp_path / ".docker" / "config.json").write_text(text)
    urls = [one.url for one in candidates({"XDG_RUNTIME_DIR": "/run/user/7"}, tmp_path)]
    assert urls == [
        "unix:///var/run/docker.sock",
        "unix:///run/user/7/docker.sock",
        "unix:///run/podman/podman.sock",
        "unix:///run/user/7/podman/podman.sock",
    ]
