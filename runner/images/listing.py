"""What images of the project an engine holds."""

from dataclasses import dataclass
from datetime import UTC, datetime

import docker

from runner.images import labels

_OURS = "memory-bench/"


@dataclass(frozen=True, slots=True)
class Built:
    """One image of the project.

    Attributes:
        id: the digest of its config.
        tags: its names; empty when a newer build took them over.
        name: which image of the project it is.
        bytes: its size, layers it shares with others counted too.
        created: when the engine finished it.
    """

    id: str
    tags: tuple[str, ...]
    name: str
    bytes: int
    created: datetime


def built(client: docker.DockerClient) -> tuple[Built, ...]:
    """Every image the project built on this engine, newest first."""
    found = [
        Built(
            id=one["Id"],
            tags=tuple(tag for tag in one["RepoTags"] or () if tag.startswith(_OURS)),
            name=one["Labels"][labels.NAME],
            bytes=one["Size"],
            created=datetime.fromtimestamp(one["Created"], UTC),
        )
        for one in client.api.images(filters={"label": labels.NAME})
    ]
    return tuple(sorted(found, key=lambda one: (one.created, one.id), reverse=True))
