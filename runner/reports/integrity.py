"""Digests a report carries of itself, part by part, so that a change is found and named.

They show accidents and careless edits. Whoever forges a report can forge its digests too; what
stands against that is that every verdict and every cost is recomputed from rows and calls.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

OWN_FIELD = "integrity"


def canonical(value: Any) -> bytes:
    """The one byte form a value is digested in: sorted keys, no spaces."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def sha256(data: bytes) -> str:
    """Digest in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def digests(document: Mapping[str, Any]) -> dict[str, str]:
    """Digest of every part of a report in JSON form: each top field, and each field of each run."""
    found: dict[str, str] = {}
    for name, value in document.items():
        if name == OWN_FIELD:
            continue
        if name == "runs" and isinstance(value, list):
            found["runs.length"] = sha256(canonical(len(value)))
            for number, run in enumerate(value):
                parts = run.items() if isinstance(run, dict) else {"": run}.items()
                for part, content in parts:
                    found[f"runs[{number}].{part}"] = sha256(canonical(content))
        else:
            found[name] = sha256(canonical(value))
    return found


def altered(document: Mapping[str, Any]) -> tuple[str, ...]:
    """The parts whose content no longer matches the digests the document carries."""
    carried = document.get(OWN_FIELD)
    if not isinstance(carried, dict):
        return (OWN_FIELD,)
    present = digests(document)
    return tuple(
        sorted(
            part
            for part in carried.keys() | present.keys()
            if carried.get(part) != present.get(part)
        )
    )
