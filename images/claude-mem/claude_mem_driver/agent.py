"""A whole session of Claude Code's: an agent reads the pages, and the plugin watches it.

The plugin is the installed one with its hooks made to be waited for. As they come they run beside
the session and are killed with it, so that what it read last would not be noted.
"""

import json
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from claude_mem_driver.errors import Degraded, DriverError
from claude_mem_driver.log import failure
from claude_mem_driver.place import NO_KEY, Place
from claude_mem_driver.worker import dying_with_us

PROMPT = "Please read these files, each one whole and on its own, in this order:"
_SHOWN = 500


def run(
    place: Place,
    environment: Mapping[str, str],
    door: str,
    model: str,
    names: Sequence[str],
    seconds: float,
) -> str:
    """Have the agent read the pages, and wait until it is through. Returns its session's id.

    Raises:
        DriverError: it did not come to its end.
    """
    listed = "\n".join(f"- {place.vault / name}" for name in names)
    command = [
        str(place.installed / "bin/claude"),
        *("-p", f"{PROMPT}\n{listed}"),
        *("--plugin-dir", str(place.plugin)),
        *("--model", model),
        *("--allowedTools", "Read"),
        *("--permission-mode", "dontAsk"),
        *("--output-format", "json"),
    ]
    # Claude Code itself reads the endpoint from its environment, and takes a smaller model of its
    # own choice for small things unless one is named.
    env = {
        **environment,
        "ANTHROPIC_BASE_URL": door,
        "ANTHROPIC_API_KEY": NO_KEY,
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": model,
        "ANTHROPIC_SMALL_FAST_MODEL": model,
    }
    try:
        done = subprocess.run(
            command,
            cwd=place.vault,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
            preexec_fn=dying_with_us,
        )
    except subprocess.TimeoutExpired as error:
        raise Degraded(f"the session did not end within {seconds:g} s") from error
    return ended(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr)


def ended(status: int, said: str, beside: bytes) -> str:
    """How a session ended, by what it says of itself; its id where it ended well.

    Raises:
        DriverError: it did not.
    """
    try:
        found = json.loads(said)
        result: dict[str, Any] = found[-1] if isinstance(found, list) else found
        session, wrong, words = result["session_id"], result["is_error"], str(result.get("result"))
    except (ValueError, KeyError, IndexError, TypeError) as error:
        tail = beside.decode("utf-8", "replace")[-_SHOWN:]
        raise Degraded(
            f"the session ended with status {status} and said {said[-_SHOWN:]!r} {tail}"
        ) from error
    if wrong or status != 0:
        problem: DriverError = failure(words, False, "the session broke off")
        raise problem
    return str(session)
