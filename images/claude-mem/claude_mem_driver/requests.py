"""Request lines, read strictly: what is missing or of another type is a ``BadRequest``."""

import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from claude_mem_driver.errors import BadRequest

MAX_LINE = 64 * 2**20
"""Longest request, in bytes."""
MAX_NAME = 1_000
MAX_QUESTION = 10_000
"""Longest question, in characters."""
MAX_TOP_K = 100


def read(line: bytes) -> dict[str, Any]:
    """One line as a request: an object with a whole number as its id and a verb."""
    if not line:
        raise BadRequest(f"the request is longer than {MAX_LINE} bytes")
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the request is not JSON: {error}") from error
    if not isinstance(request, dict):
        raise BadRequest("the request is not a JSON object")
    if not isinstance(request.get("id"), int) or isinstance(request["id"], bool):
        raise BadRequest("the request has no whole number as its id")
    if not isinstance(request.get("verb"), str):
        # The id is known by now; keep it in the reply.
        request["verb"] = ""
    return request


def note(request: Mapping[str, Any]) -> tuple[str, str]:
    """Name and text of what is to be remembered."""
    return _named(request, "the note")


def pages(request: Mapping[str, Any]) -> dict[str, str]:
    """Texts of what is to be indexed, by name."""
    given = request.get("pages")
    if not isinstance(given, list) or not given:
        raise BadRequest("index needs pages: a list with at least one")
    found: dict[str, str] = {}
    for number, page in enumerate(given, 1):
        name, text = _named(page if isinstance(page, dict) else {}, f"page {number}")
        if name in found:
            raise BadRequest(f"the page {name} is there twice")
        found[name] = text
    return found


def question(request: Mapping[str, Any]) -> str:
    """What is asked."""
    asked = request.get("question")
    if not isinstance(asked, str) or not asked.strip() or len(asked) > MAX_QUESTION:
        raise BadRequest(f"a question has 1 to {MAX_QUESTION} characters")
    _unicode("the question", asked)
    return asked


def top_k(request: Mapping[str, Any], default: int) -> int:
    """How many pages or observations an answer may hold."""
    most = request.get("top_k", default)
    if not isinstance(most, int) or isinstance(most, bool) or not 1 <= most <= MAX_TOP_K:
        raise BadRequest(f"top_k is a whole number from 1 to {MAX_TOP_K}, not {most!r}")
    return most


def _named(given: Mapping[str, Any], what: str) -> tuple[str, str]:
    name, text = given.get("name"), given.get("text")
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME:
        raise BadRequest(f"{what} has no name of 1 to {MAX_NAME} characters")
    # It becomes a file, and stands on a line of its own in a prompt.
    path = PurePosixPath(name)
    within = bool(path.parts) and not path.is_absolute() and ".." not in path.parts
    if not within or str(path) != name or not name.isprintable():
        raise BadRequest(f"{what} ({name!r}) is named like no file within a folder")
    if not isinstance(text, str) or not text.strip():
        raise BadRequest(f"{what} ({name}) has no text")
    _unicode(what, name, text)
    return name, text


def _unicode(what: str, *texts: str) -> None:
    try:
        for text in texts:
            text.encode()
    except UnicodeEncodeError as error:
        raise BadRequest(f"{what} is not Unicode text: {error}") from error
