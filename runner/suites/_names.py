"""Names that a figure in a report must have: who reads one looks it up by them."""

from collections.abc import Collection, Mapping
from typing import TypeVar

from pydantic import AfterValidator

Named = TypeVar("Named", bound=Mapping[str, object])


def exactly(names: Collection[str]) -> AfterValidator:
    """A mapping by these names, and by no others."""
    return _held(required=names, known=names)


def among(names: Collection[str], *, required: Collection[str] = ()) -> AfterValidator:
    """A mapping by some of these names, ``required`` ones always."""
    return _held(required=required, known=names)


def _held(*, required: Collection[str], known: Collection[str]) -> AfterValidator:
    def check(found: Named) -> Named:
        if strange := found.keys() - set(known):
            raise ValueError(f"there is no {min(strange)!r}")
        if missing := set(required) - found.keys():
            raise ValueError(f"{min(missing)!r} is missing")
        return found

    return AfterValidator(check)
