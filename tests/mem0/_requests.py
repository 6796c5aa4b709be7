"""Requests of the kind mem0 makes, in the shape it gives them; the instructions are ours."""

import json
from typing import Any

INSTRUCTIONS = "\n\n# ROLE\n\nYou are a Memory Extractor: say what there is to remember.\n"


def turn(
    text: str, day: str = "2026-09-01", existing: tuple[str, ...] = (), last: tuple[str, ...] = ()
) -> str:
    listed = [{"id": str(number), "text": each} for number, each in enumerate(existing)]
    cut = (each if len(each) <= 300 else f"{each[:300]}..." for each in last)
    sections = (
        "## Summary\n",
        "## Last k Messages\n" + "".join(f"user: {each}\n" for each in cut),
        "## Recently Extracted Memories\n[]",
        f"## Existing Memories\n{json.dumps(listed, ensure_ascii=False)}",
        f"## New Messages\nuser: {text}\n",
        f"## Observation Date\n{day}",
        f"## Current Date\n{day}",
        "# Output:",
    )
    return "\n\n".join(sections)


def request(text: str, *, system: str = INSTRUCTIONS, **more: Any) -> dict[str, Any]:
    asked = {name: more.pop(name) for name in ("day", "existing", "last") if name in more}
    return {
        "model": "claude-sonnet-5-5",
        "max_tokens": 2000,
        "system": system,
        "messages": [{"role": "user", "content": turn(text, **asked)}],
        **more,
    }
