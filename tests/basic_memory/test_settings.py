import json
from dataclasses import asdict

import pytest
from basic_memory_driver.errors import BadRequest
from basic_memory_driver.settings import SEARCHES, parse

from runner.systems import catalog

PRESETS = ("basic-memory", "basic-memory-text", "basic-memory-e5", "basic-memory-bge")


def written(**options: object) -> str:
    return json.dumps({"model": "m-1", "pins": {}, "options": options})


def test_the_defaults_are_the_descriptions() -> None:
    assert asdict(parse(written())) == catalog.load("basic-memory").settle({})


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_understood(name: str) -> None:
    system = catalog.load(name)
    assert asdict(parse(written(**system.settle({})))) == system.settle({})
    assert (system.image, system.licence) == ("basic-memory", "AGPL-3.0-or-later")


def test_only_searches_by_words_need_no_vectors() -> None:
    need = {search: parse(written(search=search)).vectors for search in SEARCHES}
    assert [search for search, vectors in need.items() if not vectors] == ["text", "title"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"options": 1}',
        '{"modle": "m-1"}',
        written(serach="text"),
        written(search="fuzzy"),
        written(min_similarity=-0.1),
        written(min_similarity=1.5),
        written(min_similarity=True),
        written(min_similarity="0.5"),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(BadRequest):
        parse(text)
