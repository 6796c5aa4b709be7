"""linkedparticles' model calls: what each is for, what it asks, how an answer is written.

Nothing in a request names its purpose, so it is told by what the engine fenced and by the reply
it asks for. Purposes are the engine's own, which its settings and its published usage go by;
``task`` in the fields is the finer word, with the names the scripted tables use:

=================== ==================== ==========================================
task                purpose              told by
=================== ==================== ==========================================
``extraction``      extraction           a fenced ``source``
``contradiction``   semantic_lint        two claims, two lines to answer with
``confirmation``    verification         two claims, each with its passage
``update``          semantic_lint,       two claims, a line ``SLOT`` to answer with;
                    second reading:      readings differ in the reply they allow
                    verification
``reanchor``        extraction           a ``retired`` claim and numbered candidates
``faithfulness``    verification         a ``retired`` claim and a ``restatement``
``paraphrase``      verification         two claims, one word of three to answer with
``link``            subject_resolution   a ``name``, a ``claim``, ``candidates``
``answer``          query_response       a ``question`` and ``particles``
=================== ==================== ==========================================
"""

import re
from collections.abc import Mapping
from typing import Any

import orjson

from runner.systems.particles._call import ParticlesCall

UNATTRIBUTED = "unattributed"
FIRST_READING_TOKENS = 4096
"""Longest reply a first reading of an update allows. A second allows a quarter, and one token less
than a first where it is asked again because its reply was cut off: the driver sets it so, as
nothing else would tell the two apart."""
NO_NONCE = "0" * 32
"""What stands for the number of a call in its canonical form."""

_PURPOSES = {
    "extraction": "extraction",
    "contradiction": "semantic_lint",
    "confirmation": "verification",
    "reanchor": "extraction",
    "faithfulness": "verification",
    "paraphrase": "verification",
    "link": "subject_resolution",
    "answer": "query_response",
}
PURPOSES = frozenset({*_PURPOSES.values()})

_TRANSPORT = frozenset({"stream", "metadata"})
"""Fields of a request that change how it is answered, not what is asked."""
_REFERENCE = re.compile(r"REFERENCE DATE\b[^\n]*?(\d{4}-\d{2}-\d{2})")
_CANDIDATE = re.compile(r"c[1-9][0-9]*")
_CLAIM = re.compile(r" *- (?P<text>.*?)(?: <(?P<modality>[A-Z_]+)>.*)?")
_PAIR = frozenset({"claim_a", "claim_b"})
_LINES = ("reason", "slot", "verdict")
"""What an answer to two claims is made of, in the order it is written."""


class ParticlesWire:
    """How linkedparticles talks to a model."""

    def purpose(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> str:
        """The engine's own name for what the call is for; ``unattributed`` for any other call."""
        try:
            call = ParticlesCall.read(body)
            task = _task(call)
        except ValueError:
            return UNATTRIBUTED
        if task == "update":
            return "semantic_lint" if _reading(call) == 1 else "verification"
        return _PURPOSES[task]

    def fields(self, purpose: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The task and what it is about.

        Raises:
            ValueError: it is no call of a kind known here.
        """
        call = ParticlesCall.read(body)
        task = _task(call)
        return {"task": task, **_FIELDS[task](call)}

    def reply(self, purpose: str, answer: Any) -> str:
        """An answer as the model writes it.

        A text stands for itself. An object with a ``verdict`` and a ``reason`` becomes the lines
        ``REASON``, ``SLOT`` and ``VERDICT``; a re-anchoring's claims get their labels; all else
        is JSON.
        """
        if isinstance(answer, str):
            return answer
        if isinstance(answer, dict) and "verdict" in answer and "reason" in answer:
            return "\n".join(
                f"{line.upper()}: {answer[line]}" for line in _LINES if answer.get(line) is not None
            )
        if isinstance(answer, dict) and isinstance(answer.get("claims"), list):
            answer = {**answer, "claims": [_labelled(claim) for claim in answer["claims"]]}
        return orjson.dumps(answer).decode()

    def canonical(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> bytes:
        """Purpose and body, keys in order, without how the reply is to be sent.

        The number that fences a call's data is drawn anew for every call, so it is replaced
        wherever it stands. Nothing else is: dates and names are what is asked.
        """
        asked = {name: value for name, value in body.items() if name not in _TRANSPORT}
        written = orjson.dumps(
            {"purpose": self.purpose(headers, body), "body": asked}, option=orjson.OPT_SORT_KEYS
        )
        try:
            nonce = ParticlesCall.read(body).nonce
        except ValueError:
            return written
        return written.replace(nonce.encode(), NO_NONCE.encode()) if nonce else written


# ---------------------------------------------------------------- what kind of call


def _task(call: ParticlesCall) -> str:
    labels = set(call.data)
    if "source" in labels:
        return "extraction"
    if "retired" in labels:
        return "faithfulness" if "restatement" in labels else "reanchor"
    if labels == _PAIR:
        return _pair_task(call)
    if labels == {"name", "claim", "candidates"}:
        return "link"
    if labels == {"question", "particles"}:
        return "answer"
    raise ValueError(f"no known call fences {', '.join(sorted(labels))}")


def _pair_task(call: ParticlesCall) -> str:
    if '"PARAPHRASE"' in call.instructions:
        return "paraphrase"
    if "VERDICT: YES" not in call.instructions:
        raise ValueError("two claims, and no known answer is asked for")
    if "SLOT: CHANGES" in call.instructions:
        return "update"
    if all(_passage(call.data[label]) for label in _PAIR):
        return "confirmation"
    return "contradiction"


def _reading(call: ParticlesCall) -> int:
    return 1 if call.max_tokens >= FIRST_READING_TOKENS else 2


# ---------------------------------------------------------------- what it is about


def _extraction(call: ParticlesCall) -> dict[str, Any]:
    found = _REFERENCE.search(call.instructions)
    return {
        "note": {"text": call.data["source"]},
        "context": call.data.get("context"),
        "reference_date": found[1] if found else None,
    }


def _two_claims(call: ParticlesCall) -> dict[str, Any]:
    """Claims A and B. An update gives the older one first; a contradiction does not say, and is
    asked with the newer first, but for a restatement, which comes second.
    """
    return {"older": {"text": call.data["claim_a"]}, "newer": {"text": call.data["claim_b"]}}


def _update(call: ParticlesCall) -> dict[str, Any]:
    return {"reading": _reading(call), **_two_claims(call)}


def _confirmation(call: ParticlesCall) -> dict[str, Any]:
    return {
        "older": _passage(call.data["claim_a"]),
        "newer": _passage(call.data["claim_b"]),
    }


def _reanchor(call: ParticlesCall) -> dict[str, Any]:
    candidates = [text for label, text in call.data.items() if _CANDIDATE.fullmatch(label)]
    return {
        **_retired(call),
        "candidates": [{"n": n, "text": text} for n, text in enumerate(candidates, start=1)],
    }


def _faithfulness(call: ParticlesCall) -> dict[str, Any]:
    return {
        **_retired(call),
        "original": {"text": call.data.get("original")},
        "restatement": call.data["restatement"],
    }


def _retired(call: ParticlesCall) -> dict[str, Any]:
    return {
        "retired": {"text": call.data["retired"], "day": call.line("Date of the source record")},
        "passage": call.data.get("passage"),
    }


def _link(call: ParticlesCall) -> dict[str, Any]:
    rows = (line.split(" | ", 2) for line in call.data["candidates"].splitlines())
    return {
        "name": call.data["name"],
        "claim": call.data["claim"],
        "candidates": [
            dict(zip(("id", "label", "about"), row, strict=False)) for row in rows if len(row) > 1
        ],
    }


def _answer(call: ParticlesCall) -> dict[str, Any]:
    lines = (_CLAIM.fullmatch(line) for line in call.data["particles"].splitlines())
    return {
        "question": call.data["question"],
        "claims": [line.groupdict() for line in lines if line],
    }


_FIELDS = {
    "extraction": _extraction,
    "contradiction": _two_claims,
    "confirmation": _confirmation,
    "update": _update,
    "reanchor": _reanchor,
    "faithfulness": _faithfulness,
    "paraphrase": _two_claims,
    "link": _link,
    "answer": _answer,
}

_BLOCK = re.compile(
    r"claim: (?P<text>.*?)\n(?:note|record): (?P<source>[^\n]*)\npassage: (?P<passage>.*)",
    re.DOTALL,
)


def _passage(block: str) -> dict[str, str] | None:
    """A claim that is shown with where it comes from."""
    found = _BLOCK.fullmatch(block)
    return found.groupdict() if found else None


def _labelled(claim: Any) -> Any:
    """A re-anchoring's answer on one claim, by the label it was asked under."""
    if not isinstance(claim, dict) or "n" not in claim:
        return claim
    rest = {name: value for name, value in claim.items() if name not in ("n", "anchor")}
    verdict = {"LEANS": "DEPENDS", "STANDS": "HOLDS"}.get(rest.get("verdict", ""))
    return {"claim": f"c{claim['n']}", **rest, **({"verdict": verdict} if verdict else {})}
