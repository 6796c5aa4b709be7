import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from mem0_driver.errors import BadRequest
from mem0_driver.settings import Options, parse

from runner.systems import catalog


def written(**settings: Any) -> str:
    return json.dumps({"model": "m-1", **settings})


def test_defaults_are_mem0s_own_and_the_descriptions() -> None:
    system = catalog.load("mem0")
    assert asdict(parse(written()).options) == system.settle({})
    for name, option in system.options.items():
        assert parse(written(options={name: option.default})).options == Options()


def test_what_is_set_is_in_force() -> None:
    told = {"infer": False, "threshold": 0.5, "limit": 5, "max_tokens": 4000}
    settings = parse(written(options=told))
    assert settings.as_json() == {"model": "m-1", "options": told}
    config = settings.config(Path("/home/bench/.mem0"))
    assert config["llm"] == {
        "provider": "anthropic",
        "config": {"model": "m-1", "max_tokens": 4000},
    }
    assert config["history_db_path"] == "/home/bench/.mem0/history.db"
    assert config["vector_store"]["config"]["path"] == "/home/bench/.mem0/qdrant"


def test_a_pin_is_the_model_of_its_purpose() -> None:
    assert parse(written(pins={"extraction": "m-2"})).model == "m-2"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("[]", "no JSON object"),
        ("{}", "names no model"),
        (written(model=" "), "names no model"),
        (written(model=7), "names no model"),
        (written(pins={"extraction": ""}), "names no model"),
        (written(pins={"update": "m"}), "pin that is not known: update"),
        (written(pins=[]), "JSON objects"),
        (written(options=7), "JSON objects"),
        (written(modle="m"), "setting that is not known: modle"),
        (written(options={"infre": True}), "option that is not known: infre"),
        (written(options={"infer": 1}), "infer does not take 1"),
        (written(options={"threshold": 1.5}), "threshold does not take"),
        (written(options={"threshold": True}), "threshold does not take"),
        (written(options={"threshold": float("nan")}), "threshold does not take"),
        (written(options={"limit": 0}), "limit does not take 0"),
        (written(options={"limit": 5.0}), "limit does not take"),
        (written(options={"limit": 101}), "limit does not take"),
        (written(options={"max_tokens": 0}), "max_tokens does not take"),
    ],
)
def test_anything_else_is_an_error(text: str, says: str) -> None:
    with pytest.raises(BadRequest, match=says):
        parse(text)
