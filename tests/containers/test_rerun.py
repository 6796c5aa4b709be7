"""A result made again from one file alone: on an engine that never saw its images, offline."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from runner import images
from runner.archive.rerun import command
from runner.errors import CannotStart
from runner.reports import integrity
from runner.reports.schema import Report
from runner.runs.place import place
from runner.runs.sandbox import Engine
from tests.containers._bench import Bench, end
from tests.containers._second_engine import SecondEngine, second_engine
from tests.containers._standin import standing_in

pytestmark = pytest.mark.containers

ONE_EACH = ("--move-runs", "1", "--trip-alone-runs", "1", "--quiet")
OVERLOADED = {"status": 529, "kind": "overloaded_error", "headers": [["retry-after", "0"]]}
QUICK = ("--level", "1", "--quiet")


@pytest.fixture(scope="module")
def second() -> Iterator[SecondEngine]:
    """An engine that never saw an image of the project, nor the way to anywhere."""
    with second_engine() as other:
        assert other.images() == []
        yield other


@pytest.fixture(scope="module")
def here(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A bench on the machine's engine, whose archives share their layers."""
    folder = tmp_path_factory.mktemp("here")
    env = {"ANTHROPIC_API_KEY": "sk-test", "HTTPS_PROXY": "", "https_proxy": ""}
    return Bench(folder, env={"BENCH_STATE": str(folder / "state"), **env}, engine=engine)


@pytest.fixture
def there(second: SecondEngine, tmp_path: Path) -> Iterator[Bench]:
    """A bench on the second engine, without a network, that remembers nothing."""
    env = {
        "DOCKER_HOST": second.host,
        "BENCH_STATE": str(tmp_path / "state"),
        "ANTHROPIC_API_KEY": "",
    }
    bench = Bench(tmp_path, env, second.engine(), within=("unshare", "--net"))
    yield bench
    assert bench.left() == []


@pytest.fixture(scope="module")
def archive(here: Bench) -> Callable[..., Path]:
    """Archives a report of the first bench."""

    def write(name: str, *more: str | Path) -> Path:
        out = here.folder / f"{name}.bench"
        done = here.run(
            "images", "archive", f"{name}.json", "-o", out, "--store", "store", *QUICK, *more
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return out

    return write


@pytest.fixture(scope="module")
def engines(here: Bench, archive: Callable[..., Path]) -> Path:
    """The archive of the engine's scripted protocol."""
    done = here.run("--arm", "scripted", "-o", "engine.json", "--keep", "kept", *ONE_EACH)
    assert done.returncode == 0, done.stderr
    return archive("engine", "--kept", "kept")


def digests(report: Report) -> list[str]:
    return [image.config_digest for image in report.images]


def forged(bench: Bench, name: str, how: Callable[[dict[str, Any]], object]) -> None:
    """A report of the first bench with something in it changed, its digests made anew."""
    document = orjson.loads((bench.folder / "engine.json").read_bytes())
    how(document)
    document[integrity.OWN_FIELD] = integrity.digests(document)
    (bench.folder / f"{name}.json").write_bytes(orjson.dumps(document))


# ---------------------------------------------------------------- the promise of the project


def test_the_engines_protocol_on_an_engine_that_never_saw_it(
    engines: Path, second: SecondEngine, there: Bench, here: Bench
) -> None:
    second.forget()
    done = there.run("rerun", engines, "--quiet")
    assert done.returncode == 8, done.stderr
    assert "Nothing was loaded. Add --yes" in done.stderr
    assert second.images() == []
    done = there.run("rerun", engines, "--yes", "-o", "again.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        "reader-move-1: identical\nreader-trip-alone-1: identical\nIdentical: 2 runs.\n"
    )
    assert "memory-bench/engine" in done.stderr
    original, again = here.report("engine.json"), there.report("again.json")
    assert digests(again) == digests(original)
    assert sorted(second.images()) == sorted(digests(original))
    assert again.images[0].packages == original.images[0].packages
    one, other = (report.runs[0].final for report in (original, again))
    assert one is not None
    assert other is not None
    assert {claim.id for claim in one.claims}.isdisjoint(claim.id for claim in other.claims)
    assert there.env["DOCKER_HOST"] == second.host
    # What is there is not loaded again, and nobody has to be asked.
    done = there.run("rerun", engines, "--quiet", "--format", "json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["identical"] is True
    assert [run["run"] for run in document["runs"]] == ["reader-move-1", "reader-trip-alone-1"]
    # And exactly that image runs there by its digest; of another there is nothing to run.
    digest = digests(original)[0]
    done = there.run("--image", digest[7:27], "--arm", "scripted", "-o", "x.json", *ONE_EACH)
    assert done.returncode == 0, done.stderr
    assert digests(there.report("x.json"))[0] == digest
    done = there.run("--image", "0" * 12, "--arm", "scripted", "-o", "y.json", *ONE_EACH)
    assert done.returncode == 6, done.stderr
    assert "bench images restore FILE" in done.stderr
    assert not (there.folder / "y.json").exists()


def test_an_interrupted_restore_is_taken_up(
    engines: Path, second: SecondEngine, there: Bench
) -> None:
    second.forget()
    process = there.start("images", "restore", engines)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("loading"):
                break
        time.sleep(0.3)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    finally:
        end(process)
    engine = second.engine()
    named = [
        tag
        for image in engine.call("GET", "/images/json")
        for tag in image["RepoTags"] or ()
        if tag.startswith("memory-bench/")
    ]
    assert named == [], "a name before all were whole"
    done = there.run("rerun", engines, "--yes", "--quiet")
    assert done.returncode == 0, done.stderr
    assert "Identical: 2 runs." in done.stdout


def test_a_report_that_was_altered_in_one_digit(
    engines: Path, here: Bench, there: Bench, archive: Callable[..., Path]
) -> None:
    # What can be computed again from the file alone is seen before anything is run.
    def usage(document: dict[str, Any]) -> None:
        document["runs"][0]["calls"][0]["usage"]["output"] += 1

    forged(here, "costs", usage)
    done = there.run("rerun", archive("costs", "--kept", "kept"), "--yes", "--quiet")
    assert done.returncode == 7, done.stderr
    assert "does not hold" in done.stderr
    assert done.stdout == ""

    # What only the system could know is seen when it is run again.
    def claims(document: dict[str, Any]) -> None:
        document["runs"][0]["steps"][0]["result"]["claims"] += 1

    forged(here, "claims", claims)
    done = there.run("rerun", archive("claims", "--kept", "kept"), "--yes", "--quiet")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith(
        'reader-move-1: reader-move-1.steps["deposit reader-01.md"].result.claims was 3 and is 2.\n'
        "reader-trip-alone-1: identical\nNot identical: 1 run of 2.\n"
    )


def test_a_recorded_run_is_made_again_by_its_recording(
    engine: Engine, here: Bench, there: Bench, archive: Callable[..., Path]
) -> None:
    with standing_in(engine) as provider:
        provider.then(OVERLOADED)  # and is asked once more, then and now
        done = here.run(
            "--arm", "record", *provider.options, "--cassette", "recorded.cassette", "--yes",
            "--max-usd", "2", "-o", "recorded.json", *ONE_EACH,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        asked = len(provider.seen())
        file = archive("recorded", "--cassette", "recorded.cassette")
        done = there.run("rerun", file, "--yes", "-o", "again.json", "--quiet")
        assert done.returncode == 0, done.stderr + done.stdout
        assert len(provider.seen()) == asked, "somebody was asked"
    assert "Identical: 2 runs." in done.stdout
    original, again = here.report("recorded.json"), there.report("again.json")
    assert (original.arm, again.arm) == ("record", "replay")
    assert again.spend.simulated is True
    assert again.spend.cost_usd == original.spend.cost_usd > 0
    assert {run.gateway.network for run in again.runs if run.gateway} == {"none"}
    failed = [[call.error for call in run.calls if call.error] for run in again.runs]
    assert sorted(failed) == [[], ["http_529"]]


def test_on_the_wall_clock_it_says_what_is_not_compared(
    here: Bench, there: Bench, archive: Callable[..., Path]
) -> None:
    gate = ("update-gate", "--set", "past-values", "--samples", "2", "--quiet")
    done = here.run(*gate, "--arm", "scripted", "-o", "gate.json")
    assert done.returncode == 0, done.stderr
    done = there.run("rerun", archive("gate"), "--yes", "--quiet")
    assert done.returncode == 0, done.stderr + done.stdout
    assert "Identical: 2 runs." in done.stdout
    assert "which cannot be had again" in done.stdout


def test_another_bench_says_how_to_run_the_one_that_is_in_the_archive(
    engines: Path, second: SecondEngine, there: Bench, here: Bench
) -> None:
    """A checkout whose scripted answers have changed since."""
    root = there.folder / "root"
    root.mkdir()
    checkout = Path(__file__).parents[2]
    for file in checkout.iterdir():
        if file.name not in ("fixtures", ".git"):
            (root / file.name).symlink_to(file)
    shutil.copytree(checkout / "fixtures", root / "fixtures")
    table = root / "fixtures" / "scripted" / "engine" / "reader.toml"
    table.write_text(table.read_text() + "\n# changed\n")
    there.env["BENCH_ROOT"] = str(root)
    done = there.run("rerun", engines, "--yes", "--quiet")
    assert done.returncode == 2, done.stderr
    assert "its scripted/engine/reader.toml is " in done.stderr
    bench = here.report("engine.json").images[1]
    assert f"bench images restore {engines} --only {bench.config_digest}" in done.stderr
    typed = command(bench.name, engines)
    assert typed in done.stderr
    # As it is told, but for where the second engine's socket lies.
    del there.env["BENCH_ROOT"]
    done = there.run("images", "restore", engines, "--quiet")
    assert done.returncode == 0, done.stderr
    typed = typed.replace("-v /var/run/docker.sock:", f"-v {second.socket}:")
    told = subprocess.run(
        typed,
        shell=True,
        env={**os.environ, "DOCKER_HOST": second.host},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert "Identical: 2 runs." in told.stdout
    assert "The report was made by" not in told.stderr
    second.engine().call("DELETE", "/volumes/memory-bench-state", missing_ok=True)


def test_a_name_that_moves_while_all_is_made_ready_is_not_run(
    engines: Path, second: SecondEngine, there: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = there.run("images", "restore", engines, "--quiet")
    assert done.returncode == 0, done.stderr
    for name, value in there.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("BENCH_LEASES", str(there.leases))
    ensure = images.ensure
    engine = second.engine()

    def meanwhile(name: str, **how: Any) -> Any:
        found = ensure(name, **how)
        if name == "bench":  # the last that is made ready
            held = engine.call("GET", f"/images/{measured.name}/json")
            repository, _, tag = measured.name.partition(":")
            other = f"/images/{found.config_digest}/tag"
            engine.call("POST", other, query={"repo": repository, "tag": tag})
            assert held["Id"] == measured.config_digest
        return found

    measured = ensure("engine")
    monkeypatch.setattr(images, "ensure", meanwhile)
    with (
        pytest.raises(CannotStart, match="when runs were planned, and means") as caught,
        place("engine", say=lambda _: None),
    ):
        pytest.fail("it was run")
    assert f"--image {measured.config_digest[7:19]}" in caught.value.hint
    second.forget()


# ---------------------------------------------------------------- other systems


@pytest.mark.all_images
def test_particles_protocol(
    second: SecondEngine, here: Bench, there: Bench, archive: Callable[..., Path]
) -> None:
    done = here.run(
        "--system", "particles", "--arm", "scripted", "-o", "particles.json", "--keep", "kept",
        *ONE_EACH,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = there.run("rerun", archive("particles", "--kept", "kept"), "--yes", "-o", "again.json")
    assert done.returncode == 0, done.stderr + done.stdout
    assert "Identical: 2 runs." in done.stdout
    assert digests(there.report("again.json")) == digests(here.report("particles.json"))


@pytest.mark.all_images
def test_answers_to_a_held_out_set_are_held_to_each_other_unseen(
    here: Bench, there: Bench, archive: Callable[..., Path]
) -> None:
    done = here.run("honesty", "--system", "router", "--set", "heldout3", "-o", ".", "--quiet")
    assert done.returncode == 0, done.stderr
    name = "honesty-router-heldout3"
    done = there.run("rerun", archive(name), "--yes", "--quiet")
    assert done.returncode == 0, done.stderr + done.stdout
    assert "memory-honesty-heldout3-1: identical" in done.stdout
    assert "q0" not in done.stdout + done.stderr
