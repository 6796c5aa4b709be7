import re
import tomllib
from importlib import metadata

import memory_engine

from runner import paths

LOCKED = re.compile(r"^([a-z0-9-]+)==([^ ;\\]+)", re.MULTILINE)


def test_the_package_and_its_code_are_of_one_version() -> None:
    assert metadata.version("memory-engine") == memory_engine.__version__


def test_the_image_is_locked_to_what_is_tested_here() -> None:
    image = dict(LOCKED.findall((paths.images() / "engine" / "requirements.lock").read_text()))
    lock = tomllib.loads((paths.root() / "uv.lock").read_text())
    project = {package["name"]: package["version"] for package in lock["package"]}
    assert {"anthropic", "tenacity"} <= set(image)
    # What only another platform needs is not in the project's lock.
    shared = {name: version for name, version in image.items() if name in project}
    assert shared == {name: project[name] for name in shared}
    assert set(image) - set(shared) <= {"httpx2-jsfetch"}


def test_every_package_of_the_image_is_locked_by_its_content() -> None:
    text = (paths.images() / "engine" / "requirements.lock").read_text()
    blocks = re.split(r"\n(?=[a-z])", text.strip())
    assert len(blocks) == len(LOCKED.findall(text))
    assert all("--hash=sha256:" in block for block in blocks)
