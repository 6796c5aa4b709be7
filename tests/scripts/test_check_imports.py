import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "scripts/check_imports.py"


def verdict(root: Path) -> tuple[int, list[str]]:
    done = subprocess.run(
        [sys.executable, str(TOOL), str(root)], capture_output=True, text=True, check=False
    )
    assert not done.stderr
    return done.returncode, done.stdout.splitlines()


def tree(root: Path, **modules: str) -> Path:
    """A package ``runner`` with modules named by path, ``__`` for a slash."""
    for name, text in modules.items():
        file = root / "runner" / f"{name.replace('__', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def test_the_project_itself_holds_to_its_layers() -> None:
    assert verdict(ROOT) == (0, [])


@pytest.mark.parametrize(
    "text",
    [
        "from runner.runs import plan",
        "from runner.runs.plan import RunSpec",
        "import runner.runs.plan",
        "import runner.model, runner.runs",
        "from .. import runs",
        "from ..runs import plan",
        "def late() -> None:\n    from runner.runs import plan",
        "if TYPE_CHECKING:\n    from runner.runs import plan",
    ],
)
def test_an_import_upwards_is_found_however_it_is_written(tmp_path: Path, text: str) -> None:
    code, lines = verdict(tree(tmp_path, suites__case=text))
    line = text.count("\n") + 1
    assert code == 1
    assert len(lines) == 1
    assert lines[0].startswith(f"runner/suites/case.py:{line}: ")
    assert lines[0].endswith("suites may not know runs")


@pytest.mark.parametrize(
    ("importer", "imported", "allowed"),
    [
        ("commands", "runs", True),
        ("reports", "runs", True),
        ("runs", "reports", False),
        ("runs", "gateway", True),
        ("suites", "systems", False),
        ("systems", "suites", False),
        ("gateway", "systems", False),
        ("systems", "gateway.ledger", False),
        ("systems", "gateway.wire", True),
        ("gateway", "model", True),
        ("model", "errors", True),
        ("model", "gateway", False),
        ("engine_api", "images", False),
        ("images", "images", True),
    ],
)
def test_each_direction(tmp_path: Path, importer: str, imported: str, allowed: bool) -> None:
    name = importer if importer in ("model", "engine_api") else f"{importer}__some"
    code, _ = verdict(tree(tmp_path, **{name: f"import runner.{imported}"}))
    assert code == (0 if allowed else 1)


def test_only_the_places_named_know_of_containers(tmp_path: Path) -> None:
    tree(tmp_path, runs__sandbox___docker="import docker", images__x="from docker import errors")
    assert verdict(tmp_path) == (0, [])
    tree(tmp_path, runs__pool="from docker.errors import APIError")
    code, lines = verdict(tmp_path)
    assert code == 1
    assert "runs.pool imports docker.errors.APIError" not in lines[0]
    assert "runs.pool imports docker" in lines[0]


def test_a_part_without_a_layer_is_an_error_on_both_ends(tmp_path: Path) -> None:
    code, lines = verdict(tree(tmp_path, novelty__x="", runs__x="import runner.novelty"))
    assert code == 1
    assert len(lines) == 2
    assert all("stands in no layer" in line for line in lines)
