"""`docker compose run --rm bench ...`, from this checkout, as a user types it."""

import hashlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from runner import engine_api
from runner.images import BENCH_LOCAL, ensure

pytestmark = pytest.mark.containers
ROOT = Path(__file__).parents[2]


def compose(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Compose in the checkout; only what it prints of its own accord goes to standard output."""
    return subprocess.run(
        ["docker", "compose", "--progress", "quiet", *arguments],
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def run(*command: str, entrypoint: str, env: dict[str, str] | None = None) -> str:
    """What another program prints in the bench's place."""
    done = compose(
        "run", "--rm", "--no-TTY", f"--entrypoint={entrypoint}", "bench", *command, env=env
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module", autouse=True)
def client() -> Iterator[docker.DockerClient]:
    """An engine with the base image on it, whose name is in .env where no registry gave it."""
    found = engine_api.connect()
    ensure("base", client=found)
    yield found
    found.close()


def config() -> dict[str, object]:
    done = compose("config", "--format", "json")
    assert done.returncode == 0, done.stderr
    service: dict[str, object] = json.loads(done.stdout)["services"]["bench"]
    return service


def test_no_path_of_the_host_but_the_socket_and_the_results() -> None:
    volumes = config()["volumes"]
    assert isinstance(volumes, list)
    bound = {one["target"]: one["source"] for one in volumes if one["type"] == "bind"}
    socket = os.environ.get("DOCKER_SOCKET", "/var/run/docker.sock")
    assert bound == {"/var/run/docker.sock": socket, "/results": str(ROOT / "results")}


def test_a_key_is_handed_on_and_never_invented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    show = "import os; print(os.environ.get('ANTHROPIC_API_KEY', 'none'))"
    assert run("-c", show, entrypoint="python") == "none\n"
    env = {"ANTHROPIC_API_KEY": "of-a-test"}
    assert run("-c", show, entrypoint="python", env=env) == "of-a-test\n"


def test_the_code_inside_is_the_code_of_the_checkout() -> None:
    listing = (
        "import hashlib, json, pathlib, runner; at = pathlib.Path(runner.__file__).parent;"
        "print(json.dumps({str(f.relative_to(at)): hashlib.sha256(f.read_bytes()).hexdigest()"
        " for f in at.rglob('*.py')}))"
    )
    inside = json.loads(run("-c", listing, entrypoint="python"))
    here = {
        str(file.relative_to(ROOT / "runner")): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in (ROOT / "runner").rglob("*.py")
    }
    assert inside == here


def test_it_knows_the_image_it_runs_from_and_builds_the_others(
    client: docker.DockerClient,
) -> None:
    """The images that the checkout names are the ones that the container names."""
    ask = (
        "import json; from runner.images import ensure;"
        "print(json.dumps({name: json.loads(ensure(name).model_dump_json(exclude={'packages'}))"
        " for name in ('base', 'engine', 'bench')}))"
    )
    inside = json.loads(run("-c", ask, entrypoint="python"))
    local = client.api.inspect_image(BENCH_LOCAL)
    assert inside["bench"]["config_digest"] == local["Id"]
    assert inside["bench"]["name"] == BENCH_LOCAL
    assert inside["bench"]["source"] == ensure("bench", client=client).source
    assert len({one["base"] for one in inside.values()}) == 1
    for name in ("base", "engine"):
        assert inside[name]["config_digest"] == ensure(name, client=client).config_digest


def test_it_is_held_to_little() -> None:
    probe = (
        "import os, pathlib, socket;"
        "print(sorted(name for _, name in socket.if_nameindex()));"
        "print(os.access('/', os.W_OK), os.access('/results', os.W_OK), os.getcwd());"
        "print(pathlib.Path('/proc/self/status').read_text().split('CapEff:')[1].split()[0])"
    )
    interfaces, places, rights = run("-c", probe, entrypoint="python").splitlines()
    assert interfaces == "['lo']"
    assert places == "False True /results"
    assert int(rights, 16) == 1 << 0 | 1 << 1 | 1 << 3  # CHOWN, DAC_OVERRIDE, FOWNER


def test_nothing_is_left_but_the_volume_that_benches_share(client: docker.DockerClient) -> None:
    assert run("-c", "print(1)", entrypoint="python") == "1\n"
    filters = {"label": "com.docker.compose.project=memory-bench"}
    assert client.containers.list(all=True, filters=filters) == []
    assert client.networks.list(filters=filters) == []
    assert [one.name for one in client.volumes.list(filters=filters)] == ["memory-bench-state"]


def test_the_arguments_are_those_of_bench() -> None:
    done = compose("run", "--rm", "--no-TTY", "bench", "trip-vs-move", "--help")
    assert done.returncode == 0, done.stderr
    for option in ("--arm", "--estimate", "--max-usd"):
        assert option in done.stdout


def scripted(results: Path, *arguments: str) -> None:
    """One short run of each kind, with another folder in place of ./results."""
    other = results.with_name("other.yaml")
    bound = {"volumes": [f"{results}:/results"]}
    other.write_text(json.dumps({"services": {"bench": bound}}))
    files = ("--file=compose.yaml", f"--file={other}")
    few = ("--arm=scripted", "--move-runs=1", "--trip-alone-runs=1")
    done = compose(*files, "run", "--rm", "--no-TTY", "bench", *few, *arguments)
    assert done.returncode == 0, done.stderr


def test_a_report_belongs_to_the_owner_of_the_folder(tmp_path: Path) -> None:
    results = tmp_path / "results"
    results.mkdir()
    os.chown(results, 1234, 4321)
    scripted(results, "--output=in/one.json")
    report = results / "in/one.json"
    runs = json.loads(report.read_bytes())["runs"]
    assert [run["ending"]["outcome"] for run in runs] == ["passed", "passed"]
    for made in (report, report.parent):
        assert (made.stat().st_uid, made.stat().st_gid) == (1234, 4321)


def test_a_report_without_a_name_lies_in_results_itself(tmp_path: Path) -> None:
    results = tmp_path / "results"
    results.mkdir()
    scripted(results)
    assert [file.suffix for file in results.iterdir()] == [".json"]


def test_the_estimate_needs_no_key_and_starts_nothing() -> None:
    done = compose("run", "--rm", "--no-TTY", "bench", "--model", "claude-sonnet-5-5", "--estimate")
    assert done.returncode == 0, done.stderr
    assert "claude-sonnet-5-5" in done.stdout


def test_a_key_may_come_as_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    find = (
        "import os; from runner.keys import ANTHROPIC, find_key;"
        "key = find_key(ANTHROPIC, os.environ);"
        "print(key.get_secret_value() if key else 'none')"
    )
    assert run("-c", find, entrypoint="python") == "none\n"
    file = tmp_path / "key"
    file.write_text("sk-of-a-secret\n")
    env = {"ANTHROPIC_API_KEY_FILE": str(file)}
    assert run("-c", find, entrypoint="python", env=env) == "sk-of-a-secret\n"
    shown = run("-c", "import os; print(dict(os.environ))", entrypoint="python", env=env)
    assert "sk-of-a-secret" not in shown
