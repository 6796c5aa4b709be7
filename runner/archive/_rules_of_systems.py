"""Rules about the system, the model and the bench: each named, so that it can be had again."""

import re
from typing import Any

from runner.archive._rules import GET, Beside, Broken
from runner.archive.verify import Sheet, State
from runner.gateway.config import ANTHROPIC
from runner.images.identity import UNKNOWN
from runner.reports.rescore import JUDGED
from runner.reports.schema import Report
from runner.suites.memory_honesty import Exam
from runner.suites.registry import suite_of
from runner.suites.suite import Suite

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_ITS_WORD = "rests on the system's word"
_SCRIPTED = "says nothing about any model"


# ---------------------------------------------------------------- the system


def settings(report: Report, _sheet: Sheet) -> str:
    """The system's own account of its settings and its version."""
    for run in report.runs:
        if not run.steps and run.ending.outcome not in JUDGED:
            continue  # it never got so far as to be asked
        if not run.system.get("settings"):
            raise Broken(
                f"In {run.spec.id} the system does not say what its settings are.",
                "Have its driver answer `describe` with its settings.",
            )
        if run.system.get("version") != report.system.version:
            raise Broken(
                f"{run.spec.id} ran version {run.system.get('version')} of"
                f" {report.system.name}, and the report says {report.system.version}.",
                "Run it again with the image of that version.",
            )
    return f"{report.system.name} {report.system.version}, with its own account of them."


def reader(report: Report, _sheet: Sheet) -> str:
    """The bench, or the system itself by its own account, which a report has to say."""
    if report.system.reader == "bench":
        return "This bench, where one was read."
    if not any(run.snapshots for run in report.runs):
        raise Beside("No store was read.")
    if not any(_ITS_WORD in note for note in report.notes):
        raise Broken(
            f"{report.system.name} read its own store, and the report does not say so.",
            "Hand in the report as it was written.",
        )
    return f"{report.system.name} itself, and it says so: its claims rest on its own word."


def image(report: Report, _sheet: Sheet) -> str:
    """Every image by its digests, with its packages and what it was built from."""
    if not report.images:
        raise Broken("The report names no image.", "Run it again with this bench.")
    for image in report.images:
        if _DIGEST.fullmatch(image.config_digest) is None or not image.layers:
            raise Broken(
                f"{image.name} is named without the digests it is known by.",
                "Run it again on an engine that tells them.",
            )
        if not image.packages:
            raise Broken(
                f"What is installed in {image.name} is not told.",
                "Build it again: its Dockerfile must end with bench-seal.",
            )
        if image.source in ("", UNKNOWN):
            raise Broken(
                f"What {image.name} was built from is not told.",
                "Build it again with `bench images build`.",
            )
    count = sum(len(image.packages) for image in report.images)
    return f"{len(report.images)} images by digest, {count} packages."


def plain(report: Report, _sheet: Sheet) -> str:
    """No model made wrong on purpose, and no system told the answers."""
    faults = {run.spec.fault for run in report.runs if run.spec.fault}
    if faults:
        raise Broken(
            f"The model was made wrong on purpose: {', '.join(sorted(faults))}.",
            "Run it again without --fault.",
        )
    if isinstance(report.case, Exam) and report.case.told:
        raise Broken(
            "The system was told the right pages: this checks the scorer, and no memory.",
            "Hand in a system that is told nothing.",
        )
    return "Nothing was made wrong or given away."


# ---------------------------------------------------------------- the model


def arm(report: Report, _sheet: Sheet) -> str:
    """A model that answered itself, where one is claimed about."""
    asked = any(run.calls for run in report.runs)
    if not report.purposes or not asked:
        raise Beside("No model was asked anything, so nothing is claimed about one.")
    if report.arm in ("live", "record"):
        ways = {
            run.gateway.way_out.anthropic
            for run in report.runs
            if run.gateway is not None and run.gateway.way_out is not None
        }
        return f"{report.model} was asked itself ({report.arm}){_at(ways)}."
    if report.arm == "replay":
        if report.cassette is None:
            raise Broken(
                "It was replayed from a recording that it does not name.",
                "Hand in the report of the recording itself.",
            )
        raise Beside(
            "A recording was replayed: a claim about the model is the recording's own to make."
        )
    if not any(_SCRIPTED in note for note in report.notes):
        raise Broken(
            "Its answers were scripted, and it does not say so.",
            "Hand in the report as it was written, or one of --arm live.",
        )
    raise Beside("Scripted, and it says so: it claims nothing about any model.")


def _at(ways: set[str]) -> str:
    """Where, which is worth telling where it is not the model's own provider."""
    elsewhere = sorted(ways - {ANTHROPIC})
    return f", at {', '.join(elsewhere)}" if elsewhere else ""


def one_model(report: Report, _sheet: Sheet) -> str:
    """One model, or a mixture that is called one."""
    models = sorted(set(report.purposes.values()))
    if not models:
        raise Beside("The system calls no model.")
    if len(models) == 1:
        return f"{models[0]} for all {len(report.purposes)} purposes."
    if not report.mixed or not any(note.startswith("A mixture of models") for note in report.notes):
        raise Broken(
            f"Purposes run on {' and '.join(models)}, and it is not named a mixture.",
            "Hand in the report as it was written, or run it on one model.",
        )
    return f"Named a mixture: {', '.join(models)}."


# ---------------------------------------------------------------- the bench


def newest(report: Report, _sheet: Sheet) -> str:
    """The newest version of the checks that this bench has."""
    suite: Suite[Any, Any] = suite_of(report.case)
    known = suite.known(report.case)
    newest = (known if known is not None else report.case).checks_versions[-1]
    if report.checks_version != newest:
        raise Broken(
            f"Scored by version {report.checks_version} of the checks; there is {newest}.",
            f"`bench rescore REPORT --checks-version {newest} --output NEW` needs no new run.",
        )
    return f"Version {newest}."


def verified(_report: Report, sheet: Sheet) -> str:
    """Everything that could be verified holds."""
    wrong = [line.id for line in sheet.of(State.WRONG)]
    if wrong or not sheet.holds:
        raise Broken(f"It does not hold: {', '.join(wrong) or 'nothing'}.", GET)
    unchecked = dict.fromkeys(line.id for line in sheet.of(State.UNCHECKED))
    told = f" Not checked: {', '.join(unchecked)}." if unchecked else ""
    return f"{len(sheet.of(State.HOLDS))} checks hold.{told}"
