"""Put the word lists of fastembed's BM25 where it looks for them in a hub's cache.

    python words.py PACKAGES HUB

Run by the image's Python. mem0's search by words loads the model ``Qdrant/bm25`` when it is first
used, which is no model but a list of stop words a language, NLTK's. The hub that has it is not
there; the same lists lie in a package of a registry. The hub's are older by a few contractions,
such as "he'd", which no text holds any more where they are looked up: apostrophes are taken out
before.
"""

import hashlib
import sys
from pathlib import Path

from fastembed.sparse.bm25 import supported_bm25_models

LISTS = Path("llama_index/core/_static/nltk_cache/corpora/stopwords")
SHA256 = "adc7bbe1939b40d306feaaed52daafdc4207eda56e80ecd1fb703f42e6c12a76"
"""Over all of the lists, one after another in the order of their names."""
HUB_FOLDER = "models--Qdrant--bm25"


def main(packages: Path, hub: Path) -> int:
    """Check and copy; 1 where the lists are not the ones meant."""
    (model,) = supported_bm25_models
    names = sorted(model.additional_files)
    lists = {name: (packages / LISTS / Path(name).stem).read_bytes() for name in names}
    seen = hashlib.sha256(b"".join(lists.values())).hexdigest()
    if seen != SHA256:
        print(f"the lists have the digest {seen}, not {SHA256}", file=sys.stderr)
        return 1
    # A hub's revision has forty digits; these say what lies there.
    folder, revision = hub / HUB_FOLDER, SHA256[:40]
    snapshot = folder / "snapshots" / revision
    snapshot.mkdir(parents=True)
    for name, content in lists.items():
        (snapshot / name).write_bytes(content)
    (snapshot / model.model_file).write_bytes(b"{}\n")
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(revision)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
