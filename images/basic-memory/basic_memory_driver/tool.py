"""The installed basic-memory: its commands, and its server, which stays up for the whole run."""

import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from basic_memory_driver import embedding
from basic_memory_driver.environment import Embedder, environment
from basic_memory_driver.errors import Degraded, DriverError
from basic_memory_driver.mcp import Server, ToolFailed
from basic_memory_driver.requests import Page
from basic_memory_driver.settings import Settings
from basic_memory_driver.store import PROJECT, State, Store

COMMAND = "basic-memory"
COMMAND_S = 550.0
"""Longest a command may take: a little less than a step."""
START_S = 120.0
CALL_S = 120.0
SETTLE_S = 120.0
"""Longest it may take to index what it was given, in the background."""
QUIET_S = 1.0
"""How long nothing may have been written before it is taken to be done with a note: version 0.23
takes a note out of its index and in again, several times, once all looks done."""


class Tool:
    """One project in a home of its own."""

    def __init__(self, env: Mapping[str, str], chosen: Settings) -> None:
        """Nothing is started yet.

        Raises:
            Degraded: no embedder is baked in.
        """
        self.embedder = Embedder.baked(env)
        self.version = version(COMMAND)
        self._home = Path(env["HOME"])
        self._chosen = chosen
        self._env = environment(env, self.embedder, chosen, self._home)
        self._served: subprocess.Popen[bytes] | None = None
        self._server: Server | None = None
        self._busy = False
        self.store = Store(self._home)

    def check(self) -> None:
        """Make sure that it searches as it should, before anything is given to it.

        Raises:
            Degraded: it would search by words alone without a word about it.
        """
        if not self._chosen.vectors:
            return
        if self.embedder.server and self._served is None:
            self._served = embedding.serve(self._env)
        embedding.check(self._env)

    def open(self) -> None:
        """Make its project: an empty folder that it knows of.

        Raises:
            DriverError: it does not take it.
        """
        self.store.vault.mkdir(parents=True, exist_ok=True)
        self._run("project", "add", PROJECT, str(self.store.vault), "--default")

    def index(self, pages: tuple[Page, ...]) -> State:
        """Put pages into its folder, where they are its own to rewrite, and have them indexed.

        Raises:
            DriverError: it failed.
            Degraded: it knows of more or fewer pages than it was given, or not all can be found.
        """
        for page in pages:
            file = self.store.vault / page.name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(page.text, encoding="utf-8", newline="")
        only = () if self._chosen.vectors else ("--search",)
        self._run("reindex", "--project", PROJECT, *only)
        state = self.store.state(self._chosen.vectors)
        if state.pages != len(pages) or not state.settled:
            raise Degraded(f"of {len(pages)} pages it has, after indexing: {state}")
        return state

    def serve(self) -> None:
        """Start its server, where it is not up, and see that it searches.

        Raises:
            DriverError: it does not start.
            Degraded: it cannot search as it should.
        """
        if self._server is not None:
            return
        self._server = Server((self._path(), "mcp"), self._env, self._home, START_S)
        if self._chosen.vectors:
            # The model is loaded by the first question that needs it; that is this one.
            self.search("word", 1, 1, how="vector")

    def search(self, question: str, page: int, size: int, how: str = "") -> dict[str, Any]:
        """Ask its own search, the way the bench set.

        Raises:
            Degraded: it failed, which is no answer and no refusal.
            DriverError: the server is gone.
        """
        asked = {"query": question, "project": PROJECT, "page": page, "page_size": size}
        chosen = how or self._chosen.search
        if chosen not in ("default", "text"):
            asked["search_type"] = chosen
        try:
            return self._call("search_notes", asked)
        except ToolFailed as error:
            raise Degraded(str(error)) from error

    def write(self, note: Page) -> dict[str, Any]:
        """Hand it a note by the tool an agent would use.

        Raises:
            DriverError: it did not take the note, or put it elsewhere.
        """
        asked = {"title": note.title, "directory": note.directory, "content": note.text}
        self._busy = True
        answer = self._call("write_note", {**asked, "project": PROJECT})
        if answer.get("file_path") != note.name or answer.get("action") != "created":
            raise DriverError(f"write_note did not create {note.name}: {str(answer)[:300]}")
        return answer

    def settle(self) -> State:
        """Wait until it has indexed all that it was given.

        Raises:
            Degraded: it does not come to an end.
        """
        begun = since = time.monotonic()
        seen = None
        while True:
            mark, now = self.store.written(), time.monotonic()
            if mark != seen:
                seen, since = mark, now
            state = self.store.state(self._chosen.vectors)
            if state.settled and (not self._busy or now - since > QUIET_S):
                self._busy = False
                return state
            if now - begun > SETTLE_S:
                raise Degraded(f"after {SETTLE_S:g} s not all is indexed: {state}")
            time.sleep(0.02)

    def close(self) -> None:
        """Stop what was started."""
        if self._server is not None:
            self._server.close()
        if self._served is not None:
            self._served.kill()
            self._served.wait()

    def _call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if self._server is None:
            raise DriverError("basic-memory's server is not up")
        return self._server.call(name, arguments, CALL_S)

    def _run(self, *arguments: str) -> None:
        try:
            done = subprocess.run(
                (self._path(), *arguments),
                env=self._env,
                cwd=self._home,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=COMMAND_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise DriverError(f"{COMMAND} {arguments[0]} took over {COMMAND_S:g} s") from error
        print(done.stdout, file=sys.stderr, flush=True)
        if done.returncode != 0:
            said = " ".join(done.stdout.split())[-300:]
            raise DriverError(f"{COMMAND} {arguments[0]} ended with {done.returncode}: {said}")

    def _path(self) -> str:
        return shutil.which(COMMAND, path=self._env.get("PATH")) or COMMAND
