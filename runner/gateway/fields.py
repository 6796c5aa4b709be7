"""The fields of a call's body, read without trust."""

from collections.abc import Mapping
from typing import Any

import orjson

from runner.gateway.refusal import Refusal


def document(raw: bytes) -> dict[str, Any]:
    """A body as the JSON object it is."""
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as problem:
        raise malformed(f"the body is no JSON: {problem}") from problem
    if not isinstance(body, dict):
        raise malformed("the body is no JSON object")
    return body


def model_and_stream(body: Mapping[str, Any]) -> tuple[str, bool]:
    """The two fields every call has."""
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise malformed("model: a name is required")
    stream = body.get("stream", False)
    if stream is not None and not isinstance(stream, bool):
        raise malformed("stream: true or false")
    return model, bool(stream)


def malformed(message: str) -> Refusal:
    """What the provider would not take either."""
    return Refusal("invalid_request", message, status=400)


def count(body: Mapping[str, Any], name: str) -> int:
    """A field that is a whole number."""
    value = body.get(name)
    if type(value) is not int or value < 0:
        raise malformed(f"{name}: a whole number is required")
    return value


def listed(value: Any, name: str) -> list[dict[str, Any]]:
    """A field that is a list of objects, or missing."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise malformed(f"{name}: a list of objects is required")
    return value
