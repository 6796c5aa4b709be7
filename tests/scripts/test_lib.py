"""What scripts/lib.sh touches on a machine and what it leaves alone, in folders of our own."""

import os
import socket
import subprocess
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def bash(
    script: str, *, env: dict[str, str] | None = None, path: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs lines after lib.sh was sourced, as the two commands source it."""
    search = f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"]
    text = f'set -euo pipefail\n. "{ROOT}/scripts/lib.sh"\n{textwrap.dedent(script)}'
    return subprocess.run(
        ["bash", "-c", text],
        env={"PATH": search, "HOME": "/nonexistent", **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def command(folder: Path, name: str, body: str) -> None:
    """An executable of that name, for a PATH."""
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)


def process(proc: Path, pid: int, comm: str, state: str = "S (sleeping)") -> None:
    """A process as the kernel would show it."""
    (proc / str(pid)).mkdir(parents=True)
    (proc / str(pid) / "comm").write_text(f"{comm}\n")
    (proc / str(pid) / "status").write_text(f"Name:\t{comm}\nState:\t{state}\n")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A killed engine's leftovers: two pid files and sockets on which nothing listens."""
    containerd = tmp_path / "run/docker/containerd"
    containerd.mkdir(parents=True)
    (tmp_path / "run/docker.pid").write_text("71")
    (containerd / "containerd.pid").write_text("72")
    # From where the path is short: an address has room for about a hundred characters.
    monkeypatch.chdir(tmp_path / "run")
    for path in ("docker.sock", "docker/containerd/containerd.sock"):
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path)
    net = tmp_path / "proc/net"
    net.mkdir(parents=True)
    (net / "unix").write_text("Num RefCount Protocol Flags Type St Inode Path\n")
    return tmp_path


def left(machine: Path) -> set[str]:
    run = machine / "run"
    return {str(file.relative_to(run)) for file in run.rglob("*") if not file.is_dir()}


ALL = {
    "docker.pid",
    "docker.sock",
    "docker/containerd/containerd.pid",
    "docker/containerd/containerd.sock",
}


def clear(machine: Path) -> subprocess.CompletedProcess[str]:
    return bash(f"run_dir={machine}/run proc={machine}/proc; clear_stale")


def test_leftovers_of_a_dead_engine_go(machine: Path) -> None:
    done = clear(machine)
    assert done.returncode == 0
    assert left(machine) == set()
    assert done.stderr.count("removing") == 3
    again = clear(machine)
    assert (again.returncode, again.stderr) == (0, "")


def test_a_number_given_to_another_program_since_does_not_save_them(machine: Path) -> None:
    process(machine / "proc", 71, "sleep")
    process(machine / "proc", 72, "dockerd")
    clear(machine)
    assert left(machine) == set()


def test_a_dead_engine_nobody_waited_for_does_not_save_them(machine: Path) -> None:
    process(machine / "proc", 71, "dockerd", state="Z (zombie)")
    clear(machine)
    assert "docker.pid" not in left(machine)


def test_files_of_living_processes_stay(machine: Path) -> None:
    process(machine / "proc", 71, "dockerd")
    process(machine / "proc", 72, "containerd")
    row = f"0000000000000000: 00000002 00000000 00010000 0001 01 5021 {machine}/run/docker.sock\n"
    with (machine / "proc/net/unix").open("a") as table:
        table.write(row)
    done = clear(machine)
    assert left(machine) == ALL
    assert done.stderr == ""


def test_an_engine_that_runs_but_does_not_answer_is_left_alone(machine: Path) -> None:
    process(machine / "proc", 71, "dockerd")
    bin_folder = machine / "bin"
    command(bin_folder, "docker", "exit 1")
    command(bin_folder, "dockerd", f"touch {machine}/started")
    done = bash(
        f"""
        run_dir={machine}/run proc={machine}/proc state={machine}/state
        wait_for_engine() {{ engine_answers; }}
        start_by_hand
        """,
        path=bin_folder,
    )
    assert done.returncode == 6
    assert "left alone" in done.stderr
    assert left(machine) == ALL
    assert not (machine / "started").exists()


@pytest.mark.parametrize(
    ("env", "context", "said"),
    [
        ({"DOCKER_HOST": "tcp://192.0.2.1:2375"}, "default", "DOCKER_HOST=tcp://192.0.2.1:2375"),
        ({}, "elsewhere", "context 'elsewhere'"),
    ],
)
def test_no_engine_is_started_in_place_of_one_that_was_chosen(
    tmp_path: Path, env: dict[str, str], context: str, said: str
) -> None:
    command(tmp_path / "bin", "docker", f'[ "$1" = context ] || exit 1\necho {context}')
    for name in ("dockerd", "apt-get", "systemctl", "setsid"):
        command(tmp_path / "bin", name, f"touch {tmp_path}/touched")
    done = bash("start_engine", env=env, path=tmp_path / "bin")
    assert done.returncode == 6
    assert said in done.stderr
    assert not (tmp_path / "touched").exists()


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """A PATH on which everything is there and whatever changes a machine leaves a mark."""
    folder = tmp_path / "bin"
    command(folder, "docker", '[ "$1" != images ] || echo an-id')
    command(folder, "mmdebstrap", "exit 1")
    command(folder, "chromium", "exit 1")
    for name in ("apt-get", "dpkg-deb", "systemctl", "dockerd", "setsid", "pip", "uv"):
        command(folder, name, f"echo {name} >> {tmp_path}/touched; exit 1")
    plugins = tmp_path / "config/cli-plugins"
    plugins.mkdir(parents=True)
    for name in ("docker-buildx", "docker-compose"):
        command(plugins, name, "exit 0")
    return tmp_path


PREPARE = """
    state={0}/state venv={0}/venv
    mkdir -p $venv/bin; for name in bench pytest python; do cp /bin/true $venv/bin/$name; done
    echo "$(venv_key) {1}" >$venv/.memory-bench
    prepare {2}
"""


@pytest.mark.parametrize(("made", "wanted"), [("run", "bench"), ("dev", "bench"), ("dev", "test")])
def test_nothing_is_done_or_said_when_all_is_there(ready: Path, made: str, wanted: str) -> None:
    done = bash(
        PREPARE.format(ready, made, wanted),
        env={"DOCKER_CONFIG": str(ready / "config")},
        path=ready / "bin",
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (ready / "touched").exists()
    assert not (ready / "state").exists()


@pytest.mark.parametrize(
    ("wanted", "answer", "said"),
    [
        ("bench", "exit 1", []),
        ("test", "exit 1", ["installing chromium", "going on without chromium"]),
        ("test", "mv {0}/chromium {0}/bin", ["installing chromium"]),
    ],
)
def test_a_browser_is_installed_for_tests_alone_and_is_not_a_must(
    ready: Path, wanted: str, answer: str, said: list[str]
) -> None:
    (ready / "bin/chromium").rename(ready / "chromium")
    command(ready / "bin", "id", "echo 0")
    command(ready / "bin", "dpkg", "exit 0")
    command(ready / "bin", "apt-get", f"echo $@ >> {ready}/touched; {answer.format(ready)}")
    # The machine's other commands, without a browser it may have.
    few = ready / "few"
    few.mkdir()
    for found in Path("/usr/bin").iterdir():
        if found.name != "chromium":
            (few / found.name).symlink_to(found)
    done = bash(
        f"PATH={ready}/bin:{few}\n" + textwrap.dedent(PREPARE.format(ready, "dev", wanted)),
        env={"DOCKER_CONFIG": str(ready / "config")},
    )
    assert done.returncode == 0
    assert [line for line in said if line in done.stderr] == said
    assert (ready / "touched").exists() == bool(said)
    assert bool(said) or not done.stderr


def test_unit_tests_ask_for_no_engine(ready: Path) -> None:
    command(ready / "bin", "docker", f"echo docker >> {ready}/touched; exit 1")
    done = bash(PREPARE.format(ready, "dev", "unit"), path=ready / "bin")
    assert done.returncode == 0
    assert not (ready / "touched").exists()


@pytest.mark.parametrize("stamp", ["$(venv_key) run", "0000 dev", ""])
def test_an_environment_made_from_other_files_is_not_taken(ready: Path, stamp: str) -> None:
    done = bash(
        f"""
        venv={ready}/venv
        mkdir -p $venv/bin; for name in bench pytest; do cp /bin/true $venv/bin/$name; done
        echo "{stamp}" >$venv/.memory-bench
        if venv_ready test; then echo taken; else echo refused; fi
        """
    )
    assert done.stdout == "refused\n"


def test_a_user_without_the_rights_is_told_what_to_install(tmp_path: Path) -> None:
    done = bash("on_debian_as_root() { false; }\nneed 'A container engine' docker.io iptables")
    assert done.returncode == 6
    assert "A container engine is missing" in done.stderr
    assert "docker.io iptables" in done.stderr


def test_one_set_up_at_a_time(tmp_path: Path) -> None:
    done = bash(
        f"""
        state={tmp_path}
        work() {{ echo in >>$state/log; sleep 0.2; echo out >>$state/log; }}
        under_lock work & under_lock work & under_lock work & wait
        """
    )
    assert done.returncode == 0
    assert (tmp_path / "log").read_text().split() == ["in", "out"] * 3


def test_a_process_started_under_the_lock_does_not_keep_it(tmp_path: Path) -> None:
    done = bash(
        f"""
        state={tmp_path}
        work() {{ setsid sleep 5 </dev/null >/dev/null 2>&1 9>&- & }}
        under_lock work
        flock --wait 2 "$state/setup.lock" echo free
        """
    )
    assert done.stdout == "free\n"
