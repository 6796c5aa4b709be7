from pathlib import Path

from runner.commands._sitting import Sitting
from runner.runs.keep import Keep
from runner.systems.catalog import System, load
from tests.runs._protocols import PRICES, protocol


def images(
    *systems: System, digest: str | None = None
) -> list[tuple[str, str | None, str | None, str | None]]:
    """The images that protocols on these systems run on."""
    protocols = [protocol(system=system, image=digest) for system in systems]
    nothing = [None] * len(protocols)
    outputs = [Path("x")] * len(protocols)
    sitting = Sitting(protocols, PRICES, nothing, outputs, nothing, Keep(None), None)
    return [sitting._of(number) for number in range(len(protocols))]


def test_systems_of_one_image_are_told_apart_by_what_is_baked_in() -> None:
    usual = load("engine").model_copy(update={"folder": "some", "name": "one", "model": "small"})
    same = usual.model_copy(update={"name": "two"})
    other = usual.model_copy(update={"name": "three", "model": "large"})
    found = images(usual, same, other)
    assert found == [
        ("some", None, "small", None),
        ("some", None, "small", None),
        ("some", None, "large", None),
    ]


def test_a_version_is_asked_for_where_there_are_several() -> None:
    assert images(load("engine"), load("particles", "1.192.2")) == [
        ("engine", None, None, None),
        ("particles", "1.192.2", None, None),
    ]


def test_an_image_that_was_named_goes_with_it() -> None:
    assert images(load("engine"), digest="sha256:1") == [("engine", None, None, "sha256:1")]
