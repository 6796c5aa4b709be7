"""Question sets read from data, held to what was registered of them, and made into exams."""

import gzip
import hashlib
import re
import tomllib
import unicodedata
import zlib
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from runner.errors import UsageError
from runner.paths import fixtures
from runner.suites.memory_honesty._file import Marker, SetPart, SetsFile
from runner.suites.memory_honesty.exam import MOST, TOP_K, Exam
from runner.suites.memory_honesty.pages import Flaw
from runner.suites.memory_honesty.questions import DEVELOPMENT, SETS, Question, QuestionSet
from runner.suites.memory_honesty.vault import Vault, load_vault


def load_exam(
    name: str,
    *,
    marker: Marker = "front-matter",
    top_k: int = TOP_K,
    depth: int | None = None,
    told: bool = False,
    seed: int = 0,
    folder: Path | None = None,
) -> Exam:
    """Read a set and its vault, and see that they belong together.

    Args:
        name: one of ``SETS``.
        marker: how replaced pages say that they were.
        top_k: how many pages a system may cite for a question.
        depth: how many it is asked for, where those are more.
        told: whether the system is told the right pages.
        seed: of the order of questions and pages, and of the resamples.
        folder: where vaults and sets lie; the project's own when left out.

    Raises:
        UsageError: no such set, marker or number of pages; files that are not as registered, that
            contradict themselves or one another.
    """
    asked = load_set(name, folder=folder)
    vault = load_vault(asked.vault, marker, folder=folder)
    return make_exam(asked, vault, top_k=top_k, depth=depth, told=told, seed=seed)


def make_exam(
    asked: QuestionSet,
    vault: Vault,
    *,
    top_k: int = TOP_K,
    depth: int | None = None,
    told: bool = False,
    seed: int = 0,
) -> Exam:
    """A set to be asked about a vault.

    Raises:
        UsageError: a number of pages that cannot be cited, another vault than the set's, or a
            question that the vault contradicts.
    """
    if not 1 <= top_k <= MOST:
        raise UsageError(f"--top-k must be from 1 to {MOST}, not {top_k}.")
    if vault.name != asked.vault:
        raise UsageError(f"The set {asked.name} is about {asked.vault}, not {vault.name}.")
    texts = {page.name: _folded(f"{page.name}\n{page.text}") for page in vault.pages}
    replaced = {page.name for page in vault.pages if page.superseded}
    for question in asked.questions:
        try:
            _fits(question, texts, replaced)
        except Flaw as error:
            raise UsageError(f"{asked.name}: {question.id}: {error}.") from error
    return Exam(
        set=asked.name,
        held_out=asked.held_out,
        floors_from=asked.floors_from,
        registered=asked.registered,
        set_sha256=asked.sha256,
        vault=vault.name,
        marker=vault.marker,
        vault_sha256=vault.sha256,
        pages=vault.statuses,
        top_k=top_k,
        depth=depth,
        told=told,
        seed=seed,
        counts=asked.counts,
        questions=asked.questions,
    )


def load_set(name: str, *, folder: Path | None = None) -> QuestionSet:
    """Read one registered set: ``NAME.jsonl``, or ``NAME.jsonl.gz`` where it is held out.

    Args:
        name: one of ``SETS``.
        folder: where the sets lie; the project's own when left out.

    Raises:
        UsageError: no such set, or a file that is not as registered or contradicts itself; it
            names the file, and the line where there is one.
    """
    if name not in SETS:
        raise UsageError(f"There is no question set {name!r}.", hint=f"Sets: {', '.join(SETS)}.")
    home = folder if folder is not None else fixtures() / "honesty"
    part = _registered(name, home / "sets.toml")
    path = home / f"{name}.jsonl{'.gz' if part.held_out else ''}"
    try:
        raw = path.read_bytes()
        if part.held_out:
            raw = gzip.decompress(raw)
    except FileNotFoundError as error:
        raise UsageError(f"The question set {name!r} is not there: {path}.") from error
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{path}: {error}.") from error
    if hashlib.sha256(raw).hexdigest() != part.sha256:
        raise UsageError(
            f"{path} is not the set that was registered.",
            hint="A set is never edited; get the file again.",
        )
    try:
        read = QuestionSet(
            **part.model_dump(exclude={"counts"}), questions=parse_questions(raw, str(path))
        )
    except ValidationError as error:
        raise UsageError(f"{path}: {_first(error)}") from error
    if read.counts != {**dict.fromkeys(read.counts, 0), **part.counts}:
        raise UsageError(f"{path}: its counts are not those in sets.toml: {read.counts}.")
    return read


def parse_questions(raw: bytes, source: str) -> tuple[Question, ...]:
    """The questions of a file, a JSON object a line.

    Raises:
        UsageError: a line that is no question; it names the source, the line and the field.
    """
    questions = []
    for number, line in enumerate(raw.removesuffix(b"\n").split(b"\n"), start=1):
        try:
            questions.append(Question.model_validate_json(line, strict=True))
        except ValidationError as error:
            raise UsageError(f"{source}: line {number}: {_first(error)}") from error
    return tuple(questions)


def holds(text: str, term: str) -> bool:
    """Whether a text holds a term: as a word of its own where the term is of Latin letters.

    Case, width and accents written in two ways make no difference. ``rust`` is not in ``trust``;
    it is in ``用Rust写``.
    """
    return _holds(_folded(text), term)


def _holds(folded: str, term: str) -> bool:
    wanted = _folded(term)
    alone = rf"(?<![a-z0-9]){re.escape(wanted)}(?![a-z0-9])"
    return wanted in folded and re.search(alone, folded) is not None


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _fits(question: Question, texts: Mapping[str, str], replaced: set[str]) -> None:
    """What a question must hold to for its grade to mean what it says."""
    named = (*question.gold, question.old, question.neighbour)
    for page in named:
        if page is not None and page not in texts:
            raise Flaw(f"there is no page {page!r}")
    for page in question.gold:
        if page in replaced:
            raise Flaw(f"gold: {page!r} was replaced")
    if question.old is not None and question.old not in replaced:
        raise Flaw(f"old: {question.old!r} was not replaced")
    if question.term is not None:
        holding = [name for name, text in texts.items() if _holds(text, question.term)]
        if holding:
            raise Flaw(f"term: {question.term!r} is on {holding[0]!r}")


def _registered(name: str, path: Path) -> SetPart:
    try:
        file = SetsFile.model_validate(tomllib.loads(path.read_bytes().decode()))
    except FileNotFoundError as error:
        raise UsageError(f"The registered sets are not there: {path}.") from error
    except ValidationError as error:
        raise UsageError(f"{path}: {_first(error)}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error
    found = [part for part in file.sets if part.name == name]
    if len(found) != 1:
        raise UsageError(f"{path}: the set {name!r} is there {len(found)} times.")
    part = found[0]
    if part.held_out == (name in DEVELOPMENT):
        raise UsageError(f"{path}: {name}: held_out: {str(part.held_out).lower()} is not so.")
    wanted = DEVELOPMENT if part.held_out else (name,)
    if part.floors_from not in wanted:
        raise UsageError(f"{path}: {name}: floors_from: {part.floors_from!r} cannot be.")
    return part


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    return f"{field or 'line'}: {first['msg']}"
