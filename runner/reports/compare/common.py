"""What two reports have in common, what sets them apart, and what makes them incomparable."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import orjson

from runner.errors import UsageError
from runner.reports.remarks import answered_by
from runner.reports.schema import Report
from runner.reports.sheet import Cell, Column, Sheet, Tone
from runner.suites.honesty_learning import Lesson
from runner.suites.memory_honesty import Exam
from runner.suites.trip_vs_move import Case
from runner.suites.update_gate import Gate

_SHOWN = 16
"""Digits of a digest that are shown; a program is given all of them."""
_ALWAYS = ("system", "version", "image", "model", "runs")
"""What is shown whether or not it differs."""
_DIGEST = re.compile(r"(?<![0-9a-f])([0-9a-f]{16})[0-9a-f]{48}(?![0-9a-f])")


@dataclass(frozen=True, slots=True)
class Identity:
    """One thing that says what was measured, and how.

    Attributes:
        name: of it.
        before: of A, as it is shown.
        after: of B.
        values: what is compared, and what a program is given.
        loud: what a reader has to know where they differ, a sentence; empty where it may be what
            the two are compared for.
    """

    name: str
    before: str
    after: str
    values: tuple[str, str]
    loud: str = ""

    @property
    def same(self) -> bool:
        """Whether the two are alike in it."""
        return self.values[0] == self.values[1]


def see_comparable(a: Report, b: Report) -> None:
    """Refuse what cannot be laid beside each other.

    Raises:
        UsageError: reports of two suites, cases, people, sets of questions or vaults.
    """
    if a.suite != b.suite:
        raise _refused(f"A is a report of {a.suite}, B of {b.suite}.")
    match a.case, b.case:
        case Case() as one, Case() as other:
            _same("case", one.name, other.name)
            _same("variant", one.variant or "published", other.variant or "published")
            _same("fixtures", one.fixtures, other.fixtures)
            if [(n.name, n.day, n.text) for n in one.notes] != [
                (n.name, n.day, n.text) for n in other.notes
            ]:
                raise _refused(f"The notes of the case {one.name} are not the same in A and B.")
        case Gate() as one, Gate() as other:
            _same("fixtures", one.fixtures, other.fixtures)
            both = [name for name in one.kinds if name in other.kinds]
            if not both:
                raise _refused("A and B were asked no set of pairs in common.")
            for name in both:
                _same(f"pairs of {name}", one.pair_set(name).sha256, other.pair_set(name).sha256)
        case Exam() as one, Exam() as other:
            _same("question set", one.set, other.set)
            _same(f"questions of {one.set}", one.set_sha256, other.set_sha256)
            _same("vault", one.vault, other.vault)
            _same("pages", [*one.statuses], [*other.statuses])
            if one.marker == other.marker:
                _same(f"pages of {one.vault}", one.vault_sha256, other.vault_sha256)
        case Lesson() as one, Lesson() as other:
            _same("vault", one.vault, other.vault)
            _same("pairs", one.set_sha256, other.set_sha256)
            _same(f"pages of {one.vault}", one.vault_sha256, other.vault_sha256)


def identities(a: Report, b: Report) -> tuple[Identity, ...]:
    """Everything that says what was measured, and how."""
    return tuple(_identities(a, b))


def identity_sheet(found: tuple[Identity, ...]) -> Sheet:
    """What was measured, and all that differs; what does not is a note."""
    rows, same = [], []
    for one in found:
        if one.same and one.name not in _ALWAYS:
            same.append(f"{one.name} ({one.before})")
            continue
        if one.same:
            cells = (Cell(one.before, value=one.values[0]), Cell("same", Tone.FAINT))
        else:
            cells = (
                Cell(one.before, Tone.UNSURE, one.values[0]),
                Cell(one.after, Tone.UNSURE, one.values[1]),
            )
        rows.append((Cell(one.name), *cells))
    columns = (Column("", key="of"), Column("A"), Column("B"))
    notes = (f"The same in both: {', '.join(same)}.",) if same else ()
    return Sheet("compared", "What is compared", columns, tuple(rows), notes)


def loud(found: tuple[Identity, ...], a: Report, b: Report) -> Iterator[str]:
    """What a reader has to know before all else, a sentence each."""
    for one in found:
        if not one.same and one.loud:
            yield f"{one.name} is {one.before} in A and {one.after} in B. {one.loud}"
    for name, report in (("A", a), ("B", b)):
        if told := _without(report):
            yield f"In {name}, {told}."
        faults = sorted({run.spec.fault for run in report.runs if run.spec.fault})
        if faults:
            yield f"In {name}, the scripted model is wrong on purpose: {', '.join(faults)}."
    match a.case, b.case:
        case Gate() as here, Gate() as there:
            only = set(here.kinds) ^ set(there.kinds)
            if only:
                yield f"Asked in one of the two only, and left out: {', '.join(sorted(only))}."


def _identities(a: Report, b: Report) -> Iterator[Identity]:
    yield _identity("system", a.system.name, b.system.name)
    yield _identity("version", a.system.version, b.system.version)
    yield _identity("image", _image(a), _image(b))
    yield _identity("model", _model(a), _model(b))
    yield _identity(
        "answered by", answered_by(a), answered_by(b), "Differences may be of who answered."
    )
    yield _options(a, b)
    yield _identity("encoder", _encoder(a), _encoder(b))
    yield _identity("clock", a.clock.mode, b.clock.mode, "Stores may differ by their days alone.")
    yield _identity(
        "checks version", a.checks_version, b.checks_version, "Both are graded under one version."
    )
    yield from _asked(a, b)
    yield _identity("runs", _runs(a), _runs(b))
    yield _identity("scripted tables", _tables(a), _tables(b))
    yield _identity("cassette", *(r.cassette.sha256 if r.cassette else "none" for r in (a, b)))
    yield _identity("bench", a.bench_version, b.bench_version)
    yield _identity("machine", _machine(a), _machine(b))
    yield _identity("begun", f"{a.started_at:%Y-%m-%d}", f"{b.started_at:%Y-%m-%d}")


def _asked(a: Report, b: Report) -> Iterator[Identity]:
    match a.case, b.case:
        case Case() as one, Case() as other:
            yield _identity(
                "case file", one.sha256, other.sha256,
                "The notes are the same; both are graded by B's.",
            )  # fmt: skip
        case Gate() as one, Gate() as other:
            yield _identity(
                "samples of a pair", one.samples, other.samples,
                "An update has to be retired in two thirds of them, a control in none.",
            )  # fmt: skip
        case Exam() as one, Exam() as other:
            how = "The questions are the same; how they were asked is not."
            for name in ("marker", "top_k", "depth", "told", "seed"):
                values = getattr(one, name), getattr(other, name)
                yield _identity(name.replace("_", " "), *values, how)
        case Lesson() as one, Lesson() as other:
            yield _identity("top k", one.top_k, other.top_k, "So many pages may be cited.")


def _identity(name: str, one: object, other: object, loud: str = "") -> Identity:
    before, after = (_DIGEST.sub(r"\1", str(value)) for value in (one, other))
    return Identity(name, before, after, (str(one), str(other)), loud)


def _image(report: Report) -> str:
    return report.images[0].config_digest if report.images else "none"


def _model(report: Report) -> str:
    if not report.purposes:
        return "none asked"
    pins = {name: model for name, model in report.purposes.items() if model != report.model}
    return report.model + "".join(f"; {name}: {model}" for name, model in sorted(pins.items()))


def _options(a: Report, b: Report) -> Identity:
    """All of them; where they differ, those that do are shown."""
    all_ = [{name: orjson.dumps(value).decode() for name, value in report.options.items()}
            for report in (a, b)]  # fmt: skip
    whole = [_listed(options) for options in all_]
    if all_[0] == all_[1]:
        return _identity("options", *whole)
    differing = [_listed({name: told for name, told in one.items() if other.get(name) != told})
                 for one, other in (all_, all_[::-1])]  # fmt: skip
    return Identity("options", differing[0], differing[1], (whole[0], whole[1]))


def _listed(options: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={told}" for name, told in sorted(options.items())) or "none"


def _encoder(report: Report) -> str:
    return next((run.encoder for run in report.runs if run.encoder), None) or "none"


def _tables(report: Report) -> str:
    found = {
        f"{name} {digest[:_SHOWN]}"
        for run in report.runs
        if run.gateway is not None
        for name, digest in run.gateway.tables.items()
    }
    return ", ".join(sorted(found)) or "none"


def _machine(report: Report) -> str:
    one = report.machine
    return "not told" if one is None else f"{one.engine}, {one.cpus} CPUs, {one.platform}"


def _runs(report: Report) -> str:
    planned: dict[str, int] = {}
    for item in report.planned:
        planned[item.kind] = planned.get(item.kind, 0) + 1
    return ", ".join(f"{count} {kind}" for kind, count in planned.items())


def _without(report: Report) -> str:
    """Runs without a verdict, by how they ended."""
    ended: dict[str, int] = {}
    for run in report.runs:
        if run.ending.outcome not in ("passed", "failed"):
            name = f"{run.ending.outcome.value} ({run.ending.kind})"
            ended[name] = ended.get(name, 0) + 1
    if report.missing:
        ended["not run"] = len(report.missing)
    if not ended:
        return ""
    told = ", ".join(f"{count} {name}" for name, count in ended.items())
    return f"{sum(ended.values())} of {len(report.planned)} runs have no verdict: {told}"


def _same(name: str, one: object, other: object) -> None:
    if one != other:
        if isinstance(one, str):
            raise _refused(f"{name}: {one} in A, {other} in B.")
        raise _refused(f"{name}: not the same in A and B.")


def _refused(why: str) -> UsageError:
    return UsageError(
        f"These two cannot be compared. {why}",
        hint="Compare reports of one suite, case and set of questions.",
    )
