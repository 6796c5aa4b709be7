"""Whether the engine has its encoder. Without one it compares nothing, and does not say so."""

import math
from typing import Any

from particles_driver.errors import Degraded

IDENTITY = "all-MiniLM-L6-v2, float32, numpy"
PROBE = ("The user lives in Delhi.", "The user moved to Mumbai.")
NEARNESS = 0.59234
"""Cosine of the two, as the original encoder has it."""


def checked() -> str:
    """Load the encoder as the engine does, and see that it is the one meant.

    Raises:
        Degraded: it does not load, or does not give the vectors it should.
    """
    from particles.embeddings import get_embedding_model

    model: Any = get_embedding_model()
    if model is None:
        raise Degraded("the engine's text encoder does not load")
    one, other = (vector.astype(float) for vector in model.encode(list(PROBE)))
    nearness = float(one @ other)
    if not math.isclose(nearness, NEARNESS, abs_tol=1e-4):
        raise Degraded(f"the encoder holds two texts {nearness:.5f} near, not {NEARNESS}")
    return IDENTITY
