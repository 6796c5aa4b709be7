"""The rules for putting a result in public: who follows them, and what breaks each."""

import io
import shutil
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from rich.console import Console

from runner import paths
from runner.archive.submit import Follows, Submission, check
from runner.commands._honesty import reveal
from runner.errors import UsageError
from runner.faults import load_fault
from runner.reports import files
from runner.reports.honesty import row_of
from runner.suites.memory_honesty import TOP_K
from tests.archive._made import (
    Document,
    Result,
    archived,
    forged,
    gate,
    honesty,
    learning,
    recorded,
    replayed,
    trip,
)

pytestmark = pytest.mark.slow

BESIDE = {
    "trip": {"top-k", "reveal", "arm"},
    "gate": {"top-k", "reveal", "arm"},
    "dev": {"reveal", "arm", "model"},
    "heldout": {"arm", "model"},
    "learning": {"reveal", "arm"},
    "recorded": {"top-k", "reveal"},
    "replayed": {"top-k", "reveal", "arm"},
}
"""Rules that have nothing to say of a result."""


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """A result of every suite, a recording, and its replay."""
    folder = tmp_path_factory.mktemp("submitted")
    found = {
        "trip": trip(folder / "trip"),
        "gate": gate(folder / "gate"),
        "dev": honesty(folder / "dev"),
        "heldout": honesty(folder / "heldout", "heldout"),
        "learning": learning(folder / "learning"),
    }
    found["recorded"] = recorded(found["trip"], folder / "recorded")
    found["replayed"] = replayed(found["recorded"], folder / "replayed")
    return found


@pytest.fixture
def copy(made: dict[str, Result], tmp_path: Path) -> Callable[[str], Path]:
    """A copy of one of them, with all that lies beside it."""

    def of(name: str) -> Path:
        here = tmp_path / name
        shutil.copytree(made[name].path.parent, here, ignore=shutil.ignore_patterns("boxes"))
        return here / made[name].path.name

    return of


def broken(submission: Submission) -> dict[str, str]:
    """What was found where a rule is not followed."""
    return {rule.id: rule.found for rule in submission.rules if rule.follows is Follows.DOES_NOT}


@pytest.mark.parametrize("name", BESIDE)
def test_a_whole_result_of_every_suite_follows_them(made: dict[str, Result], name: str) -> None:
    submission = check(made[name].path)
    assert submission.ready, broken(submission)
    beside = {rule.id for rule in submission.rules if rule.follows is Follows.NOT_APPLICABLE}
    assert beside == BESIDE[name]
    assert all(rule.found and rule.why and not rule.todo for rule in submission.rules)


def test_an_archive_does_as_well(made: dict[str, Result], tmp_path: Path) -> None:
    submission = check(archived(made["trip"], tmp_path / "a.tar"))
    assert submission.ready, broken(submission)
    assert "Not checked" not in submission.rule("verify").found


def test_a_system_that_read_its_own_store_and_says_so(
    made: dict[str, Result], tmp_path: Path
) -> None:
    document = orjson.loads(made["trip"].path.read_bytes())
    document["system"]["reader"] = "system"
    document["notes"] += ["What is said of its claims rests on the system's word."]
    path = tmp_path / "own.json"
    path.write_bytes(orjson.dumps(document))
    rule = check(path).rule("reader")
    assert (rule.follows, rule.found[:14]) == (Follows.HOLDS, "engine itself,")


# ---------------------------------------------------------------- what breaks each


def run(document: Document, number: int = 0) -> Document:
    found: Document = document["runs"][number]
    return found


def _half(document: Document) -> None:
    del document["runs"][3:]


def _ended(kind: str, outcome: str) -> Callable[[Document], object]:
    def end(document: Document) -> None:
        run(document).update(checks=[], observations=[])
        run(document)["ending"] = {"outcome": outcome, "kind": kind, "detail": ""}

    return end


def _all_ended(document: Document) -> None:
    for one in document["runs"]:
        one["ending"] = {"outcome": "errored", "kind": "provider", "detail": ""}


def _fewer(document: Document) -> None:
    gone = document["planned"].pop()
    document["runs"] = [one for one in document["runs"] if one["spec"]["id"] != gone["id"]]


def _mixed(document: Document) -> None:
    document["purposes"]["update"] = "claude-haiku-4-5"
    document["mixed"] = True
    for one in document["runs"]:
        one["spec"]["pins"] = {"update": "claude-haiku-4-5"}


BREAKS: dict[str, tuple[str, str, Callable[[Document], object]]] = {
    "a run fewer": ("trip", "runs", _fewer),
    "a sample fewer": ("gate", "runs", _fewer),
    "a week left out": ("learning", "runs", _fewer),
    "runs that were not made": ("trip", "runs", _half),
    "a set of one's own": ("dev", "runs", lambda d: d["case"].update(set_sha256="0" * 64)),
    "runs that are not told of": ("trip", "verdicts", _half),
    "no verdict at all": ("trip", "verdicts", _all_ended),
    "a ceiling": ("trip", "ceilings", _ended("ceiling", "incomplete")),
    "a call that was refused": (
        "trip",
        "ceilings",
        lambda d: run(d)["calls"][0].update(outcome="refused", error="ceiling"),
    ),
    "a reply that was cut": (
        "trip",
        "ceilings",
        lambda d: run(d, 2)["calls"][1].update(flags=["lowered"]),
    ),
    "a store that its system read, untold": (
        "trip",
        "reader",
        lambda d: d["system"].update(reader="system"),
    ),
    "more pages": ("dev", "top-k", lambda d: d["case"].update(top_k=TOP_K + 1)),
    "more pages for a pair": ("learning", "top-k", lambda d: d["case"].update(top_k=1)),
    "no stores": ("trip", "answers", lambda d: run(d).update(snapshots=[])),
    "no answers": ("dev", "answers", lambda d: run(d).update(steps=[])),
    "answers that are not sealed": ("heldout", "answers", lambda d: d.update(sealed=None)),
    "no settings": ("trip", "settings", lambda d: run(d, 1)["system"].pop("settings")),
    "another version": ("dev", "settings", lambda d: run(d)["system"].update(version="9")),
    "no digest": ("trip", "image", lambda d: d["images"][0].update(config_digest="sha256:1")),
    "no layers": ("trip", "image", lambda d: d["images"][1].update(layers=[])),
    "no packages": ("trip", "image", lambda d: d["images"][0].update(packages=[])),
    "no sources": ("trip", "image", lambda d: d["images"][0].update(source="unknown")),
    "no image": ("trip", "image", lambda d: d.update(images=[])),
    "a fault": ("trip", "plain", lambda d: run(d)["spec"].update(fault="keeps-the-flight")),
    "an oracle": ("dev", "plain", lambda d: d["case"].update(told=True)),
    "scripted in silence": ("trip", "arm", lambda d: d.update(notes=[])),
    "a recording nobody names": ("replayed", "arm", lambda d: d.update(cassette=None)),
    "a mixture in silence": ("trip", "model", _mixed),
    "older checks": ("trip", "checks", lambda d: d.update(checks_version=2)),
    "a figure that is another": ("gate", "verify", lambda d: d["verdict"].update(bar_met=None)),
}


@pytest.mark.parametrize("what", BREAKS)
def test_a_broken_rule_is_told_with_what_to_do(copy: Callable[[str], Path], what: str) -> None:
    name, rule, how = BREAKS[what]
    submission = check(forged(copy(name), how))
    assert not submission.ready
    assert rule in broken(submission), broken(submission)
    assert submission.rule(rule).todo
    assert submission.rule(rule).found


def test_a_run_without_a_verdict_is_no_secret(copy: Callable[[str], Path]) -> None:
    """As long as it is told of, the rule is followed: what it means for a bar the verdict says."""
    path = forged(copy("trip"), _ended("provider", "errored"))
    rule = check(path).rule("verdicts")
    assert rule.follows is Follows.HOLDS
    assert "reader-move-1 (provider)" in rule.found


def test_a_mixture_is_fine_by_name(copy: Callable[[str], Path]) -> None:
    def named(document: Document) -> None:
        _mixed(document)
        document["notes"].append("A mixture of models: update on claude-haiku-4-5.")

    rule = check(forged(copy("trip"), named)).rule("model")
    assert rule.follows is Follows.HOLDS
    assert "claude-haiku-4-5" in rule.found


def test_a_fault_is_no_result(tmp_path: Path) -> None:
    path = trip(tmp_path, fault=load_fault("learns-nothing-of-the-home")).path
    submission = check(path)
    assert set(broken(submission)) == {"plain"}
    assert "learns-nothing-of-the-home" in broken(submission)["plain"]


def test_sealed_answers_have_to_be_there(copy: Callable[[str], Path]) -> None:
    path = copy("heldout")
    path.with_name("heldout.sealed.gz").unlink()
    assert set(broken(check(path))) == {"answers"}


def test_where_a_model_was_asked_elsewhere_it_says_so(copy: Callable[[str], Path]) -> None:
    def elsewhere(document: Document) -> None:
        for one in document["runs"]:
            one["gateway"]["way_out"] = {"anthropic": "https://models.example"}

    rule = check(forged(copy("recorded"), elsewhere)).rule("arm")
    assert rule.follows is Follows.HOLDS
    assert "https://models.example" in rule.found


@pytest.mark.parametrize("raw", [b"{}", b"no archive", b""])
def test_what_is_no_result_is_none(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(raw)
    submission = check(path)
    assert set(broken(submission)) == {"verify"}
    with pytest.raises(UsageError):
        check(tmp_path / "nothing")


def test_a_report_that_nobody_can_judge_is_told_and_no_crash(copy: Callable[[str], Path]) -> None:
    path = forged(copy("trip"), lambda d: d["case"].update(checks_versions=[], name="no-such-case"))
    assert not check(path).ready


# ---------------------------------------------------------------- the register


@pytest.fixture
def register(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bench of its own, whose register can be written."""
    root = tmp_path / "root"
    shutil.copytree(paths.fixtures(), root / "fixtures")
    (root / "images").symlink_to(paths.images())
    monkeypatch.setenv("BENCH_ROOT", str(root))
    return root / "fixtures" / "honesty" / "REGISTER.md"


@pytest.mark.parametrize(
    ("line", "follows"),
    [
        ("", Follows.HOLDS),
        ("| 2026-12-01 | heldout | revealed: bm25 |", Follows.DOES_NOT),
        ("| 2026-11-30 | heldout | revealed: bm25 |", Follows.DOES_NOT),
        ("| 2026-12-01 | heldout | revealed: bm25 + rules (floor 1 from dev) |", Follows.DOES_NOT),
        ("| 2026-12-01 | heldout, heldout2 | burned: bm25 |", Follows.DOES_NOT),
        ("| 2026-12-01 | heldout | revealed: bm25-rules |", Follows.HOLDS),
        ("| 2026-12-01 | heldout | revealed: a \\| bm25 |", Follows.HOLDS),
        ("| 2026-12-01 | heldout2 | revealed: bm25 |", Follows.HOLDS),
        ("| 2026-11-29 | heldout | revealed: bm25 |", Follows.HOLDS),
        ("| 2026-12-01 | heldout | bm25, once, timed |", Follows.HOLDS),
        ("| soon | heldout | revealed: bm25 |", Follows.HOLDS),
    ],
)
def test_a_held_out_set_that_was_shown(
    copy: Callable[[str], Path], register: Path, line: str, follows: Follows
) -> None:
    path = copy("heldout")
    with register.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    rule = check(path).rule("reveal")
    assert rule.follows is follows
    others = follows is Follows.HOLDS and "revealed" in line and " heldout " in line
    told = "It was shown for" in rule.found
    assert told == (others and "2026-12-01" in line)


def test_what_reveal_writes_is_what_is_read(copy: Callable[[str], Path], register: Path) -> None:
    """The very line that the command writes before it shows a question."""
    path = copy("heldout")
    before = register.read_text(encoding="utf-8")
    reveal(row_of(files.load(path)), Console(file=io.StringIO()))
    assert register.read_text(encoding="utf-8") != before
    assert check(path).rule("reveal").follows is Follows.DOES_NOT


def test_without_a_register_nobody_knows(copy: Callable[[str], Path], register: Path) -> None:
    register.unlink()
    rule = check(copy("heldout")).rule("reveal")
    assert rule.follows is Follows.DOES_NOT
    assert "cannot be read" in rule.found
