"""Every image there can be, and every one an engine holds: which are of the files as they are."""

import enum
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import product

import docker

from runner.images import _debian, _folder, _source, drift, labels
from runner.images._making import UNFINISHED
from runner.images._source import BASE, BENCH, Recipe
from runner.images.build import BENCH_LOCAL, DEADLINE_S
from runner.images.listing import Built, built

_LONGEST = timedelta(seconds=DEADLINE_S)


class State(enum.StrEnum):
    """How an image stands to the project's files."""

    CURRENT = "current"
    """Built from the files as they are; it is what a run would take."""
    MISSING = "not built"
    UNDECIDED = "undecided"
    """Its own files are the same, and what it stands on has to be built before more can be said."""
    COMPOSE = "Compose's"
    """What Compose runs the bench from, built from other files than these."""
    OLD = "old"
    """Built from files that have changed since, or are gone."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An image that can be built, or is held.

    Attributes:
        name: which image of the project it is.
        version: of what is in it; empty where that is not known.
        model: what is baked into it; empty where nothing is to choose.
        default: whether it is what is built when neither is named.
        state: how it stands to the files.
        restriction: why it may not be handed on; empty where it may.
        held: what the engine holds of it.
    """

    name: str
    version: str
    model: str
    default: bool
    state: State
    restriction: str
    held: Built | None = None

    @property
    def drift(self) -> tuple[str, ...]:
        """How the packages of what is held differed from its locks when it was built."""
        return drift.of(self.held.labels) if self.held is not None else ()

    @property
    def tag(self) -> str:
        """Its first name on the engine, or nothing."""
        return self.held.tags[0] if self.held is not None and self.held.tags else ""


def survey(client: docker.DockerClient) -> tuple[Listed, ...]:
    """As `compare`, with what an engine holds."""
    return compare(built(client))


def compare(held: Sequence[Built]) -> tuple[Listed, ...]:
    """Every image the project can build, in an order they can be built in, each followed by what
    else the engine holds under its name; then those that no folder is left of.

    Args:
        held: the images an engine holds.

    Raises:
        UsageError: what a folder says of its image is wrong.
    """
    # Labels are inherited: what bears none but strange names was built by others on one of ours.
    held = [one for one in held if (one.tags or not one.strange) and not _being_built(one)]
    by_tag = {tag: one for one in held for tag in one.tags}
    known = _folder.names()
    ids: dict[str, str] = {}
    rows: list[Listed] = []
    for name in known:
        below = () if name == BASE else (BASE, *_folder.stands_on(name))
        found = list(_of_name(name, ids if set(below) <= ids.keys() else None, by_tag, held))
        for row in found:
            if row.default and row.held is not None:
                ids[name] = row.held.id
        rows += found
    rows += [_leftover(one, State.OLD) for one in held if one.name not in (*known, _debian.NAME)]
    for one in held:
        if one.name == _debian.NAME:
            usable = one.tags and one.labels.get(labels.SOURCE) == _debian.way()
            rows.append(_leftover(one, State.CURRENT if usable else State.OLD))
    return tuple(rows)


def _of_name(
    name: str,
    ids: Mapping[str, str] | None,
    by_tag: Mapping[str, Built],
    held: Sequence[Built],
) -> Iterator[Listed]:
    """What there is of one name.

    Args:
        ids: of the images it stands on; none where one of them is not there.
    """
    recipes = list(_recipes(name, ids))
    current = set()
    others = []
    for number, wanted in enumerate(recipes):
        found = by_tag.get(wanted.tag) if ids is not None else None
        if found is not None:
            current.add(found.id)
            # The same image may have been built of other files before.
            found, other = _apart(found, wanted.tag)
            if other is not None:
                others.append(other)
        elif name == BENCH and os.environ.get("BENCH_IMAGE"):
            continue
        yield Listed(
            name=name,
            version=wanted.version or _folder.version(name),
            model=wanted.model or "",
            default=number == 0,
            state=State.MISSING if found is None else State.CURRENT,
            restriction=_folder.restriction(name),
            held=found,
        )
    for one in others:
        yield _leftover(one, State.OLD)
    for one in held:
        if one.name != name or one.id in current:
            continue
        if BENCH_LOCAL in one.tags:
            yield _leftover(one, State.COMPOSE)
        elif ids is None and one.tags and one.labels.get(labels.SOURCE) == recipes[0].source:
            yield _leftover(one, State.UNDECIDED)
        else:
            yield _leftover(one, State.OLD)


def _apart(one: Built, tag: str) -> tuple[Built, Built | None]:
    """An image under the name it is to have, and under the names it had of other files."""
    kept = {tag, BENCH_LOCAL}
    old = tuple(other for other in one.tags if other not in kept)
    mine = (tag, *(other for other in one.tags if other in kept and other != tag))
    return replace(one, tags=mine), replace(one, tags=old, strange=()) if old else None


def _being_built(one: Built) -> bool:
    """Whether it is what a build left that may still be under way."""
    unfinished = all(tag.rpartition(":")[2].startswith(UNFINISHED) for tag in one.tags)
    return bool(one.tags) and unfinished and datetime.now(UTC) - one.created < _LONGEST


def _recipes(name: str, ids: Mapping[str, str] | None) -> Iterator[Recipe]:
    """Of every version with every model, the default first."""
    below = None if ids is None or name == BASE else ids[BASE]
    others = {} if ids is None else {one: ids[one] for one in _folder.stands_on(name)}
    choices = product(_folder.versions(name) or (None,), _folder.models(name) or (None,))
    for version, model in choices:
        yield _source.recipe(name, below, version=version, model=model, others=others)


def _leftover(one: Built, state: State) -> Listed:
    return Listed(
        name=one.name,
        version=one.labels.get(labels.VERSION, ""),
        model=one.labels.get(labels.MODEL, ""),
        default=False,
        state=state,
        restriction=labels.restriction(one.labels),
        held=one,
    )
