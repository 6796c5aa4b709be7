"""Pairs read from ``fixtures/honesty/learn.jsonl``, held to what was registered of them."""

import hashlib
import tomllib
from collections import Counter
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runner.errors import UsageError
from runner.paths import fixtures
from runner.suites.honesty_learning.pairs import VAULTS, WEEKS, Lesson, Pair, plain
from runner.suites.memory_honesty import (
    TOP_K,
    Kind,
    QuestionSet,
    Vault,
    load_vault,
    make_exam,
)
from runner.suites.memory_honesty._file import Sha256

FILE = "learn.jsonl"
REGISTER = "learn.toml"


class _Registered(BaseModel):
    """What is registered of the pairs; what else the file says of them is for people."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: Literal[1] = Field(alias="schema")
    registered: date
    sha256: Sha256
    counts: dict[Kind, Annotated[int, Field(ge=0)]]
    """Pairs of all vaults."""


def load_lesson(vault: str, *, top_k: int = TOP_K, folder: Path | None = None) -> Lesson:
    """Read the pairs of a vault, and see that they belong to it.

    Args:
        vault: one of ``VAULTS``.
        top_k: how many pages a system may cite for a question.
        folder: where vaults and pairs lie; the project's own when left out.

    Raises:
        UsageError: no such vault, no pairs of it, or a number of pages that cannot be cited; files
            that are not as registered, that contradict themselves or one another.
    """
    if vault not in VAULTS:
        raise UsageError(f"There are no pairs of {vault!r}.", hint=f"Vaults: {', '.join(VAULTS)}.")
    home = folder if folder is not None else fixtures() / "honesty"
    path, register = home / FILE, home / REGISTER
    try:
        raw = path.read_bytes()
        told = _Registered.model_validate(tomllib.loads(register.read_bytes().decode()))
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        raise UsageError(f"{register}: {_first(error)}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{register}: {error}") from error
    if hashlib.sha256(raw).hexdigest() != told.sha256:
        raise UsageError(
            f"{path} holds other pairs than were registered.",
            hint="They are never edited; get the file again.",
        )
    pairs = parse_pairs(raw, str(path))
    counts = Counter(pair.kind for pair in pairs)
    if counts != Counter(told.counts):
        raise UsageError(f"{register}: its counts are not those of the pairs: {dict(counts)}.")
    return make_lesson(
        (pair for pair in pairs if pair.vault == vault),
        load_vault(vault, folder=folder),
        registered=told.registered,
        sha256=told.sha256,
        top_k=top_k,
    )


def make_lesson(
    pairs: Iterable[Pair], vault: Vault, *, registered: date, sha256: str, top_k: int = TOP_K
) -> Lesson:
    """Pairs to be asked about a vault.

    Raises:
        UsageError: no pair, a number of pages that cannot be cited, or a pair that contradicts
            another or the vault.
    """
    given = tuple(pairs)
    if not given:
        raise UsageError(f"There are no pairs of {vault.name}.")
    for week in WEEKS:
        # The honesty suite knows what a question must hold to; it names the one that does not.
        asked = QuestionSet(
            name=f"week {week} of {vault.name}",
            vault=vault.name,
            held_out=False,
            floors_from=vault.name,
            registered=registered,
            sha256=sha256,
            questions=tuple(pair.question(week) for pair in given),
        )
        make_exam(asked, vault, top_k=top_k)
    bodies = {page.name: plain(page.body) for page in vault.pages}
    for pair in given:
        if pair.quote is not None and not any(plain(pair.quote) in bodies[g] for g in pair.gold):
            raise UsageError(f"{pair.id}: quote: it stands on none of {', '.join(pair.gold)}.")
    try:
        return Lesson(
            registered=registered,
            set_sha256=sha256,
            vault=vault.name,
            vault_sha256=vault.sha256,
            pages=vault.statuses,
            top_k=top_k,
            pairs=given,
        )
    except ValidationError as error:
        raise UsageError(f"{vault.name}: {_first(error)}") from error


def parse_pairs(raw: bytes, source: str) -> tuple[Pair, ...]:
    """The pairs of a file, a JSON object a line.

    Raises:
        UsageError: a line that is no pair; it names the source, the line and the field.
    """
    found: dict[str, Pair] = {}
    for number, line in enumerate(raw.removesuffix(b"\n").split(b"\n"), start=1):
        try:
            pair = Pair.model_validate_json(line, strict=True)
        except ValidationError as error:
            raise UsageError(f"{source}: line {number}: {_first(error)}") from error
        if pair.id in found:
            raise UsageError(f"{source}: line {number}: id: {pair.id} is there twice")
        if pair.vault not in VAULTS:
            raise UsageError(f"{source}: line {number}: vault: {pair.vault!r} has no pairs")
        found[pair.id] = pair
    return tuple(found.values())


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    return f"{field or 'line'}: {first['msg']}"
