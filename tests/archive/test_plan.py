"""What is to go into an archive: all of it found before anything is written."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runner.archive import plan
from runner.archive.contents import LeftOut
from runner.archive.plan import Plan
from runner.errors import AlteredReport, CannotStart, UsageError
from runner.images._source import recipe
from tests.archive._kit import BENCH, ENGINE, IDENTITIES, blank_report, remember_packages, save
from tests.oci._engine import Engine, running
from tests.oci._kit import image, sha

REFERENCES = ["memory-bench/engine:0123456789ab", "memory-bench/bench:ba9876543210"]
RESTRICTED = {"redistributable": False, "restriction": "its licence forbids it"}


def made(engine: Engine, report: Path | None = None, *names: str, **how: Any) -> Plan:
    return plan.make(engine.client(), report=report, names=names, **how)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCH_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


# ---------------------------------------------------------------- of a report


def test_all_images_of_a_report(engine: Engine, report: Path) -> None:
    found = made(engine, report)
    assert [one.reference for one in found.images] == REFERENCES
    assert [one.config_digest for one in found.images] == [ENGINE.digest, BENCH.digest]
    assert [one.held.id for one in found.images] == [engine.id_of(ENGINE), engine.id_of(BENCH)]
    assert [one.identity for one in found.images] == list(IDENTITIES)
    assert (found.left_out, found.subject) == ((), ENGINE.digest)
    assert found.evidence is not None
    assert not any(asked.startswith("GET /images/get") for asked in engine.asked) or (
        engine.by_manifest
    )


def test_every_image_that_is_missing_is_named_at_once(engine: Engine, report: Path) -> None:
    engine.images.clear()
    with pytest.raises(CannotStart) as caught:
        made(engine, report, "memory-bench/other:1")
    told = caught.value.message
    assert "does not hold 3 of the images" in told
    for identity in IDENTITIES:
        assert f"{identity.name} ({identity.config_digest})" in told
    assert "memory-bench/other:1" in told
    assert caught.value.exit_code == 6


def test_a_report_that_tells_of_other_layers(engine: Engine, tmp_path: Path) -> None:
    forged = IDENTITIES[0].model_copy(update={"layers": (sha(b""),)})
    path = save(blank_report((forged, IDENTITIES[1])), tmp_path / "forged.json")
    # An engine that calls images by their manifests looks among those of the layers told.
    with pytest.raises((AlteredReport, CannotStart), match=ENGINE.digest):
        made(engine, path)


def test_a_name_that_moved_on_does_not_matter(engine: Engine, report: Path) -> None:
    other = image("engine", labels={"other": "label"})
    engine.hold(other, REFERENCES[0])
    found = made(engine, report)
    assert found.images[0].config_digest == ENGINE.digest
    assert found.images[0].reference == REFERENCES[0]


@pytest.mark.parametrize(
    "name", ["memory-bench/bench:local", BENCH.digest, "bench", "somebody/else:0123456789ab"]
)
def test_images_are_called_by_what_they_were_built_as(
    engine: Engine, tmp_path: Path, name: str
) -> None:
    named = IDENTITIES[1].model_copy(update={"name": name})
    path = save(blank_report((IDENTITIES[0], named)), tmp_path / "local.json")
    assert made(engine, path).images[1].reference == REFERENCES[1]
    del engine.tags[REFERENCES[1]]
    again = made(engine, path).images[1].reference
    assert again == f"memory-bench/bench:{engine.id_of(BENCH)[7:19]}"


# ---------------------------------------------------------------- what may not be handed on


def test_what_may_not_be_handed_on_stays_out(engine: Engine, tmp_path: Path) -> None:
    restricted = IDENTITIES[0].model_copy(update=RESTRICTED)
    path = save(blank_report((restricted, IDENTITIES[1])), tmp_path / "restricted.json")
    found = made(engine, path)
    assert [one.reference for one in found.images] == REFERENCES[1:]
    assert found.left_out == (
        LeftOut(
            name=REFERENCES[0],
            config_digest=ENGINE.digest,
            layers=ENGINE.diff_ids,
            why="its licence forbids it",
        ),
    )
    # The report then hangs on the bench's image.
    assert found.subject == BENCH.digest
    whole = made(engine, path, restricted=True)
    assert [one.reference for one in whole.images] == REFERENCES
    assert (whole.left_out, whole.subject) == ((), ENGINE.digest)
    # It need not even be there.
    del engine.images[engine.id_of(ENGINE)]
    assert made(engine, path).left_out == found.left_out
    with pytest.raises(CannotStart, match=ENGINE.digest):
        made(engine, path, restricted=True)


def test_a_report_of_images_that_all_stay_out(engine: Engine, tmp_path: Path) -> None:
    restricted = [one.model_copy(update=RESTRICTED) for one in IDENTITIES]
    found = made(engine, save(blank_report(restricted), tmp_path / "restricted.json"))
    assert (found.images, found.subject, len(found.left_out)) == ((), None, 2)


def test_an_images_own_label_counts_where_the_report_is_silent(
    engine: Engine, tmp_path: Path
) -> None:
    secret = image("engine", labels={"memory-bench.redistribution": "no: it is a secret"})
    engine.hold(secret)
    told = IDENTITIES[0].model_copy(
        update={"config_digest": secret.digest, "layers": secret.diff_ids}
    )
    path = save(blank_report((told, IDENTITIES[1])), tmp_path / "silent.json")
    found = made(engine, path)
    assert [one.reference for one in found.images] == REFERENCES[1:]
    assert [one.why for one in found.left_out] == ["it is a secret"]
    assert len(made(engine, path, restricted=True).images) == 2


def test_restricted_images_by_name(engine: Engine, state: Path) -> None:
    secret = image("other", labels={"memory-bench.redistribution": "no: it is a secret"})
    engine.hold(secret, "memory-bench/other:0123456789ab")
    for known in (secret, image("x", shared=b"")):
        remember_packages(state, known)
    (state / "packages" / f"{engine.id_of(secret)[7:]}.json").write_bytes(b"[]")
    with pytest.raises(UsageError, match="None of the images may be handed on: it is a secret"):
        made(engine, None, "memory-bench/other:0123456789ab")
    found = made(engine, None, "memory-bench/other:0123456789ab", restricted=True)
    assert [one.reference for one in found.images] == ["memory-bench/other:0123456789ab"]
    remember_packages(state, ENGINE)
    (state / "packages" / f"{engine.id_of(ENGINE)[7:]}.json").write_bytes(b"[]")
    both = made(engine, None, "memory-bench/other:0123456789ab", REFERENCES[0])
    assert [one.reference for one in both.images] == REFERENCES[:1]
    assert [one.config_digest for one in both.left_out] == [secret.digest]


# ---------------------------------------------------------------- by name


@pytest.mark.parametrize("reference", [REFERENCES[0], "id"])
def test_images_by_name_or_id(engine: Engine, state: Path, reference: str) -> None:
    (state / "packages").mkdir(parents=True)
    (state / "packages" / f"{engine.id_of(ENGINE)[7:]}.json").write_bytes(b"[]")
    name = engine.id_of(ENGINE) if reference == "id" else reference
    found = made(engine, None, name)
    assert [one.reference for one in found.images] == REFERENCES[:1]
    # What only a save can tell is asked when the image is saved.
    assert found.images[0].config_digest == (None if engine.by_manifest else ENGINE.digest)
    assert (found.evidence, found.subject) == (None, None)


def test_images_of_the_files_as_they_are(classic: Engine, state: Path) -> None:
    labels = {"memory-bench.source": recipe("base").source}
    current = image("base", labels=labels)
    classic.hold(current, recipe("base").tag)
    classic.hold(image("base", labels={"old": "label"}), "memory-bench/base:0123456789ab")
    remember_packages(state, current)
    found = made(classic, None, "base")
    assert [one.config_digest for one in found.images] == [current.digest]
    assert [one.reference for one in found.images] == [recipe("base").tag]
    with pytest.raises(CannotStart, match="does not hold 1 of the images: router"):
        made(classic, None, "base", "router")


def test_a_report_and_images_beside_it(classic: Engine, report: Path, state: Path) -> None:
    other = image("other")
    classic.hold(other, "memory-bench/other:0123456789ab")
    remember_packages(state, other, ENGINE)
    found = made(classic, report, "memory-bench/other:0123456789ab", REFERENCES[0])
    assert [one.reference for one in found.images] == [
        *REFERENCES,
        "memory-bench/other:0123456789ab",
    ]
    assert found.images[0].identity.packages == IDENTITIES[0].packages


def test_what_cannot_be_archived(engine: Engine, report: Path) -> None:
    engine.hold(replace(image("other"), labels={}), "debian:trixie")
    with pytest.raises(UsageError, match="debian:trixie is not an image of the project"):
        made(engine, None, "debian:trixie")
    with pytest.raises(UsageError, match="no image or report 'nothing'"):
        made(engine, None, "nothing")
    for how in ({"kept": report.parent}, {"cassette": report}):
        with pytest.raises(UsageError, match="belong to a report"):
            made(engine, None, "base", **how)


def test_an_engine_that_holds_nothing() -> None:
    with running(Engine()) as empty, pytest.raises(CannotStart, match="of the images: base"):
        made(empty, None, "base")
