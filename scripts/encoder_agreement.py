"""Hold the numpy encoder of ``images/particles`` against the original, on 200 texts.

    python scripts/encoder_agreement.py PYTHON

PYTHON is an interpreter with ``sentence-transformers`` and torch (some gigabytes; any release that
loads the model). Both encoders read the same weights, those ``scripts/particles_venv.py``
installed, and neither reaches a network. Prints the largest difference of any number in any
vector and of any cosine of two texts; ends with 1 where either is above 1e-5. Meant to be run
once for each change of the encoder.
"""

import json
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from runner.suites.trip_vs_move import case_names, load_case  # noqa: E402 - of this checkout

TEXTS = 200
MOST = 1e-5

ENCODE = """
import json, sys
from sentence_transformers import SentenceTransformer
model = SentenceTransformer(sys.argv[1])
texts = json.load(sys.stdin)
vectors = model.encode(texts, normalize_embeddings=True)
json.dump([vector.tolist() for vector in vectors], sys.stdout)
"""

COMPARE = """
import json, sys
import numpy as np
one, other = (np.array(each, dtype=np.float64) for each in json.load(sys.stdin))
print(np.abs(one - other).max(), np.abs(one @ one.T - other @ other.T).max())
"""


def main(original: str) -> int:
    """Compare, and say how far apart they are."""
    ours, model = installed()
    given = texts()
    vectors = []
    for name, python in (("numpy", ours), ("original", original)):
        started = time.monotonic()
        vectors.append(json.loads(ask(python, ENCODE, json.dumps(given), str(model))))
        print(f"{name}: {len(given)} texts in {time.monotonic() - started:.1f} s, start included")
    numbers, cosines = map(float, ask(ours, COMPARE, json.dumps(vectors)).split())
    print(f"largest difference: {numbers:.2g} of a number, {cosines:.2g} of a cosine")
    return int(max(numbers, cosines) > MOST)


def installed() -> tuple[str, Path]:
    """The interpreter that has the numpy encoder, and the folder of the weights it reads."""
    said = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "particles_venv.py")],
        check=True,
        stdout=subprocess.PIPE,
    )
    ours = json.loads(said.stdout)
    (model,) = Path(ours["hub"]).glob("hub/models--*/snapshots/*")
    return ours["python"], model


def texts() -> list[str]:
    """Texts of every length: lines, notes and parts of notes, in several scripts; some too long."""
    found = ["", "?", "User", "Zürich, São Paulo, Köln", "住んでいます", "Где я живу?", "🙂 " * 40]
    for name in case_names():
        for variant in (None, *load_case(name).variants):
            for note in load_case(name, variant).notes:
                lines = [line for line in note.text.splitlines() if line]
                found += [note.text, note.text * 12, *lines, *map(" ".join, pairwise(lines))]
    distinct = list(dict.fromkeys(found))
    assert len(distinct) >= TEXTS, len(distinct)
    return distinct[:TEXTS]


def ask(python: str, script: str, given: str, *arguments: str) -> str:
    """What a script prints that another interpreter runs."""
    done = subprocess.run(
        [python, "-c", script, *arguments], input=given, capture_output=True, text=True, check=True
    )
    return done.stdout


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
