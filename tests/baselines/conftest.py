import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from baselines_driver.driver import Driver

from tests.baselines._model import Model

PAGES = [
    {
        "name": "Rules/Release.md",
        "text": "---\ntitle: Release process\nstatus: current\n---\n\n# Release process\n\n"
        "A release goes out every Tuesday. It was every Monday until spring.\n",
    },
    {
        "name": "Rules/Release 2025.md",
        "text": "---\ntitle: Release process 2025\nstatus: superseded\n"
        "superseded_by: Rules/Release.md\n---\n\nA release goes out every Monday.\n",
    },
    {"name": "Office.md", "text": "# The office\n\nThe office is in Pune, near the river.\n"},
    {"name": "报销.md", "text": "---\ntitle: 差旅报销\n---\n\n报销在三十天内提交。\n"},
]


@pytest.fixture(scope="session")
def model() -> Model:
    return Model.made()


@pytest.fixture(scope="session")
def model_file(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return model.write(tmp_path_factory.mktemp("model") / "small.bin")


class Asked:
    """A driver that is spoken to line by line, in this process."""

    def __init__(self, env: dict[str, str]) -> None:
        self.driver = Driver(env)

    def reply(self, verb: str, **payload: Any) -> dict[str, Any]:
        line = json.dumps({"id": 1, "verb": verb, **payload})
        reply = self.driver.answer(line.encode())
        assert reply["id"] == 1
        return reply

    def result(self, verb: str, **payload: Any) -> dict[str, Any]:
        reply = self.reply(verb, **payload)
        assert reply["ok"], reply
        result: dict[str, Any] = reply["result"]
        return result

    def error(self, verb: str, **payload: Any) -> tuple[str, str]:
        reply = self.reply(verb, **payload)
        assert not reply["ok"], reply
        return reply["error"]["type"], reply["error"]["message"]

    def ask(self, question: str, top_k: int = 5, **payload: Any) -> dict[str, Any]:
        return self.result("ask", question=question, top_k=top_k, **payload)

    def cited(self, question: str, top_k: int = 5) -> list[str]:
        return [page["name"] for page in self.ask(question, top_k)["pages"]]


@pytest.fixture
def system(tmp_path: Path, model_file: Path) -> Callable[..., Asked]:
    """Makes a system with some options set; its encoder is the small model."""
    (tmp_path / "exchange").mkdir(exist_ok=True)

    def make(**options: Any) -> Asked:
        env = {
            "HOME": str(tmp_path),
            "BASELINES_EXCHANGE": str(tmp_path / "exchange"),
            "BASELINES_MODEL": str(model_file),
            "BENCH_SETTINGS": json.dumps({"model": "none", "pins": {}, "options": options}),
        }
        return Asked(env)

    return make


@pytest.fixture
def indexed(system: Callable[..., Asked]) -> Callable[..., Asked]:
    """The same, with pages in it."""

    def make(**options: Any) -> Asked:
        made = system(**options)
        assert made.result("index", pages=PAGES)["pages"] == len(PAGES)
        return made

    return make
