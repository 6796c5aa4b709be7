import hashlib
import json
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner import engine_api
from runner.errors import CannotStart


def context(home: Path, name: str, host: str, *, skip_verify: bool = False) -> Path:
    """A CLI context as the docker command files it."""
    key = hashlib.sha256(name.encode()).hexdigest()
    meta = home / ".docker/contexts/meta" / key
    meta.mkdir(parents=True)
    endpoint = {"Host": host, "SkipTLSVerify": skip_verify}
    described = {"Name": name, "Endpoints": {"docker": endpoint}}
    (meta / "meta.json").write_text(json.dumps(described))
    return home / ".docker/contexts/tls" / key / "docker"


def listening(path: Path) -> socket.socket:
    path.parent.mkdir(parents=True, exist_ok=True)
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()
    return server


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder near the root: a socket's address has room for about a hundred characters."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def test_docker_host_comes_first_and_alone(tmp_path: Path) -> None:
    context(tmp_path, "far", "tcp://far:2376")
    env = {"HOME": str(tmp_path), "DOCKER_HOST": "unix:///a", "DOCKER_CONTEXT": "far"}
    (only,) = engine_api.addresses(env)
    assert (only.url, only.origin, only.chosen) == ("unix:///a", "DOCKER_HOST", True)
    assert only.certificates is None


def test_docker_host_over_tls_takes_the_certificates_named(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "DOCKER_HOST": "tcp://a:2376", "DOCKER_TLS_VERIFY": "1"}
    (only,) = engine_api.addresses(env)
    assert only.certificates == tmp_path / ".docker"
    assert only.verify
    (named,) = engine_api.addresses(env | {"DOCKER_CERT_PATH": "/c", "DOCKER_TLS_VERIFY": ""})
    assert named.certificates == Path("/c")
    assert not named.verify
    assert named.environment() == {
        "DOCKER_HOST": "tcp://a:2376",
        "DOCKER_CERT_PATH": "/c",
        "DOCKER_TLS_VERIFY": "",
    }


def test_the_current_context_is_used_and_the_variable_outranks_it(tmp_path: Path) -> None:
    context(tmp_path, "near", "unix:///near.sock")
    tls = context(tmp_path, "far", "tcp://far:2376", skip_verify=True)
    tls.mkdir(parents=True)
    (tmp_path / ".docker/config.json").write_text('{"currentContext": "near"}')
    env = {"HOME": str(tmp_path)}
    (near,) = engine_api.addresses(env)
    assert (near.url, near.chosen, near.certificates) == ("unix:///near.sock", True, None)
    (far,) = engine_api.addresses(env | {"DOCKER_CONTEXT": "far"})
    assert (far.url, far.certificates, far.verify) == ("tcp://far:2376", tls, False)


def test_a_context_nobody_described_is_an_error(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "DOCKER_CONTEXT": "gone"}
    with pytest.raises(CannotStart, match=r"'gone'.*docker context ls"):
        engine_api.addresses(env)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"currentContext": 3}', '{"currentContext": ""}'])
def test_a_configuration_without_a_context_leads_to_the_sockets(tmp_path: Path, text: str) -> None:
    (tmp_path / ".docker").mkdir()
    (tmp_path / ".docker/config.json").write_text(text)
    found = engine_api.addresses({"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)})
    assert not any(address.chosen for address in found)


def test_sockets_that_exist_are_listed_and_files_are_not(short: Path) -> None:
    runtime = short / "run"
    with listening(runtime / "podman/podman.sock"):
        (runtime / "docker.sock").write_text("")
        env = {"HOME": str(short), "XDG_RUNTIME_DIR": str(runtime)}
        urls = [address.url for address in engine_api.addresses(env)]
    assert f"unix://{runtime}/podman/podman.sock" in urls
    assert f"unix://{runtime}/docker.sock" not in urls


@pytest.mark.parametrize(
    ("made", "said"),
    [("nothing", "no socket there"), ("file", "no socket there"), ("dead", "not running")],
)
def test_no_engine_says_what_was_tried_and_why(short: Path, made: str, said: str) -> None:
    path = short / "docker.sock"
    if made == "file":
        path.write_text("")
    elif made == "dead":
        listening(path).close()
    with pytest.raises(CannotStart) as caught:
        engine_api.connect(environ={"DOCKER_HOST": f"unix://{path}"})
    assert str(path) in caught.value.message
    assert said in caught.value.message
    assert caught.value.exit_code == 6


def test_an_engine_that_says_nothing_is_given_up(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_api, "_HELLO_S", 0.2)
    with (
        listening(short / "docker.sock") as server,
        pytest.raises(CannotStart, match=r"no answer within 0\.2 s"),
    ):
        engine_api.connect(environ={"DOCKER_HOST": f"unix://{server.getsockname()}"})
