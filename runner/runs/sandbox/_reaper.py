"""Removing what is left: of one box, of one dead bench, or of the whole project."""

import contextlib
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from runner.runs.sandbox._engine import CALL_S, Engine, EngineRefused
from runner.runs.sandbox._lease import LABEL_DOMAIN, LABEL_LEASE, Domain
from runner.runs.sandbox._ledgers import OnLedger, is_gateway, rescue

FOREIGN_AGE = timedelta(minutes=10)
"""What a bench elsewhere left is taken for dead when nothing of it runs and all of it is older."""
LONG_AGO = datetime.min.replace(tzinfo=UTC)
OUR_IMAGES = "memory-bench/"
OUR_LABELS = "memory-bench."


@dataclass(slots=True)
class _Left:
    """Everything that bears one lease's name."""

    domain: str
    containers: dict[str, str] = field(default_factory=dict)
    """Names by id."""
    gateways: list[dict[str, Any]] = field(default_factory=list)
    """Those of the containers that keep a ledger, as the engine lists them."""
    volumes: list[str] = field(default_factory=list)
    running: bool = False
    youngest: datetime = LONG_AGO


def reap(engine: Engine, domain: Domain, *, on_ledger: OnLedger | None = None) -> tuple[str, ...]:
    """Remove what dead benches left; the names of what was removed.

    Args:
        engine: the engine.
        domain: where leases are looked up.
        on_ledger: given each run's ledger before it is removed. A gateway that still settles is
            waited for.

    Raises:
        EngineLost: the engine stopped answering.
    """
    removed: list[str] = []
    left = _survey(engine)
    for lease, things in left.items():
        if _dead(domain, lease, things):
            _rescue(engine, things, on_ledger)
            removed += _remove_all(engine, things)
            domain.forget(lease)
    for lease in domain.files():
        if lease not in left and domain.dead(lease):
            domain.forget(lease)
    return tuple(removed)


@dataclass(frozen=True, slots=True)
class Cleaning:
    """What :func:`clean` did.

    Attributes:
        removed: containers, volumes and images that are gone.
        kept: what was left alone, and why.
    """

    removed: tuple[str, ...]
    kept: tuple[str, ...]


def clean(
    engine: Engine, domain: Domain, *, images: bool = False, on_ledger: OnLedger | None = None
) -> Cleaning:
    """Remove everything this project ever left on the engine, except what a living bench owns.

    Args:
        engine: the engine.
        domain: where leases are looked up.
        images: the project's images and what builds left, too.
        on_ledger: as for :func:`reap`.

    Raises:
        EngineLost: the engine stopped answering.
    """
    removed: list[str] = []
    kept: list[str] = []
    for lease, things in _survey(engine).items():
        names = [*things.containers.values(), *things.volumes]
        if _dead(domain, lease, things):
            _rescue(engine, things, on_ledger)
            removed += _remove_all(engine, things)
            domain.forget(lease)
        elif things.domain == domain.id:
            kept += (f"{name}: a bench that runs owns it" for name in names)
        else:
            kept += (f"{name}: a bench elsewhere may still own it" for name in names)
    if images:
        living = domain.living()
        if living or kept:
            kept.append("images: a bench that runs may need them")
        else:
            removed += _remove_images(engine)
    return Cleaning(tuple(removed), tuple(kept))


def remove_lease(engine: Engine, lease: str, *, deadline_s: float) -> None:
    """Remove whatever bears this lease's name, owner alive or not: for the owner."""
    end = time.monotonic() + deadline_s
    things = _survey(engine, f"{LABEL_LEASE}={lease}").get(lease)
    if things is not None:
        _remove_all(engine, things, end)


def remove_container(engine: Engine, name: str, end: float) -> None:
    """Kill and remove one container, and wait until it is gone.

    Raises:
        EngineLost, EngineRefused: it is not gone by ``end`` (of the monotonic clock).
    """
    _remove(engine, f"/containers/{name}", {"force": "1", "v": "1"}, end)


def remove_volume(engine: Engine, name: str, end: float) -> None:
    """Remove one volume. Raises as :func:`remove_container`."""
    _remove(engine, f"/volumes/{name}", {"force": "1"}, end)


def _remove(engine: Engine, path: str, query: dict[str, str], end: float) -> None:
    while True:
        left = max(0.1, end - time.monotonic())
        try:
            engine.call("DELETE", path, query=query, deadline_s=left, missing_ok=True)
        except EngineRefused as error:
            # Conflict: somebody else is at it, or a container that is going still holds the volume.
            if error.status not in (409, 500) or time.monotonic() + 0.05 > end:
                raise
            time.sleep(0.05)
        else:
            return


def _survey(engine: Engine, label: str = LABEL_LEASE) -> dict[str, _Left]:
    """All containers and volumes with this label, by lease."""
    left: dict[str, _Left] = {}
    filters = {"label": [label]}
    found: list[dict[str, Any]] = engine.call(
        "GET", "/containers/json", query={"all": "1", "filters": filters}
    )
    for container in found:
        things = _of(left, container["Labels"])
        things.containers[container["Id"]] = container["Names"][0].lstrip("/")
        if is_gateway(container["Labels"]):
            things.gateways.append(container)
        things.running |= container["State"] in ("running", "paused", "restarting")
        created = datetime.fromtimestamp(container["Created"], UTC)
        things.youngest = max(things.youngest, created)
    volumes = engine.call("GET", "/volumes", query={"filters": filters}) or {}
    for volume in volumes.get("Volumes") or ():
        things = _of(left, volume["Labels"])
        things.volumes.append(volume["Name"])
        things.youngest = max(things.youngest, _moment(volume.get("CreatedAt")))
    return left


def _of(left: dict[str, _Left], labels: dict[str, str]) -> _Left:
    return left.setdefault(labels[LABEL_LEASE], _Left(labels.get(LABEL_DOMAIN, "")))


def _moment(text: str | None) -> datetime:
    """When a volume was made; now, where the engine does not say, which keeps it."""
    with contextlib.suppress(TypeError, ValueError):
        moment = datetime.fromisoformat(text or "")
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return datetime.now(UTC)


def _dead(domain: Domain, lease: str, things: _Left) -> bool:
    if things.domain == domain.id:
        return domain.dead(lease)
    return not things.running and things.youngest < datetime.now(UTC) - FOREIGN_AGE


def _rescue(engine: Engine, things: _Left, on_ledger: OnLedger | None) -> None:
    if on_ledger is not None:
        for gateway in things.gateways:
            on_ledger(rescue(engine, gateway))


def _remove_all(engine: Engine, things: _Left, end: float | None = None) -> Iterable[str]:
    end = time.monotonic() + CALL_S if end is None else end
    removed = []
    for container, name in things.containers.items():
        with contextlib.suppress(EngineRefused):
            remove_container(engine, container, end)
            removed.append(name)
    for volume in things.volumes:
        with contextlib.suppress(EngineRefused):
            remove_volume(engine, volume, end)
            removed.append(volume)
    return removed


def _remove_images(engine: Engine) -> Iterable[str]:
    """The project's images by name, and nameless ones that bear its labels."""
    removed = []
    for image in engine.call("GET", "/images/json"):
        tags = [tag for tag in image.get("RepoTags") or () if tag.startswith(OUR_IMAGES)]
        ours = any(key.startswith(OUR_LABELS) for key in image.get("Labels") or {})
        nameless = all(tag == "<none>:<none>" for tag in image.get("RepoTags") or ())
        for reference in tags or ([image["Id"]] if ours and nameless else []):
            with contextlib.suppress(EngineRefused):  # a container still uses it
                engine.call(
                    "DELETE", f"/images/{reference}", deadline_s=4 * CALL_S, missing_ok=True
                )
                removed.append(reference)
    return removed
