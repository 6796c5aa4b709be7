"""The driver is not installed beside the project: it needs nothing, and only its tests need it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "images" / "claude-mem"))
