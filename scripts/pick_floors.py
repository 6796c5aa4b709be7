"""Pick the floors of the baselines' rules on the development sets, and write them down.

    python scripts/pick_floors.py [--check]

Every question of ``dev`` and ``dev3`` is asked of ``bm25-rules`` and ``dense-rules`` in their own
image, with a floor of nought, so that all that is found is answered. The floor is then the first
score at which right answers minus wrong ones are most, of several the lowest
(``runner.suites.memory_honesty.pick_floor``). It goes into
``images/baselines/baselines_driver/floors.toml``; ``--check`` compares instead, and ends with 1
where a floor is another. Held-out sets are never read.
"""

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from runner.images import ensure  # noqa: E402 - of this checkout
from runner.model import StepRecord  # noqa: E402
from runner.suites.memory_honesty import (  # noqa: E402
    Exam,
    answers,
    floor,
    grades,
    load_exam,
    pick_floor,
    steps,
)

FILE = ROOT / "images" / "baselines" / "baselines_driver" / "floors.toml"
SETS = ("dev", "dev3")
METHODS = {"bm25": "bm25-rules", "dense": "dense-rules"}
"""The names floors go by, and the methods that use them."""
TOLERANCE = 1e-4
"""How far apart floors of two processors may be."""
HEAD = """\
# Floors of the rules, picked on development sets by
#   python scripts/pick_floors.py
# which says how, and with --check picks them again and compares. Not edited by hand.
schema = 1
"""
SANDBOX = (
    *("--network=none", "--user=10001:10001", "--cap-drop=ALL", "--read-only"),
    *("--security-opt=no-new-privileges", "--tmpfs=/home/bench:uid=10001,mode=0700"),
    *("--env=HOME=/home/bench", "--tmpfs=/tmp"),
)


def main(check: bool) -> int:
    """Pick, and write or compare."""
    image = ensure("baselines").config_digest
    picked = {
        name: {search: pick(image, name, method) for search, method in METHODS.items()}
        for name in SETS
    }
    if check:
        return compared(picked, tomllib.loads(FILE.read_text())["picked"])
    tables = "".join(
        table(f"picked.{name}.{search}", found)
        for name, searches in picked.items()
        for search, found in searches.items()
    )
    FILE.write_text(HEAD + tables)
    return 0


def pick(image: str, name: str, method: str) -> dict[str, Any]:
    """The floor of one method on one set, and what it leaves."""
    exam = load_exam(name)
    given = answers(exam, asked(image, exam, method))
    at = pick_floor(exam, given)
    found = grades(exam, floor(given, at))
    told = {
        "floor": 0.0 if at is None else at,
        "right": sum(one.right for one in found),
        "wrong": sum(one.wrong for one in found),
        "questions": len(found),
        "set_sha256": exam.set_sha256,
        "vault_sha256": exam.vault_sha256,
    }
    print(f"{method} on {name}: {told['floor']}, {told['right']} right, {told['wrong']} wrong")
    return told


def asked(image: str, exam: Exam, method: str) -> Iterator[StepRecord]:
    """Every step of an exam, put to the method in a container of its own."""
    with driver(image, {"method": method, "floor": 0}) as (requests, replies):
        for number, step in enumerate(steps(exam, exam.set, 1), start=1):
            line = {"id": number, "verb": step.verb, **step.payload}
            requests.write(json.dumps(line).encode() + b"\n")
            requests.flush()
            reply = json.loads(replies.readline())
            if not reply["ok"]:
                raise SystemExit(f"{method} failed at {step.name}: {reply['error']['message']}")
            seconds, result = reply["ms"] / 1000, reply["result"]
            yield StepRecord(name=step.name, verb=step.verb, seconds=seconds, result=result)


@contextmanager
def driver(image: str, options: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """The two ends of a driver's line."""
    settings = json.dumps({"model": "none", "pins": {}, "options": options})
    process = subprocess.Popen(
        ["docker", "run", "--rm", "-i", *SANDBOX, f"--env=BENCH_SETTINGS={settings}", image],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdin is not None
        yield process.stdin, process.stdout


def compared(picked: dict[str, Any], written: dict[str, Any]) -> int:
    """Say which floors differ from those in the file."""
    differing = [
        f"{name} {search}: {found['floor']}, written {written[name][search]['floor']}"
        for name, searches in picked.items()
        for search, found in searches.items()
        if abs(found["floor"] - written[name][search]["floor"]) > TOLERANCE
    ]
    print("\n".join(differing) or "All floors are as written.")
    return int(bool(differing))


def table(name: str, values: dict[str, Any]) -> str:
    """A TOML table of numbers and plain strings, for which JSON writes the same."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    return "\n".join(["", f"[{name}]", *lines, ""])


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    sys.exit(main("--check" in sys.argv))
