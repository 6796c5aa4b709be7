import json
import os
import shutil
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from runner import engine_api
from runner.errors import CannotStart, UsageError
from runner.images import BENCH_LOCAL, _source, built, doctor, ensure, identify, identity, sweep
from runner.model import ImageIdentity

pytestmark = pytest.mark.containers
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def client() -> Iterator[docker.DockerClient]:
    found = engine_api.connect()
    yield found
    found.close()


@pytest.fixture(scope="module")
def base(client: docker.DockerClient) -> ImageIdentity:
    return ensure("base", client=client)


@pytest.fixture(scope="module")
def bench(client: docker.DockerClient) -> ImageIdentity:
    return ensure("bench", client=client)


def inside(image: str, *command: str, options: tuple[str, ...] = ()) -> str:
    """What a command prints in a sandboxed container of an image."""
    done = subprocess.run(
        ["docker", "run", "--rm", "--network=none", *options, image, *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


SANDBOX = (
    "--user=10001:10001",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--read-only",
    "--tmpfs=/tmp",
)

# Answers one line to whoever connects, and writes the clock file into the same folder.
DOOR = """
import pathlib, socket, sys
pathlib.Path("/run/door/clock").write_text(sys.argv[1])
with socket.socket(socket.AF_UNIX) as door:
    door.bind("/run/door/model.sock")
    door.listen()
    print("open", flush=True)
    while True:
        door.accept()[0].sendall(b"model here")
"""

# What a driver sees: the way to the model, its clock, its children and what they inherit.
VISIT = """
import datetime, json, os, pathlib, socket, subprocess, time
start = time.monotonic()
with socket.create_connection(("127.0.0.1", 8080), timeout=5) as way:
    said = way.recv(100).decode()
time.sleep(0.05)
children = pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
sqlite = subprocess.run(["sqlite3", ":memory:", "select datetime('now')"],
                        capture_output=True, text=True).stdout.strip()
print(json.dumps({
    "said": said,
    "now": datetime.datetime.now(datetime.UTC).isoformat(),
    "sqlite": sqlite,
    "slept": time.monotonic() - start,
    "children": children,
    "parent": pathlib.Path(f"/proc/{os.getppid()}/comm").read_text().strip(),
    "ours": [name for name in os.environ if "BENCH" in name],
}))
"""


@pytest.fixture
def door(client: docker.DockerClient, base: ImageIdentity) -> Iterator[str]:
    """A volume in which a process answers on the model's socket, with the clock 100 days ahead."""
    name = f"test-door-{uuid.uuid4().hex}"
    client.volumes.create(name)
    gateway = client.containers.run(
        base.name,
        ["python3", "-c", DOOR, f"+{100 * 86400}"],
        entrypoint=["tini", "--"],
        user="10001:10001",
        network_mode="none",
        volumes={name: {"bind": "/run/door", "mode": "rw"}},
        detach=True,
    )
    try:
        end = time.monotonic() + 10
        while b"open" not in gateway.logs() and time.monotonic() < end:
            time.sleep(0.02)
        yield name
    finally:
        gateway.remove(force=True)
        client.volumes.get(name).remove(force=True)


def visit(image: str, door: str, *options: str) -> dict[str, object]:
    mount = f"--volume={door}:/run/door:ro"
    text = inside(image, "python3", "-c", VISIT, options=(*SANDBOX, mount, *options))
    found: dict[str, object] = json.loads(text)
    return found


def test_the_way_to_the_model_and_the_clock_are_there_at_the_first_line(
    base: ImageIdentity, door: str
) -> None:
    seen = visit(base.name, door)
    ahead = time.gmtime(time.time() + 100 * 86400)
    assert seen["said"] == "model here"
    assert str(seen["now"])[:10] == time.strftime("%Y-%m-%d", ahead)
    assert str(seen["sqlite"])[:10] == time.strftime("%Y-%m-%d", ahead)
    assert 0.05 <= float(str(seen["slept"])) < 5


def test_the_command_has_no_child_it_did_not_start(base: ImageIdentity, door: str) -> None:
    seen = visit(base.name, door)
    assert (seen["children"], seen["parent"], seen["ours"]) == ([], "tini", [])


def test_the_clock_can_be_left_alone(base: ImageIdentity, door: str) -> None:
    seen = visit(base.name, door, "--env=BENCH_CLOCK=real")
    assert str(seen["now"])[:10] == time.strftime("%Y-%m-%d", time.gmtime())
    assert (seen["said"], seen["ours"]) == ("model here", [])


def test_the_end_of_input_reaches_the_command_and_its_end_everyone(
    base: ImageIdentity, door: str
) -> None:
    start = time.monotonic()
    command = ("python3", "-c", "import sys; print(len(sys.stdin.read())); sys.exit(7)")
    options = ("--rm", "-i", "--network=none", *SANDBOX, f"--volume={door}:/run/door:ro")
    done = subprocess.run(
        ["docker", "run", *options, base.name, *command],
        input="abc",
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert (done.stdout, done.returncode) == ("3\n", 7)
    assert time.monotonic() - start < 10


def test_without_a_command_it_refuses(base: ImageIdentity) -> None:
    done = subprocess.run(
        ["docker", "run", "--rm", "--network=none", base.name],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert (done.returncode, done.stderr) == (64, "bench-start: no command given\n")


@pytest.mark.parametrize("name", ["base", "engine", "bench"])
def test_no_image_holds_a_way_to_more_rights(client: docker.DockerClient, name: str) -> None:
    image = ensure(name, client=client).name
    options = ("--user=0", "--entrypoint=find")
    assert not inside(image, "/", "-xdev", "-type", "f", "-perm", "/6000", options=options)


def test_the_user_and_the_mount_points(base: ImageIdentity) -> None:
    folders = ("/home/bench", "/run/door", "/run/ledger", "/run/exchange")
    text = inside(base.name, "stat", "-c", "%u:%g %n", *folders)
    assert text.splitlines() == [f"10001:10001 {folder}" for folder in folders]


def test_an_identity_is_what_the_engine_says(
    client: docker.DockerClient, bench: ImageIdentity, base: ImageIdentity
) -> None:
    said = client.api.inspect_image(bench.name)
    assert bench.config_digest == said["Id"]
    assert bench.layers == tuple(said["RootFS"]["Layers"])
    assert bench.layers[: len(base.layers)] == base.layers
    assert bench.platform.startswith("linux/")
    assert bench.base == base.base
    assert bench.base.startswith("debian-packages:trixie@sha256:") or "@sha256:" in bench.base
    assert said["Config"]["Labels"]["memory-bench.source"] == bench.source
    assert said["Config"]["Labels"]["memory-bench.name"] == "bench"


def test_the_packages_are_what_is_installed(base: ImageIdentity, bench: ImageIdentity) -> None:
    installed = inside(base.name, "dpkg-query", "-W", "-f", "${Package} ${Version}\n")
    listed = [f"{one.name} {one.version}" for one in base.packages if one.manager == "deb"]
    assert sorted(installed.splitlines()) == sorted(listed)
    python = {one.name: one.version for one in bench.packages if one.manager == "pypi"}
    asked = "import importlib.metadata as m; print(m.version('aiohttp'), m.version('memory-bench'))"
    versions = inside(bench.name, "python", "-c", asked).split()
    assert [python["aiohttp"], python["memory-bench"]] == versions


def test_packages_are_read_once_and_a_spoilt_copy_is_not_believed(
    client: docker.DockerClient,
    base: ImageIdentity,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BENCH_STATE", str(tmp_path))
    assert identify(client, base.name) == base
    (kept,) = (tmp_path / "packages").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[:100])
    assert identify(client, base.name).packages == base.packages
    assert kept.read_bytes() == whole


def test_what_is_there_is_found_at_once_and_in_silence(
    client: docker.DockerClient, bench: ImageIdentity
) -> None:
    def never(line: str) -> None:
        raise AssertionError(line)

    seconds = []
    for _ in range(5):
        start = time.monotonic()
        assert ensure("base", client=client, progress=never).name.startswith("memory-bench/base:")
        seconds.append(time.monotonic() - start)
    assert min(seconds) < 0.05
    assert bench.name in {tag for image in built(client) for tag in image.tags}


def test_what_is_not_there_is_said(client: docker.DockerClient) -> None:
    with pytest.raises(CannotStart, match=r"no image memory-bench/none:1"):
        identify(client, "memory-bench/none:1")


def test_a_container_left_by_a_killed_look_is_swept(
    client: docker.DockerClient, base: ImageIdentity, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = {"memory-bench.role": identity.INSPECTING}
    made = client.api.create_container(base.name, command=["true"], labels=labels)
    assert made["Id"] not in sweep(client)
    monkeypatch.setattr(identity, "LEFT_BEHIND_S", -1)
    assert made["Id"] in sweep(client)
    assert not client.api.containers(all=True, filters={"id": made["Id"]})


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of its own with the same base, for images of its own."""
    shutil.copytree(ROOT / "images/base", tmp_path / "images/base")
    monkeypatch.setenv("BENCH_ROOT", str(tmp_path))
    return tmp_path


@pytest.fixture
def image(checkout: Path, client: docker.DockerClient) -> Iterator[Path]:
    """The folder of an image that no other test builds; what came of it is removed."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    folder = checkout / "images" / name
    folder.mkdir()
    yield folder
    for one in built(client):
        if one.name == name:
            client.api.remove_image(one.id, force=True)


HEAD = "ARG BENCH_BASE\nFROM ${BENCH_BASE}\n"


def test_a_failing_build_shows_its_reason(image: Path, client: docker.DockerClient) -> None:
    (image / "Dockerfile").write_text(HEAD + "RUN echo the very reason >&2; exit 9\n")
    with pytest.raises(CannotStart, match=r"the very reason") as caught:
        ensure(image.name, client=client)
    assert "exit code: 9" in caught.value.message
    assert caught.value.hint
    assert not [one for one in built(client) if one.name == image.name]


def test_an_image_of_files_that_changed_meanwhile_is_not_kept(
    image: Path, client: docker.DockerClient
) -> None:
    (image / "Dockerfile").write_text(HEAD + "COPY value /value\nRUN bench-seal\n")
    (image / "value").write_text("0")
    first = _source.recipe(image.name).source
    changes: list[str] = []

    def change_once(line: str) -> None:
        if line.startswith("building") and not changes:
            changes.append(line)
            (image / "value").write_text("1")

    found = ensure(image.name, client=client, progress=change_once)
    assert changes
    assert found.source == _source.recipe(image.name).source != first
    assert inside(found.name, "cat", "/value") == "1"
    assert len([one for one in built(client) if one.name == image.name]) == 1


def test_an_image_that_is_not_sealed_is_refused(image: Path, client: docker.DockerClient) -> None:
    (image / "Dockerfile").write_text(HEAD + f"RUN rm {identity.PACKAGES}\n")
    with pytest.raises(CannotStart, match=r"no package list") as caught:
        ensure(image.name, client=client)
    assert "bench-seal" in caught.value.hint


@pytest.fixture
def stack(checkout: Path, client: docker.DockerClient) -> Iterator[tuple[Path, Path]]:
    """Folders of two images that no other test builds, the second on the first."""
    token = uuid.uuid4().hex[:12]
    below, above = (checkout / "images" / f"test-{token}-{what}" for what in ("below", "above"))
    for folder in (below, above):
        folder.mkdir()
    (below / "Dockerfile").write_text(HEAD + "COPY value /value\nRUN bench-seal\n")
    (below / "value").write_text("first")
    argument = f"BENCH_{below.name.upper().replace('-', '_')}"
    (above / "Dockerfile").write_text(
        f"ARG BENCH_BASE\nARG {argument}\nFROM ${{{argument}}} AS below\nFROM ${{BENCH_BASE}}\n"
        "ARG MODEL=small\nCOPY --from=below /value /value\n"
        "RUN echo $MODEL >/model && bench-seal\n"
    )
    (above / "system.toml").write_text(
        '[image]\nmodels = ["small", "large"]\nredistributable = false\nwhy = "a test"\n'
    )
    yield below, above
    for one in built(client):
        if one.name in (below.name, above.name):
            client.api.remove_image(one.id, force=True)


def test_an_image_is_made_after_the_one_it_stands_on_and_follows_it(
    stack: tuple[Path, Path], client: docker.DockerClient
) -> None:
    below, above = stack
    first = ensure(above.name, client=client)
    assert inside(first.name, "cat", "/value", "/model") == "firstsmall\n"
    assert {one.name for one in built(client)} >= {below.name, above.name}
    assert ensure(above.name, client=client) == first
    (below / "value").write_text("second")
    second = ensure(above.name, client=client)
    assert second.name != first.name
    assert second.source == first.source
    assert inside(second.name, "cat", "/value") == "second"


def test_another_model_is_another_image_and_says_so(
    stack: tuple[Path, Path], client: docker.DockerClient
) -> None:
    _, above = stack
    small = ensure(above.name, client=client)
    large = ensure(above.name, model="large", client=client)
    assert ensure(above.name, model="small", client=client) == small
    assert (large.source, large.name != small.name) == (small.source, True)
    assert inside(large.name, "cat", "/model") == "large\n"
    for image, model in ((small, "small"), (large, "large")):
        marks = client.api.inspect_image(image.name)["Config"]["Labels"]
        assert marks["memory-bench.model"] == model
        assert marks["memory-bench.redistribution"] == "no: a test"
        assert (image.redistributable, image.restriction) == (False, "a test")


def test_what_an_image_cannot_stand_on_is_said(
    stack: tuple[Path, Path], client: docker.DockerClient
) -> None:
    below, above = stack
    (below / "Dockerfile").write_text(f"ARG BENCH_BASE\n{_ask(above)}\n")
    with pytest.raises(UsageError, match=r"in a circle"):
        ensure(above.name, client=client)
    shutil.rmtree(below)
    with pytest.raises(UsageError, match=rf"BENCH_TEST_.*there is no image {below.name}"):
        ensure(above.name, client=client)


def _ask(folder: Path) -> str:
    return f"ARG BENCH_{folder.name.upper().replace('-', '_')}"


def test_nothing_of_a_private_authority_stays_in_the_bench(
    checkout: Path, client: docker.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every step that is lent the authority is run anew, and every byte of every layer is read."""
    marker = f"private-authority-{uuid.uuid4().hex}"
    for part in (".dockerignore", *_source._BENCH_PARTS):
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, checkout / part, dirs_exist_ok=True)
        else:
            shutil.copy2(ROOT / part, checkout / part)
    with (checkout / "scripts/uv.txt").open("a") as lock:
        lock.write(f"# {uuid.uuid4()}\n")
    bundle = checkout / "ca.crt"
    given = os.environ.get("SSL_CERT_FILE") or "/etc/ssl/certs/ca-certificates.crt"
    bundle.write_text(f"# {marker}\n{Path(given).read_text()}# {marker}\n")
    monkeypatch.setenv("BENCH_CA", str(bundle))
    lines: list[str] = []
    found = ensure("bench", client=client, progress=lines.append)
    try:
        assert any("cd /dev/project" in line for line in lines)
        wanted, tail = marker.encode(), b""
        for chunk in client.api.get_image(found.name, chunk_size=1 << 20):
            assert wanted not in tail + chunk
            tail = chunk[-len(wanted) :]
    finally:
        client.api.remove_image(found.name, force=True)
        monkeypatch.setenv("BENCH_ROOT", str(ROOT))
        ensure("bench", client=client)


def test_a_build_step_does_see_the_authority(
    image: Path, client: docker.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    (image / "Dockerfile").write_text(
        HEAD + "RUN --mount=type=secret,id=ca,target=/dev/ca.crt bench-with-ca "
        """sh -c 'sha256sum "$SSL_CERT_FILE" | cut -c 1-64' >/seen && bench-seal\n"""
    )
    bundle = image.parent / "ca.crt"
    bundle.write_text("an authority\n")
    monkeypatch.setenv("BENCH_CA", str(bundle))
    found = ensure(image.name, client=client)
    said = subprocess.run(["sha256sum", str(bundle)], capture_output=True, text=True, check=True)
    assert inside(found.name, "cat", "/seen").strip() == said.stdout.split()[0]


def test_the_gateway_starts_from_a_read_only_bench(bench: ImageIdentity) -> None:
    compiled = "import runner.gateway, sys; print(runner.gateway.__cached__ in sys.argv[1:])"
    listing = "import pathlib, runner; print(*pathlib.Path(runner.__file__).parent.rglob('*.pyc'))"
    files = inside(bench.name, "python", "-c", listing, options=SANDBOX).split()
    assert inside(bench.name, "python", "-c", compiled, *files, options=SANDBOX) == "True\n"


def test_the_bench_carries_what_builds_go_through(bench: ImageIdentity) -> None:
    assert inside(bench.name, "docker", "buildx", "version").startswith("github.com/docker/buildx")


def test_the_name_compose_uses_follows(client: docker.DockerClient, bench: ImageIdentity) -> None:
    assert client.api.inspect_image(BENCH_LOCAL)["Id"] == bench.config_digest
    client.api.remove_image(BENCH_LOCAL)
    assert ensure("bench", client=client).config_digest == bench.config_digest
    assert client.api.inspect_image(BENCH_LOCAL)["Id"] == bench.config_digest


def test_the_doctor_finds_this_machine_well(base: ImageIdentity) -> None:
    found = {one.what: one for one in doctor.examine()}
    assert not [one for one in found.values() if one.level == "problem"]
    assert {"engine", "seccomp", "disk", "buildx", "base image", "start"} <= set(found)
    assert base.base in found["base image"].detail
