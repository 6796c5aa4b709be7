"""What the bench says of the baselines, against the driver and its lock."""

import dataclasses
import re

import pytest
from baselines_driver import LICENCE, NAME, __version__, floors, nearness
from baselines_driver.driver import VERBS
from baselines_driver.methods import METHODS
from baselines_driver.settings import BAKED, Settings
from baselines_driver.store import FILE

from runner.errors import UsageError
from runner.gateway.wire import load_wire
from runner.images import names as image_names
from runner.paths import images
from runner.systems import catalog
from runner.systems.baselines.wire import BaselinesWire


def test_every_method_is_a_system_of_its_name() -> None:
    assert set(METHODS) <= set(catalog.names())
    assert NAME not in catalog.names()
    assert NAME in image_names()


@pytest.mark.parametrize("method", METHODS)
def test_the_description_is_true_of_each(method: str) -> None:
    system = catalog.load(method)
    assert (system.name, system.image) == (method, NAME)
    assert (system.version, system.licence) == (__version__, LICENCE)
    assert (system.verbs, system.store, system.purposes) == (VERBS, FILE, {})
    assert system.capabilities == METHODS[method].capabilities
    own = Settings(method=method)
    assert system.settle({}) == {
        field.name: getattr(own, field.name) for field in dataclasses.fields(own)
    }
    assert isinstance(load_wire(system.wire), BaselinesWire)


def test_a_floor_is_a_number_and_a_method_a_name() -> None:
    system = catalog.load("bm25-rules")
    assert system.settle({"floor": 4})["floor"] == 4
    assert system.settle({})["floor"] == BAKED
    for wrong in ({"floor": "4"}, {"method": 1}, {"floors": 4}):
        with pytest.raises(UsageError):
            system.settle(wrong)


@pytest.mark.parametrize("method", ["dense", "dense-rules", "agree"])
def test_which_encoder_it_is_stands_in_the_title(method: str) -> None:
    assert "multilingual-e5-small" in catalog.load(method).title
    assert "multilingual-e5-small" in nearness.IDENTITY


def test_the_lock_holds_the_encoder_that_is_named_and_little_else() -> None:
    lock = (images() / NAME / "requirements.lock").read_text()
    pinned = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", lock, re.MULTILINE))
    assert set(pinned) == {nearness.PACKAGE, "numpy"}
    assert f"{nearness.PACKAGE} {pinned[nearness.PACKAGE]}" in nearness.IDENTITY
    assert lock.count("--hash=sha256:") > 5


def test_what_floors_come_from_is_said() -> None:
    about = catalog.load("bm25").options["floors_from"].about
    assert all(name in about for name in floors.SETS)
