"""Adds what npm installed to the image's list of packages: ``list_npm.py NODE_MODULES LIST``."""

import json
import sys
from pathlib import Path


def main(modules: Path, target: Path) -> None:
    """Read every package's own description; no package has others of its own within."""
    rows = json.loads(target.read_text(encoding="utf-8"))
    for file in [*modules.glob("*/package.json"), *modules.glob("@*/*/package.json")]:
        said = json.loads(file.read_text(encoding="utf-8"))
        rows.append({"manager": "npm", "name": said["name"], "version": said["version"]})
    rows.sort(key=lambda row: (row["manager"], row["name"], row["version"]))
    body = ",\n".join(json.dumps(row) for row in rows)
    target.write_text(f"[\n{body}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
