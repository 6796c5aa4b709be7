"""Makes Claude Code wait for the plugin's hooks: ``wait_for_hooks.py HOOKS.JSON``, in place.

As they come, the hooks that hand over what was read run beside the session and are killed when it
ends, so that the last of it is lost, and a fast model's all of it.
"""

import json
import sys
from pathlib import Path


def main(file: Path) -> None:
    """Drop ``async`` from every hook."""
    hooks = json.loads(file.read_text(encoding="utf-8"))
    dropped = [
        hook.pop("async", None)
        for groups in hooks["hooks"].values()
        for group in groups
        for hook in group["hooks"]
    ]
    if not any(dropped):
        sys.exit(f"{file}: no hook is async; what is written here of them no longer holds")
    file.write_text(json.dumps(hooks, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
