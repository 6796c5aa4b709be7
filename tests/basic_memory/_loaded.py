"""Scripts of the image that lie beside the driver's package, as modules."""

import importlib.util
from types import ModuleType

from runner.paths import images


def loaded(name: str) -> ModuleType:
    """A script in the image's folder."""
    file = images() / "basic-memory" / name
    spec = importlib.util.spec_from_file_location(f"basic_memory_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
