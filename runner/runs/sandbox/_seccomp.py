"""The system-call filter every container of a run gets.

``seccomp.json`` beside this module is written by ``scripts/seccomp_profile.py``, which holds the
reasons.
"""

import functools
import json
from importlib import resources


@functools.cache
def profile() -> str:
    """The profile, as the engine's API takes it."""
    text = resources.files("runner.runs.sandbox").joinpath("seccomp.json").read_text()
    return json.dumps(json.loads(text), separators=(",", ":"))
