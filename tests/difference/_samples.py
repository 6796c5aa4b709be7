"""Pair sets with samples, as their reports save them, each made from its number."""

import random
from typing import Any

from tests.difference._wordings import sentences

SETS = ("gate", "gate-heldout", "past", "past-marker")
OLDER = tuple(text for _, text in sentences(400))
SLOTS = ("changes", "different", "fixed")
CLASSES = ("dated-update", "coexisting", "past-value", "relied-on", "case")


def pairs(number: int, *, samples: int = 3, failed: float = 0.0) -> list[dict[str, Any]]:
    """The pairs of one set. Most sets are of a model that errs seldom, so that bars are met too.

    Args:
        number: what it is made from.
        samples: of every pair.
        failed: the part of probes that give no verdict.
    """
    rng = random.Random(number)
    errs = rng.choice((0.0, 0.03, 0.1, 0.5))
    return [
        _pair(rng, f"p{place}", samples, errs, failed) for place in range(rng.choice((1, 3, 8, 19)))
    ]


def _pair(rng: random.Random, id_: str, samples: int, errs: float, failed: float) -> dict[str, Any]:
    expected = rng.choice(("changes", "not_changes", "not_changes", "report"))
    return {
        "id": id_,
        "class": rng.choice(CLASSES),
        "expected": expected,
        "older": rng.choice(OLDER),
        "newer": "The user moved to Oslo.",
        "samples": [_sample(rng, expected == "changes", errs, failed) for _ in range(samples)],
    }


def _sample(rng: random.Random, changes: bool, errs: float, failed: float) -> dict[str, Any]:
    says = changes != (rng.random() < errs)
    slot = "changes" if says else rng.choice(SLOTS[1:])
    return {
        "contradiction": None if rng.random() < failed else rng.random() < 0.6,
        "slot": None if rng.random() < failed else slot,
    }
