"""Reports that a browser is to show beside those of the suites' own tests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner import paths
from runner.model import Escape
from runner.reports.kept_answers import load_kept
from runner.reports.rescore import rejudge, verdict
from runner.reports.schema import Report
from runner.suites.memory_honesty import load_exam, parse_answers
from tests.reports._honesty import report
from tests.reports.conftest import produced
from tests.runs._memory import MemoryBox, MemorySandbox, Verb, die, fail

SET = "dev3"
MEMORIES = ("basic-memory", "bm25", "claude-mem", "mem0", "router")
"""All whose answers are kept."""


def kept(system: str) -> Report:
    """What a memory really answered to a development set, as its report tells it.

    The answers were given in its container, and are kept; the receipts are not.
    """
    home = paths.fixtures() / "honesty" / "answers" / system
    [told] = [one for one in load_kept(home).sets if one.name == SET]
    exam = load_exam(SET, marker=told.marker, top_k=told.top_k, seed=told.seed)
    lines = (home / f"{SET}.jsonl").read_bytes().splitlines()
    answers = {f"ask {one.question}": one for one in parse_answers(lines, exam)}
    whole = report(exam, system=system)
    [run] = whole.runs
    steps = []
    for step in run.steps:
        if (answer := answers.get(step.name)) is not None:
            scores = answer.scores or (None,) * len(answer.cited)
            cited = zip(answer.cited, scores, strict=True)
            result = {
                "pages": [{"name": name, "score": score} for name, score in cited],
                "refused": answer.refused,
            }
            step = step.model_copy(update={"result": result})
        steps.append(step)
    run = rejudge(exam, run.model_copy(update={"steps": tuple(steps)}), 1)
    whole = whole.model_copy(
        update={
            "runs": (run,),
            "system": whole.system.model_copy(update={"version": told.version}),
        }
    )
    return whole.model_copy(update={"verdict": verdict(whole, whole.runs, 1)})


def troubled(folder: Path, output: Path) -> Report:
    """A report whose runs did not all come to a verdict, and not for one reason.

    One is of a system that fails, one of a container that dies under it; the others are judged,
    and fail a check where the engine does not admit a restatement of the same slot.
    """
    fails = fail("degraded", "The encoder gave 0 numbers <b>where</b> 384 were asked for.")

    def consolidate(box: MemoryBox, request: Mapping[str, Any], verb: Verb) -> Any:
        if box.run_id.endswith("move-1"):
            return fails(box, request, verb)
        if box.run_id.endswith("move-2"):
            return die(box, request, verb)
        return verb(request)

    return produced(
        folder,
        output,
        "mid-trip",
        sandbox=MemorySandbox(folder, consolidate=consolidate),
        options={"same_slot_admits": False},
    )


def escaped(folder: Path, output: Path) -> Report:
    """A report of runs that are invalid: a way out of their sandbox was open."""
    sandbox = MemorySandbox(folder)
    sandbox.escapes = (
        Escape(probe="dns", target="example.com", result="blocked", detail="no such host"),
        Escape(probe="vsock", target="2:1024", result="escaped", detail="it was connected"),
    )
    return produced(folder, output, "reader", sandbox=sandbox, runs={"move": 1, "trip-alone": 1})
