"""An image's config in the one form that does not tell when and by which builder it was made."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from runner.oci import documents

EMPTY_LAYER = "sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"
"""The layer of a step that changed nothing."""
# What a container made of the image is told. All else in an engine's config is about a container
# that there never was.
_TOLD = (
    "User",
    "ExposedPorts",
    "Env",
    "Entrypoint",
    "Cmd",
    "Volumes",
    "WorkingDir",
    "Labels",
    "StopSignal",
    "Healthcheck",
    "Shell",
    "OnBuild",
)
_SAYS = re.compile(
    r"(?:/bin/sh -c #\(nop\)\s+)?"
    r"(?:ARG|CMD|ENTRYPOINT|ENV|EXPOSE|HEALTHCHECK|LABEL|MAINTAINER|ONBUILD|SHELL|STOPSIGNAL|USER"
    r"|VOLUME)\b"
)
_SEALED = re.compile(r"RUN .*&&\s+bench-seal(?: [^&|;<>]*)?(?: # buildkit)?", re.DOTALL)
_ALONE = re.compile(r"RUN (?:\|\d+ .*)?/bin/sh -c bench-seal(?: [^&|;<>]*)?(?: # buildkit)?")


def canonical(
    config: Mapping[str, Any], diff_ids: Sequence[str], marks: Mapping[str, str], latest: int
) -> bytes:
    """The bytes of a config.

    Args:
        config: as an engine wrote it, or `told` it.
        diff_ids: digests of the layers, lowest first.
        marks: labels to set; those without a value are taken away.
        latest: seconds since 1970 that are every later time.
    """
    inner = {key: value for key in _TOLD if (value := (config.get("config") or {}).get(key))}
    given = {**inner.pop("Labels", {}), **marks}
    if set_ := {key: value for key, value in given.items() if value or key not in marks}:
        inner["Labels"] = set_
    outer = {
        "architecture": config["architecture"],
        "config": inner,
        "created": _moment(latest),
        "history": [_step(step, latest) for step in config.get("history") or ()],
        "os": config["os"],
        "rootfs": {"diff_ids": list(diff_ids), "type": "layers"},
    }
    for key in ("author", "os.version", "variant"):
        if value := config.get(key):
            outer[key] = value
    return documents.canonical(outer)


def told(inspected: Mapping[str, Any], history: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A config as far as the engine tells it of an image without saving it.

    Args:
        inspected: its answer when asked for the image.
        history: its answer when asked for the image's history, which begins with the last step.
    """
    steps = []
    for one in reversed(history):
        by = one.get("CreatedBy") or ""
        moment = datetime.fromtimestamp(one["Created"], UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        step = {"created": moment, "created_by": by, "comment": one.get("Comment") or ""}
        steps.append({**step, "empty_layer": bool(_SAYS.match(by))})
    return {
        "architecture": inspected["Architecture"],
        "author": inspected.get("Author"),
        "config": inspected.get("Config") or {},
        "history": steps,
        "os": inspected["Os"],
        "os.version": inspected.get("OsVersion"),
        "variant": inspected.get("Variant"),
    }


def sealed(config: Mapping[str, Any], diff_ids: Sequence[str], below: int) -> bool:
    """Whether every layer from one on was left by ``bench-seal``, by what its step says.

    Args:
        config: with its history.
        diff_ids: digests of all layers, lowest first.
        below: how many of them are known to be as they should.
    """
    steps = [one for one in config.get("history") or () if not one.get("empty_layer")]
    if len(steps) != len(diff_ids):
        return False
    return all(
        diff_id == EMPTY_LAYER
        or _SEALED.fullmatch(step.get("created_by") or "")
        or _ALONE.fullmatch(step.get("created_by") or "")
        for step, diff_id in zip(steps[below:], diff_ids[below:], strict=True)
    )


def _step(step: Mapping[str, Any], latest: int) -> dict[str, Any]:
    kept = {key: step[key] for key in ("author", "comment", "created_by") if step.get(key)}
    if step.get("empty_layer"):
        kept["empty_layer"] = True
    return {"created": _earlier(step.get("created") or "", latest), **kept}


def _earlier(moment: str, latest: int) -> str:
    """A moment in whole seconds, none later than that one."""
    try:
        seconds = datetime.fromisoformat(moment).timestamp()
    except ValueError:
        return _moment(latest)
    return _moment(min(int(seconds), latest))


def _moment(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
