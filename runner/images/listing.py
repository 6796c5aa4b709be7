"""What images of the project an engine holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import docker

from runner.images import labels

_OURS = "memory-bench/"
_NAMELESS = "<none>:<none>"


@dataclass(frozen=True, slots=True)
class Built:
    """One image of the project.

    Attributes:
        id: the digest of its config.
        tags: its names; empty when a newer build took them over.
        name: which image of the project it is.
        bytes: its size, layers it shares with others counted too.
        created: when it says that it was made: not when it was built, of one in its one form.
        labels: all of them, as they were set when it was built.
        strange: names somebody else gave it.
    """

    id: str
    tags: tuple[str, ...]
    name: str
    bytes: int
    created: datetime
    labels: Mapping[str, str]
    strange: tuple[str, ...] = ()


def built(client: docker.DockerClient) -> tuple[Built, ...]:
    """Every image the project built on this engine, newest first."""
    found = []
    for one in client.api.images(filters={"label": labels.NAME}):
        tags = [tag for tag in one["RepoTags"] or () if tag != _NAMELESS]
        found.append(
            Built(
                id=one["Id"],
                tags=tuple(tag for tag in tags if tag.startswith(_OURS)),
                name=one["Labels"][labels.NAME],
                bytes=one["Size"],
                created=datetime.fromtimestamp(one["Created"], UTC),
                labels=one["Labels"],
                strange=tuple(tag for tag in tags if not tag.startswith(_OURS)),
            )
        )
    return tuple(sorted(found, key=lambda one: (one.created, one.id), reverse=True))
