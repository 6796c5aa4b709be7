"""Hold the ONNX file of ``images/minilm`` against the numpy encoder of ``images/particles``.

    python scripts/minilm_agreement.py PYTHON

PYTHON is an interpreter with ``fastembed`` and what ``images/minilm/requirements.lock`` names. It
makes the file anew, which checks its digest, and embeds 200 texts with it by fastembed, as
basic-memory does; the numpy encoder, which agrees with the original to 1e-5 (see
``encoder_agreement.py``), embeds the same. Neither reaches a network. Prints the least cosine of
a text's two vectors; ends with 1 where it is below 0.9995. Meant to be run once for each change
of the file.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

from encoder_agreement import ENCODE, ROOT, ask, installed, texts

LEAST = 0.9995

LAY_OUT = """
import runpy, sys
from pathlib import Path
folder, target = sys.argv[1:]
sys.path.insert(0, folder)
sys.dont_write_bytecode = True
sys.exit(runpy.run_path(f"{folder}/lay_out.py")["main"](Path(target)))
"""

EMBED = """
import json, sys
from fastembed import TextEmbedding
model = TextEmbedding(
    "sentence-transformers/all-MiniLM-L6-v2", cache_dir=sys.argv[1], local_files_only=True
)
json.dump([vector.tolist() for vector in model.embed(json.load(sys.stdin))], sys.stdout)
"""

COMPARE = """
import json, sys
import numpy as np
one, other = (np.array(each, dtype=np.float64) for each in json.load(sys.stdin))
lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
print(((one * other).sum(axis=1) / lengths).min(), np.abs(one - other).max())
"""


def main(python: str) -> int:
    """Compare, and say how far apart they are."""
    ours, model = installed()
    given = json.dumps(texts())
    vectors = [json.loads(ask(ours, ENCODE, given, str(model)))]
    with tempfile.TemporaryDirectory() as folder:
        ask(python, LAY_OUT, "", str(ROOT / "images" / "minilm"), folder)
        started = time.monotonic()
        vectors.append(json.loads(ask(python, EMBED, given, str(Path(folder) / "fastembed"))))
        print(f"ONNX: {time.monotonic() - started:.1f} s, start included")
    least, numbers = map(float, ask(ours, COMPARE, json.dumps(vectors)).split())
    print(f"{len(vectors[0])} texts: least cosine {least:.7f}, largest difference {numbers:.2g}")
    return int(least < LEAST)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
