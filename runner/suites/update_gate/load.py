"""Sets of labelled pairs, read from data, so that another row needs no code."""

import hashlib
import tomllib
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from runner.errors import UsageError
from runner.model import Fixtures
from runner.paths import fixtures
from runner.suites.update_gate._file import Prose, SetFile, UpstreamFile
from runner.suites.update_gate.pairs import (
    LEAST_SAMPLES,
    SAMPLES,
    SETS,
    Claimed,
    Gate,
    Pair,
    PairSet,
    named_twice,
)

TITLES = {
    "development": "Development",
    "held-out": "Held-out",
    "past-values": "Past values",
    "past-marker-held-out": "Past-value marker, held-out",
}
HELD_OUT = frozenset({"held-out", "past-marker-held-out"})


class Flaw(Exception):
    """A field of a set, and what is wrong with it."""


def load_gate(
    names: Sequence[str] | None = None, samples: int = SAMPLES, *, folder: Path | None = None
) -> Gate:
    """Read the sets of that name; they are asked in the order of ``SETS``, whatever the order here.

    Args:
        names: some of ``SETS``; all of them when left out.
        samples: how often each pair is asked.
        folder: where the files lie; the project's own when left out.

    Raises:
        UsageError: no set, one that does not exist or is named twice, a file that contradicts
            itself, or too few samples to meet the bar.
    """
    chosen = SETS if names is None else tuple(names)
    for name in chosen:
        _known(name)
    if twice := named_twice(chosen):
        raise UsageError(f"Pair sets named twice: {', '.join(twice)}.")
    _enough(chosen, samples)  # before any file is read
    ordered = sorted(chosen, key=SETS.index)
    return make_gate([load_set(name, folder=folder) for name in ordered], samples, fixtures="own")


def make_gate(sets: Sequence[PairSet], samples: int = SAMPLES, *, fixtures: Fixtures) -> Gate:
    """Sets that were read in whatever way, to be asked so often.

    Raises:
        UsageError: no set, one set twice, or too few samples to meet the bar.
    """
    _enough([one.name for one in sets], samples)
    if twice := named_twice(one.name for one in sets):
        raise UsageError(f"Pair sets named twice: {', '.join(twice)}.")
    return Gate(fixtures=fixtures, sets=tuple(sets), samples=samples)


def load_set(name: str, *, folder: Path | None = None) -> PairSet:
    """Read one set of this project's own.

    Args:
        name: one of ``SETS``: the file's name without ``.toml``.
        folder: where the files lie; the project's own when left out.

    Raises:
        UsageError: no such set, or a file that contradicts itself; it names the file and the
            field.
    """
    _known(name)
    path = (folder if folder is not None else fixtures() / "pairs") / f"{name}.toml"
    try:
        raw = path.read_bytes()
    except FileNotFoundError as error:
        raise UsageError(f"The pair set {name!r} is not there: {path}.") from error
    try:
        read = _assemble(
            SetFile.model_validate(tomllib.loads(raw.decode())), hashlib.sha256(raw).hexdigest()
        )
        _fits(read, name)
        _own(read)
    except ValidationError as error:
        raise UsageError(f"{path}: {_first(error)}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, Flaw) as error:
        raise UsageError(f"{path}: {error}") from error
    return read


def parse_upstream(raw: bytes, name: str) -> PairSet:
    """Read a published pair file: the same nouns, without days.

    Args:
        raw: the file's bytes.
        name: which of ``SETS`` it is; the file itself does not say.

    Raises:
        UsageError: no such set, or not of the published shape; it names the field.
    """
    _known(name)
    try:
        file = UpstreamFile.model_validate_json(raw)
        read = PairSet(
            name=name,
            title=TITLES[name],
            held_out=name in HELD_OUT,
            about="\n".join(filter(None, (_prose(file.about), _prose(file.labelled_by)))),
            pairs=tuple(
                Pair(
                    id=row.id,
                    class_=row.class_,
                    expected="not-changes" if row.expected == "not_changes" else row.expected,
                    older=Claimed(text=row.older),
                    newer=Claimed(text=row.newer),
                )
                for row in file.rows
            ),
            sha256=hashlib.sha256(raw).hexdigest(),
        )
        _fits(read, name)
    except ValidationError as error:
        raise UsageError(f"The published pair set {name}: {_first(error)}") from error
    except Flaw as error:
        raise UsageError(f"The published pair set {name}: {error}") from error
    return read


def _assemble(file: SetFile, sha256: str) -> PairSet:
    return PairSet(
        name=file.name,
        title=file.title,
        held_out=file.held_out,
        registered=file.registered,
        about=file.about,
        pairs=tuple(
            Pair(
                id=part.id,
                class_=part.class_,
                expected=part.expected,
                older=Claimed(text=part.older.text, day=part.older.day),
                newer=Claimed(text=part.newer.text, day=part.newer.day),
                contradicts=part.contradicts,
                why=part.why,
            )
            for part in file.pairs
        ),
        sha256=sha256,
    )


def _fits(read: PairSet, name: str) -> None:
    """What a set must hold to for its bar to mean what it says."""
    if read.name != name:
        raise Flaw(f"name: {read.name!r} in the file of {name!r}")
    if read.held_out != (name in HELD_OUT):
        raise Flaw(f"held_out: the set {name!r} is {'' if name in HELD_OUT else 'not '}held out")
    if not read.positives:
        raise Flaw("pair: no update that the bar asks for; a rule that never retires would meet it")
    if not read.controls:
        raise Flaw("pair: no control that the bar asks for; a rule that always retires would do")


def _own(read: PairSet) -> None:
    seen: dict[tuple[Claimed, Claimed], str] = {}
    for pair in read.pairs:
        first = seen.setdefault((pair.older, pair.newer), pair.id)
        if first != pair.id:
            raise Flaw(f"pair {pair.id}: the same two claims as {first}")
        older, newer = pair.older.day, pair.newer.day
        if older is not None and newer is not None and older > newer:
            raise Flaw(f"pair {pair.id}: the older claim is of {older}, after the newer one")


def _known(name: str) -> None:
    if name not in SETS:
        raise UsageError(f"There is no pair set {name!r}.", hint=f"Sets: {', '.join(SETS)}.")


def _enough(names: Sequence[str], samples: int) -> None:
    if not names:
        raise UsageError("No pair set measures nothing.", hint=f"Sets: {', '.join(SETS)}.")
    if samples < LEAST_SAMPLES:
        raise UsageError(
            f"{samples} samples of a pair cannot meet the bar: an update counts as retired when"
            f" {LEAST_SAMPLES} samples retire it.",
            hint=f"Ask each pair {SAMPLES} times, as the bar does.",
        )


def _prose(told: Prose) -> str:
    return told if isinstance(told, str) else " ".join(told)


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    return f"{field or 'file'}: {first['msg']}"
