"""What is built two times is one image, what drifts is told, and nothing is left behind."""

import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
import pytest

from runner import engine_api
from runner.images import Builder, built, ensure, identify, labels
from runner.images.canonical import canonical
from runner.images.twice import twice
from runner.model import ImageIdentity

pytestmark = pytest.mark.containers
ROOT = Path(__file__).parents[2]
LATEST = 1_785_715_200
HEAD = "ARG BENCH_BASE\nFROM ${BENCH_BASE}\nARG SOURCE_DATE_EPOCH\n"
# All the ways for a step to leave a time: a copy, a folder, a step that is not sealed, a whiteout.
UNSEALED = (
    HEAD + "COPY value /copied/value\n"
    "WORKDIR /work/here\n"
    "RUN touch -d 2001-01-01 /old && mkdir /new && ln -s /new /link && rm /etc/motd\n"
    "RUN bench-seal\n"
)
SEALED = HEAD + "RUN mkdir /new && echo $SOURCE_DATE_EPOCH >/new/file && bench-seal\n"


def quiet(_line: str) -> None:
    """Says nothing."""


@pytest.fixture(scope="module")
def client() -> Iterator[docker.DockerClient]:
    found = engine_api.connect()
    yield found
    found.close()


@dataclass(slots=True)
class Made:
    """An image of a checkout of its own, with the project's base."""

    client: docker.DockerClient
    root: Path
    name: str

    @property
    def folder(self) -> Path:
        return self.root / "images" / self.name

    def write(self, text: str) -> None:
        (self.folder / "Dockerfile").write_text(text)

    def held(self) -> list[str]:
        """Every id that the engine has of it, with a name or without."""
        return [one.id for one in built(self.client) if one.name == self.name]

    def bench(self, *args: str, timeout: int = 230, **env: str) -> subprocess.CompletedProcess[str]:
        """``bench images`` in a process of its own."""
        return subprocess.run(
            [sys.executable, "-c", "from runner.commands import main; main()", "images", *args],
            cwd=ROOT,
            env={**os.environ, "BENCH_ROOT": str(self.root), "COLUMNS": "100", **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
        )


@pytest.fixture
def made(
    tmp_path: Path, client: docker.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Made]:
    shutil.copytree(ROOT / "images/base", tmp_path / "images/base")
    shutil.copy(ROOT / "Dockerfile", tmp_path / "Dockerfile")
    monkeypatch.setenv("BENCH_ROOT", str(tmp_path))
    one = Made(client, tmp_path, f"test-{uuid.uuid4().hex[:12]}")
    one.folder.mkdir()
    (one.folder / "value").write_text("1")
    yield one
    for image_id in one.held():
        client.api.remove_image(image_id, force=True)


@pytest.mark.parametrize("text", [UNSEALED, SEALED], ids=["unsealed", "sealed"])
def test_an_image_that_is_built_two_times_is_one(
    made: Made, client: docker.DockerClient, text: str
) -> None:
    made.write(text)
    first = ensure(made.name, client=client)
    assert made.held() == [first.config_digest]
    row = twice(Builder(client, quiet), made.name)
    assert row.same, row.differences
    assert row.ids[0] == first.config_digest
    assert (row.layers[0], row.differing, row.differences) == (first.layers, 0, ())
    # Neither the images of the two builds nor what they were made of is left.
    assert made.held() == [first.config_digest]
    assert [image.tags for image in built(client) if image.name == made.name] == [(first.name,)]


def test_files_that_are_copied_may_lie_about_their_times(
    made: Made, client: docker.DockerClient
) -> None:
    made.write(UNSEALED)
    first = ensure(made.name, client=client)
    client.api.remove_image(first.name)
    os.utime(made.folder / "value", (LATEST + 5000, LATEST + 5000))
    assert ensure(made.name, client=client).config_digest == first.config_digest


def test_the_image_is_what_was_built(made: Made, client: docker.DockerClient) -> None:
    made.write(UNSEALED + 'ENV SOME="thing"\nUSER 10001:10001\nCMD ["cat", "/copied/value"]\n')
    base = ensure("base", client=client)
    found = ensure(made.name, client=client)
    assert found.layers[: len(base.layers)] == base.layers
    inspected = client.api.inspect_image(found.name)
    assert inspected["Created"].startswith("2026-08-03T00:00:00")
    config = inspected["Config"]
    assert (config["User"], config["WorkingDir"]) == ("10001:10001", "/work/here")
    assert "SOME=thing" in config["Env"]
    assert config["Labels"][labels.NAME] == made.name
    assert labels.DRIFT not in config["Labels"] or found.drift
    times = "import os; print(*(int(os.lstat(p).st_mtime) for p in "
    times += "('/copied', '/copied/value', '/work/here', '/new', '/link', '/old')))"
    script = f'cat /copied/value; python3 -c "{times}"; ls /etc/motd'
    output = client.containers.run(
        found.name, ["sh", "-c", script + " 2>&1; true"], network_mode="none", remove=True
    ).decode()
    said, last = output.splitlines()
    assert said.startswith("1")
    *clamped, old = said.removeprefix("1").split()
    assert set(clamped) == {str(LATEST)}
    assert old == "978307200"
    assert "No such file" in last


def test_looking_at_every_layer_comes_to_the_same(made: Made, client: docker.DockerClient) -> None:
    made.write(SEALED)
    below = ensure("base", client=client).layers
    found = ensure(made.name, client=client)
    held = [
        canonical(client, found.name, below=below, marks={}, latest=LATEST, thorough=thorough).id
        for thorough in (False, True)
    ]
    assert held == [found.config_digest] * 2


def test_an_image_without_a_seal_is_refused_and_gone(
    made: Made, client: docker.DockerClient
) -> None:
    made.write(HEAD + "RUN rm /usr/share/memory-bench/packages.json\n")
    done = made.bench("build", made.name)
    assert done.returncode == 6
    assert "no package list" in done.stderr
    assert made.held() == []


# ---------------------------------------------------------------- drift


def lock(folder: Path, *rows: str) -> None:
    head = "# Debian trixie as of 20260101T000000Z\n"
    lines = "".join(f"{row} all {'0' * 64}\n" for row in rows)
    body = "".join(f"[{one}]\n{lines}" for one in ("amd64", "arm64"))
    (folder / "debian.lock").write_text(head + body)


def test_what_drifted_is_told_everywhere_and_fails_where_it_must_not(
    made: Made, client: docker.DockerClient
) -> None:
    made.write(SEALED)
    lock(made.folder, "tini 0.0.1", "nothing-of-the-kind 7")
    base = ensure("base", client=client)
    tini = next(one.version for one in base.packages if one.name == "tini")
    lines = {
        "deb nothing-of-the-kind: locked 7, is missing",
        f"deb tini: locked 0.0.1, holds {tini}",
    }
    done = made.bench("build", made.name, "--locked", "--quiet")
    assert (done.returncode, done.stdout) == (6, "")
    assert "holds other packages than its locks" in done.stderr
    for line in lines:
        assert line in done.stderr
    assert "bench images lock" in done.stderr

    # The everyday build is the same, and says so.
    everyday = made.bench("build", made.name, "--quiet")
    assert everyday.returncode == 0
    assert f"{made.name} drifted from its locks: " in everyday.stderr
    found = identify(client, everyday.stdout.strip())
    assert set(found.drift) - set(base.drift) == lines
    marks = client.api.inspect_image(found.name)["Config"]["Labels"]
    assert f"deb tini: locked 0.0.1, holds {tini}" in marks[labels.DRIFT]
    rows: list[dict[str, Any]] = json.loads(made.bench("list", "--format", "json").stdout)
    (row,) = [row for row in rows if row["name"] == made.name]
    assert set(row["drift"]) == set(found.drift)
    listed = " ".join(made.bench("list").stdout.split())
    assert f"{found.name} drifted from its locks: " in listed

    # A lock that holds is another image, without the label.
    lock(made.folder, f"tini {tini}")
    held = made.bench("build", made.name, "--locked", "--quiet")
    assert held.returncode == (0 if not base.drift else 6), held.stderr
    assert identify(client, ensure(made.name, client=client).name).drift == base.drift


# ---------------------------------------------------------------- two times


def test_two_builds_that_differ_are_told_file_by_file(
    made: Made, client: docker.DockerClient
) -> None:
    made.write(
        HEAD + "RUN cat /proc/sys/kernel/random/uuid >/unlike && echo x >/alike && bench-seal\n"
        "RUN touch /$(cat /proc/sys/kernel/random/uuid) && bench-seal\n"
    )
    done = made.bench("build", made.name, "--twice", "--quiet")
    assert done.returncode == 1, done.stderr
    first, *lines = done.stdout.splitlines()
    assert first.startswith(f"{made.name}: ")
    assert "  layer 3, unlike: bytes" in lines
    assert sum(line.endswith(": is in one only") for line in lines) == 2
    assert not [line for line in lines if "alike" in line and "unlike" not in line]
    assert made.held() == []
    page = made.bench("build", made.name, "--twice", "--quiet", "--markdown")
    assert page.returncode == 1
    head, rule, row = page.stdout.splitlines()
    assert (head.count("|"), rule.count("|"), row.count("|")) == (8, 8, 8)
    assert "| 2 of 4 |" in row
    assert "`layer 3, unlike: bytes`" in row


def test_two_builds_that_are_one_are_told(made: Made) -> None:
    made.write(SEALED)
    done = made.bench("build", made.name, "--twice", "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{made.name}: two times ")
    assert made.held() == []


@pytest.mark.all_images
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["router", "base"])
def test_images_of_the_project_are_one(client: docker.DockerClient, name: str) -> None:
    row = twice(Builder(client, quiet), name)
    assert row.same, "\n".join(map(str, row.differences))


# ---------------------------------------------------------------- leftovers


def test_what_a_killed_build_left_is_pruned(made: Made, client: docker.DockerClient) -> None:
    made.write(SEALED)
    found = ensure(made.name, client=client)
    # It says that it was made on the day of all images, so it is no build under way.
    left = f"memory-bench/{made.name}:building-0123456789ab"
    client.api.tag(found.config_digest, *left.split(":"))
    leases = str(made.root / "leases")
    done = made.bench("prune", made.name, "--yes", BENCH_LEASES=leases)
    assert (done.returncode, done.stdout) == (0, f"removed {left}\n"), done.stderr
    assert [one.tags for one in built(client) if one.name == made.name] == [(found.name,)]


# ---------------------------------------------------------------- another day


def test_a_day_that_cannot_be_had_is_told(made: Made) -> None:
    made.write(SEALED)
    nowhere = "http://127.0.0.1:1/archive"
    done = made.bench(
        "build", made.name, "--snapshot", "2026-10-01", BENCH_DEBIAN_SNAPSHOTS=nowhere
    )
    assert done.returncode == 6
    told = " ".join(done.stderr.split())
    assert "snapshot service cannot be reached" in told
    assert "http://127.0.0.1:1/archive/debian/20261001T000000Z/dists/" in told
    assert made.held() == []
    wrong = made.bench("build", made.name, "--snapshot", "someday")
    assert (wrong.returncode, "'someday' is no date" in wrong.stderr) == (2, True)


@pytest.fixture
def service(client: docker.DockerClient) -> Iterator[tuple[str, list[str]]]:
    """A snapshot service that has one moment, which is Debian's archive as it is; and every path
    it was asked for.
    """
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            self.answer(body=True)

        def answer(self, *, body: bool) -> None:
            asked.append(self.path)
            at = re.fullmatch(r"/archive/(debian|debian-security)/20260101T000000Z/(.+)", self.path)
            if at is None:
                self.send_error(404)
                return
            try:
                with urllib.request.urlopen(f"http://deb.debian.org/{at[1]}/{at[2]}") as reply:
                    self.send_response(200)
                    self.send_header("Content-Length", reply.headers["Content-Length"])
                    self.end_headers()
                    if body:
                        shutil.copyfileobj(reply, self.wfile)
            except urllib.error.HTTPError as error:
                self.send_error(error.code)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    gateway = client.api.inspect_network("bridge")["IPAM"]["Config"][0]["Gateway"]
    server = http.server.ThreadingHTTPServer((gateway, 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://{gateway}:{server.server_port}/archive", asked
    server.shutdown()
    server.server_close()


@pytest.mark.all_images
@pytest.mark.timeout(600)
@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("mmdebstrap") is None, reason="needs root")
def test_a_base_of_another_day_comes_from_there_and_does_not_show_it(
    made: Made, client: docker.DockerClient, service: tuple[str, list[str]]
) -> None:
    address, asked = service
    # A base of its own: nobody else's is to be another one in the middle of what they do.
    (made.root / "images/base/own").write_text(made.name)
    host = address.split("/")[2].rpartition(":")[0]
    env = {"BENCH_DEBIAN_SNAPSHOTS": address, "no_proxy": host, "NO_PROXY": host}
    before = {one.id for one in built(client)}
    done = made.bench("build", "base", "--snapshot", "2026-01-01", timeout=500, **env)
    assert done.returncode == 0, done.stderr
    name = done.stdout.strip()
    try:
        found = identify(client, name)
        # The root was made of it, and what is installed on top.
        assert any("/pool/main/b/bash/" in path for path in asked)
        assert any("/pool/main/t/tini/" in path for path in asked)
        assert sum(path.endswith("/trixie-security/InRelease") for path in asked) >= 2
        sources = client.containers.run(
            name, "cat /etc/apt/sources.list", entrypoint="", network_mode="none", remove=True
        ).decode()
        assert sources.count("deb.debian.org") == 3
        assert "20260101" not in sources
        everyday = ensure_of_project(client)
        if found.packages == everyday.packages:
            assert found.layers == everyday.layers
        # Asked for anew, it is made anew, and is the same.
        count = len(asked)
        again = made.bench("build", "base", "--snapshot", "20260101", timeout=500, **env)
        assert again.returncode == 0, again.stderr
        assert len(asked) > count
        assert identify(client, name).config_digest == found.config_digest
    finally:
        for image_id in {one.id for one in built(client) if one.name == "base"} - before:
            client.api.remove_image(image_id, force=True)


def ensure_of_project(client: docker.DockerClient) -> ImageIdentity:
    """The base of the project itself, whatever checkout a test has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_ROOT", str(ROOT))
        return ensure("base", client=client)
