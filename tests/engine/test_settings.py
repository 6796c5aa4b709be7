import json
from typing import Any

import pytest
from memory_engine.errors import BadRequest
from memory_engine.settings import PURPOSES, parse


def test_what_is_not_given_has_its_own_value() -> None:
    settings = parse('{"model": "m-1", "pins": {"update": "m-2"}}')
    assert settings.model_for("update") == "m-2"
    assert settings.model_for("extraction") == "m-1"
    assert settings.options.same_slot_admits
    assert set(settings.as_json()["models"]) == set(PURPOSES)
    assert settings.as_json()["options"]["max_tokens"]["extraction"] == 32_000


def test_a_limit_leaves_the_others_as_they_are() -> None:
    settings = parse(json.dumps({"model": "m", "options": {"max_tokens": {"update": 9}}}))
    assert settings.options.max_tokens["update"] == 9
    assert settings.options.max_tokens["extraction"] == 32_000


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "[]",
        "{}",
        {"model": " "},
        {"model": "m", "modle": "m"},
        {"model": "m", "pins": []},
        {"model": "m", "pins": {"divination": "m"}},
        {"model": "m", "pins": {"update": 3}},
        {"model": "m", "options": {"same_slot_admit": False}},
        {"model": "m", "options": {"same_slot_admits": "false"}},
        {"model": "m", "options": {"probes_per_claim": -1}},
        {"model": "m", "options": {"probes_per_claim": True}},
        {"model": "m", "options": {"probes_per_claim": 1.5}},
        {"model": "m", "options": {"attempts": 0}},
        {"model": "m", "options": {"timeout_s": "1"}},
        {"model": "m", "options": {"max_tokens": 5}},
        {"model": "m", "options": {"max_tokens": {"update": 0}}},
        {"model": "m", "options": {"max_tokens": {"divination": 5}}},
    ],
)
def test_settings_that_would_be_misread_are_refused(raw: Any) -> None:
    with pytest.raises(BadRequest):
        parse(raw if isinstance(raw, str) else json.dumps(raw))


def test_an_unknown_option_is_named_beside_the_known_ones() -> None:
    with pytest.raises(BadRequest, match=r"unknown option: x; known: .*same_slot_admits"):
        parse('{"model": "m", "options": {"x": 1}}')
