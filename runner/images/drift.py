"""What an image holds that its locks do not pin, and what they pin that it does not hold."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from runner.images import labels, locks
from runner.images.locks import Pins
from runner.model import Package

_BETWEEN = "; "
_TOLD = 3


def drift(
    name: str, architecture: str, version: str | None, packages: Iterable[Package]
) -> tuple[str, ...]:
    """What differs between an image's packages and the locks as they are, a line each.

    Of Debian every package counts. Of the other managers what is in the image has to be locked;
    what is locked may be left out.

    Args:
        name: of the image.
        architecture: as engines and Debian name it.
        version: of what is in it, where it can be built of several.
        packages: what it holds.

    Raises:
        UsageError: a lock is none.
    """
    return compare(packages, locks.pins(name, architecture, version), architecture)


def compare(packages: Iterable[Package], pins: Pins, architecture: str) -> tuple[str, ...]:
    """As `drift`, with the pins at hand."""
    held = sorted(set(packages), key=lambda one: (one.manager, one.name, one.version))
    found = [*_debian(held, pins.debian, architecture)]
    locked: dict[tuple[str, str], list[str]] = {}
    for one in pins.others:
        locked.setdefault((one.manager, one.name), []).append(one.version)
    for one in held:
        if one.manager == "deb" or one in pins.others:
            continue
        if wanted := locked.get((one.manager, one.name)):
            found.append(
                f"{one.manager} {one.name}: locked {' or '.join(sorted(wanted))},"
                f" holds {one.version}"
            )
        else:
            found.append(f"{one.manager} {one.name}: not locked, holds {one.version}")
    return tuple(found)


def _debian(
    held: Iterable[Package], wanted: Mapping[str, str] | None, architecture: str
) -> Iterator[str]:
    if wanted is None:
        yield f"deb: no lock for {architecture}"
        return
    there = {one.name: one.version for one in held if one.manager == "deb"}
    for name in sorted({*there, *wanted}):
        if name not in wanted:
            yield f"deb {name}: not locked, holds {there[name]}"
        elif name not in there:
            yield f"deb {name}: locked {wanted[name]}, is missing"
        elif there[name] != wanted[name]:
            yield f"deb {name}: locked {wanted[name]}, holds {there[name]}"


def brief(lines: Sequence[str]) -> str:
    """All of it in a line, whole where it is short."""
    more = len(lines) - _TOLD
    return _BETWEEN.join([*lines[:_TOLD], *([f"and {more} more"] if more > 0 else [])])


def label(lines: Iterable[str]) -> str:
    """As the label `labels.DRIFT` has it; empty where nothing drifted."""
    return _BETWEEN.join(lines)


def of(marks: Mapping[str, str]) -> tuple[str, ...]:
    """What an image with these labels drifted by, when it was built."""
    return tuple(filter(None, (marks.get(labels.DRIFT) or "").split(_BETWEEN)))
