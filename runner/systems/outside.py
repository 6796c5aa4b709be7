"""A system that is not the bench's own: a folder that somebody points at with ``--system-dir``.

From it the bench takes what is data: its ``system.toml``, and scripted answers beside it. The rest
goes into an image, and runs in a sandbox. So none of a stranger's code runs beside the key or the
engine's socket, and nothing in the folder chooses what the bench imports.
"""

import hashlib
import re
import tomllib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from runner.errors import UsageError
from runner.gateway.wire.rules import WireRules
from runner.systems.system import System

FILE = "system.toml"
FILE_BYTES = 256 << 10
SCRIPTED = "scripted"
"""The folder of scripted answers in it."""
TABLE_BYTES = 4 << 20
NEEDED = ("describe", "snapshot", "stop")
VERBS = (
    *NEEDED, "deposit", "consolidate", "recall", "index", "ask", "probe", "learn", "export",
)  # fmt: skip
"""Every verb there is."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_PURPOSE = re.compile(r"[a-z0-9_-]{1,64}")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_TEXT = 400
"""Longest of what is said of it."""


def parse(folder: Path, taken: Collection[str], *, built: bool = True) -> System:
    """What such a folder says of its system.

    Args:
        folder: with a ``system.toml``, a ``Dockerfile`` and what that needs.
        taken: names that are the bench's own.
        built: whether its image is still to be built, of what is in the folder.

    Raises:
        UsageError: there is no such file, or something in it is wrong; says what.
    """
    file = folder / FILE
    text = _read(file)
    raw = _parsed(file, text)
    system = _validated(file, raw)
    if built and not (folder / "Dockerfile").is_file():
        raise UsageError(f"{folder} has no Dockerfile.", hint="The image of the system needs one.")
    for wrong in _wrong(system, raw, taken):
        raise UsageError(f"{file}: {wrong}", hint="docs/add-your-own-system.md tells each field.")
    assert isinstance(system.wire, WireRules)
    wire = system.wire.model_copy(update={"purposes": tuple(system.purposes)})
    digest = hashlib.sha256(text.encode()).hexdigest()
    return system.model_copy(update={"wire": wire, "home": folder.resolve(), "described": digest})


def described(system: System) -> dict[str, str]:
    """The digest of what a system's own folder says of it, by the name that reports have for it;
    nothing of a system of the bench."""
    return {f"systems/{system.image}/{FILE}": system.described} if system.outside else {}


def table(system: System, script: str) -> str | None:
    """The scripted answers that lie in a system's folder for a case; none where there are none.

    Raises:
        UsageError: they cannot be read, or are too long.
    """
    assert system.home is not None
    file = system.home / SCRIPTED / f"{script}.toml"
    if not file.is_file():
        return None
    return _text(file, TABLE_BYTES)


def _read(file: Path) -> str:
    if not file.is_file():
        raise UsageError(
            f"{file.parent} holds no system: there is no {FILE} in it.",
            hint="examples/notebook is one to begin with.",
        )
    return _text(file, FILE_BYTES)


def _parsed(file: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is no TOML: {error}") from error


def _text(file: Path, most: int) -> str:
    try:
        with file.open("rb") as opened:
            raw = opened.read(most + 1)
        if len(raw) > most:
            raise UsageError(f"{file} holds more than {most} bytes.")
        return raw.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error


def _validated(file: Path, raw: dict[str, Any]) -> System:
    try:
        return System.model_validate(raw)
    except (ValidationError, RecursionError) as error:
        said = "it is nested too deep"
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"] if part not in ("str", "WireRules"))
            said = f"{where or 'it'}: {first['msg']}"
        raise UsageError(f"{file} describes no system: {said}.") from error


def _wrong(system: System, raw: dict[str, Any], taken: Collection[str]) -> Iterable[str]:
    """What is amiss with it, a sentence each."""
    for key in ("folder", "model", "home", "described", "reader"):
        if key in raw:
            yield f"sets {key}, which is not said there: nothing in it chooses what the bench runs."
    if not isinstance(system.wire, WireRules):
        yield "wire is a table of rules, and no module: nothing of a system runs in the gateway."
    elif system.wire.purposes:
        yield "wire.purposes is not said there: the purposes are those of [purposes]."
    else:
        rules = system.wire.purpose
        if unknown := sorted({rule.purpose for rule in rules} - set(system.purposes)):
            yield f"a rule of [wire] is for {unknown[0]!r}, which is none of [purposes]."
        if system.purposes and not rules and system.wire.header is None:
            yield "[purposes] has some, and no rule of [wire] tells a call of any."
    yield from _names(system, taken)
    yield from _verbs(system)


def _names(system: System, taken: Collection[str]) -> Iterable[str]:
    for name in (system.name, *system.presets):
        if _NAME.fullmatch(name) is None:
            yield f"{name!r} is no name: small letters, digits and -, at most 40."
        if name in taken:
            yield f"the name {name!r} is taken by a system or an image of the bench."
    for purpose in system.purposes:
        if _PURPOSE.fullmatch(purpose) is None:
            yield f"{purpose!r} is no name of a purpose: small letters, digits, _ and -."
    for version in (system.version, *system.versions):
        if _VERSION.fullmatch(version) is None:
            yield f"{version!r} is no version: letters, digits and . _ + -, at most 64."
    told = [system.title, system.about, system.licence, *system.purposes.values()]
    told += [text for one in system.presets.values() for text in (one.title, one.about)]
    told += [option.about for option in system.options.values()]
    for text in told:
        if len(text) > _TEXT or not text.isprintable():
            yield f"{text[:40]!r} is no line of at most {_TEXT} characters."


def _verbs(system: System) -> Iterable[str]:
    verbs = set(system.verbs)
    if unknown := sorted(verbs - set(VERBS)):
        yield f"{unknown[0]!r} is no verb; there are: {', '.join(VERBS)}."
    if lacking := [verb for verb in NEEDED if verb not in verbs]:
        yield f"every driver answers {lacking[0]}."
    if "deposit" in verbs and "export" not in verbs:
        yield "who takes notes (deposit) has to say what it holds of them (export)."
    if system.export is not None and "export" not in verbs:
        yield "[export] is there, and export is none of its verbs."
