"""One session of Claude Code's that claude-mem watches, as the plugin's hooks tell of it: a prompt,
what the Read tool brought, the end.

One thing is handed over at a time, and its answer waited for: the worker takes an answer to be of
whatever it has handed to the observer by then, so that what overlaps is mixed up or lost.
"""

import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from claude_mem_driver.errors import Degraded
from claude_mem_driver.log import Dropped, Kept, outcome
from claude_mem_driver.place import Place
from claude_mem_driver.worker import LOOK_S, Worker

PROJECT = "vault"
PLATFORM = "claude"
GONE_S = 30.0
"""How long an observer may take to leave."""
_REMOVED = "Session removed from active sessions"


class Watched:
    """A session, from its prompt on.

    Args:
        worker: what is told of it.
        place: where its pages lie.
        session: its id, as Claude Code would give it one.
        deadline_s: how long the observer may take for one answer.
    """

    def __init__(self, worker: Worker, place: Place, session: str, deadline_s: float) -> None:
        self._worker = worker
        self._place = place
        self._session = session
        self._deadline_s = deadline_s
        self._number: int | None = None
        self._reads = 0

    def begin(self, prompt: str) -> None:
        """What the user asks. The observer is told which session it watches, and has to have
        answered before there is anything to note.

        Raises:
            DriverError: it did not.
        """
        self._worker.lines()
        self._post("init", project=PROJECT, prompt=prompt)
        came = self._answer("the observer's first answer")
        # Words that are not to be read are no harm here: there was nothing to note.
        if isinstance(came, Dropped) and not came.prose:
            raise came.error("the observer does not begin")

    def read(self, name: str, text: str) -> Kept:
        """The Read tool was used on a page; its observation is kept when this returns.

        Raises:
            DriverError: it is not.
        """
        self._reads += 1
        path = str(self._place.vault / name)
        # As Claude Code has it: a last line end begins one more line.
        lines = text.count("\n") + 1
        file = {
            "filePath": path,
            "content": text,
            "numLines": lines,
            "startLine": 1,
            "totalLines": lines,
        }
        self._post(
            "observations",
            tool_name="Read",
            tool_input={"file_path": path},
            tool_response={"type": "text", "file": file},
            cwd=str(self._place.vault),
            tool_use_id=f"toolu_{self._session}_{self._reads}",
        )
        came = self._answer(f"the observation of {name}")
        if isinstance(came, Dropped):
            raise came.error(f"the observation of {name} is lost")
        if not came.observations:
            raise Degraded(f"the observer noted nothing of {name}")
        return came

    def end(self, last: str) -> int | None:
        """The session stops: it is summed up, and its observer let go. Returns the summary's id;
        none where the observer gave none that can be read.

        Raises:
            DriverError: the observer did not answer.
        """
        self._post("summarize", last_assistant_message=last)
        came = self._answer("the summary")
        if isinstance(came, Dropped) and not came.prose:
            raise came.error("the summary is lost")
        self._post("session-end", reason="other", cwd=str(self._place.vault))
        let_go(self._worker, self._place, self._number)
        return came.summary if isinstance(came, Kept) else None

    def _post(self, what: str, **body: Any) -> None:
        said = self._worker.post(
            f"/api/sessions/{what}",
            {"contentSessionId": self._session, "platformSource": PLATFORM, **body},
        )
        if said.get("skipped") or said.get("status") in ("skipped", "unknown_session"):
            raise Degraded(f"the worker did not take {what}: {json.dumps(said)[:300]}")
        if "sessionDbId" in said:
            self._number = int(said["sessionDbId"])

    def _answer(self, what: str) -> Kept | Dropped:
        """What became of the observer's next answer."""
        deadline = time.monotonic() + self._deadline_s
        while True:
            for line in self._worker.lines():
                if line.session == self._number and (came := outcome(line)) is not None:
                    return came
            if time.monotonic() > deadline:
                raise Degraded(f"{what} did not come within {self._deadline_s:g} s")
            time.sleep(LOOK_S)


def let_go(worker: Worker, place: Place, number: int | None) -> None:
    """End a session's observer, as the worker does with one that has been idle for three minutes.
    It keeps room for two, and a third session would wait for that.

    Raises:
        Degraded: it stays.
    """
    for pid in _observers(place.data, number):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + GONE_S
    while not any(
        line.session == number and line.text.startswith(_REMOVED) for line in worker.lines()
    ):
        if time.monotonic() > deadline:
            raise Degraded(f"an observer does not end within {GONE_S:g} s")
        time.sleep(LOOK_S)


def _observers(data: Path, session: int | None) -> list[int]:
    """The processes that the worker has registered for a session."""
    try:
        processes = json.loads((data / "supervisor.json").read_text())["processes"]
    except (OSError, ValueError, KeyError):
        return []
    return [
        int(one["pid"])
        for one in processes.values()
        if one.get("type") == "sdk" and str(one.get("sessionId")) == str(session)
    ]
