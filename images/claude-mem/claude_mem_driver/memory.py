"""claude-mem as a memory: pages and notes put in, questions asked of its search."""

import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from claude_mem_driver import agent
from claude_mem_driver.errors import Degraded
from claude_mem_driver.log import Dropped, Kept, outcome, search_failed
from claude_mem_driver.place import Place, endpoint
from claude_mem_driver.settings import ENDPOINTS, Settings
from claude_mem_driver.store import Observation, Store
from claude_mem_driver.watched import Watched, let_go
from claude_mem_driver.worker import Worker

READ_PAGES = "Please read the pages of this vault, one after another."
READ_NOTE = "Please read {name}, my note of today, and keep in mind what it says."
DONE = "I have read {what}."
EVER = "2020-01-01"
"""Without a first day the search leaves out what is older than 90 days."""
QUIET_S = 120.0
"""How long the vector search may take for one more observation."""
SETTLING_S = 0.2
"""Between two looks at whether it has."""
_SESSIONS = uuid.UUID("5f2b6f0c-6a55-4f0e-9a8e-3c1c0c7d4f11")
"""Under which this driver's own sessions are numbered: the same ids in every run."""


class Memory:
    """A running claude-mem.

    Args:
        place: where it lies.
        env: the driver's own environment.
        settings: what it was told.
    """

    def __init__(self, place: Place, env: Mapping[str, str], settings: Settings) -> None:
        self._place = place
        self._options = settings.options
        self._settings = settings
        self._door = endpoint(env)
        self._environment = place.environment(env, settings)
        place.prepare(env, settings)
        self.worker = Worker(place, self._environment)
        self._store = Store(place.data)
        self._sessions = 0
        self._names: set[str] = set()
        self.holds = False
        """Whether everything that was put in is there, and there is something."""

    # ------------------------------------------------------------ putting in

    def index(self, pages: Mapping[str, str]) -> dict[str, Any]:
        """Have every page read; each has its observation when this returns.

        Raises:
            DriverError: one has none, or the vector search lacks one.
        """
        self.holds = False
        before = datetime.now(UTC)
        self._write(pages)
        names = list(pages)
        size = self._options.session_pages
        batches = [names[start : start + size] for start in range(0, len(names), size)]
        summaries = 0
        for batch in batches:
            if self._options.mode == ENDPOINTS:
                summaries += self._watched(batch, pages)
            else:
                summaries += self._whole(batch)
        self.settle()
        taken = self._taken(names)
        see_clock(self._store.observations(), before)
        self.holds = True
        return {"sessions": len(batches), "summaries": summaries, **taken}

    def deposit(self, name: str, text: str) -> dict[str, Any]:
        """Have a note read, in a session of its own that asks for it and ends.

        Raises:
            DriverError: it has no observation, or one of another day.
        """
        self.holds = False
        self._write({name: text})
        before = datetime.now(UTC)
        session = self._next()
        session.begin(READ_NOTE.format(name=name))
        kept = session.read(name, text)
        summary = session.end(DONE.format(what=name))
        self.settle()
        noted = self._store.observations(kept.observations)
        see_clock(noted, before)
        self.holds = True
        return {"observations": len(noted), "summaries": int(summary is not None)}

    def settle(self) -> None:
        """Wait until the worker has nothing left to do and everything can be found.

        Raises:
            Degraded: the vector search lacks something.
        """
        deadline, fewest = time.monotonic() + QUIET_S, None
        while (busy := self._busy()) or (lacking := self._store.unfindable()):
            left = None if busy else len(lacking)
            if left is not None and (fewest is None or left < fewest):
                # It embeds one observation after another, however many there are.
                deadline, fewest = time.monotonic() + QUIET_S, left
            failed = search_failed(self.worker.lines())
            if failed or time.monotonic() > deadline:
                what = "the worker is not through" if busy else f"it lacks {left} of them"
                why = failed or f"nothing new within {QUIET_S:g} s"
                raise Degraded(f"the vector search does not have every observation: {what}: {why}")
            time.sleep(SETTLING_S)

    def count(self) -> dict[str, int]:
        """What there is."""
        observations, summaries = self._store.count()
        return {"observations": observations, "summaries": summaries}

    # ------------------------------------------------------------ asking

    def search(self, question: str, limit: int) -> tuple[Observation, ...]:
        """claude-mem's own search for observations, the best first.

        Raises:
            Degraded: it was answered without the vector search, or not at all.
        """
        self.worker.lines()
        found = self.worker.get(
            "/api/search",
            query=question,
            type="observations",
            format="json",
            limit=limit,
            dateStart=EVER,
        )
        if why := search_failed(self.worker.lines()):
            raise Degraded(f"the search went on without its vectors: {why}")
        rows = found.get("observations")
        if not isinstance(rows, list):
            raise Degraded(f"a search brought no observations back: {str(found)[:300]}")
        return tuple(map(Observation.of, rows))

    def pages_of(self, observation: Observation) -> list[str]:
        """The pages it was made from, as they were put in."""
        return [name for name in observation.names(self._place.vault) if name in self._names]

    def files_of(self, observation: Observation) -> tuple[str, ...]:
        """All it says it was made from."""
        return observation.names(self._place.vault)

    # ------------------------------------------------------------ what that takes

    def _write(self, pages: Mapping[str, str]) -> None:
        for name, text in pages.items():
            file = self._place.vault / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")
            self._names.add(name)

    def _next(self) -> Watched:
        self._sessions += 1
        number = str(uuid.uuid5(_SESSIONS, str(self._sessions)))
        return Watched(self.worker, self._place, number, self._options.page_deadline_s)

    def _watched(self, names: Sequence[str], pages: Mapping[str, str]) -> int:
        """A session that reads some pages, over the plugin's endpoints; how often it was summed
        up."""
        session = self._next()
        session.begin(READ_PAGES)
        for name in names:
            session.read(name, pages[name])
        return int(session.end(DONE.format(what=f"{len(names)} pages")) is not None)

    def _whole(self, names: Sequence[str]) -> int:
        """The same by Claude Code itself."""
        self.worker.lines()
        _, before = self._store.count()
        session = agent.run(
            self._place,
            self._environment,
            self._door,
            self._settings.session,
            names,
            self._options.page_deadline_s * len(names),
        )
        deadline = time.monotonic() + self._options.page_deadline_s
        while True:
            busy = self._busy()
            for came in self._answers():
                if isinstance(came, Dropped) and not came.prose:
                    raise came.error("the observer lost what it was to note")
            if not busy:
                break
            if time.monotonic() > deadline:
                raise Degraded("the observer is still busy long after its session")
            time.sleep(SETTLING_S)
        let_go(self.worker, self._place, self._store.session(session))
        _, after = self._store.count()
        return after - before

    def _answers(self) -> Iterator[Kept | Dropped]:
        for line in self.worker.lines():
            if line.session is not None and (came := outcome(line)) is not None:
                yield came

    def _busy(self) -> bool:
        now = self.worker.get("/api/processing-status")
        return bool(now.get("isProcessing") or now.get("queueDepth"))

    def _taken(self, names: Sequence[str]) -> dict[str, Any]:
        """What became of the pages.

        Raises:
            Degraded: of one nothing was noted.
        """
        noted = self._store.observations()
        of = {one.id: one.names(self._place.vault) for one in noted}
        read = {name for files in of.values() for name in files}
        if missing := [name for name in names if name not in read]:
            raise Degraded(f"no observation was made of {', '.join(missing[:5])} ({len(missing)})")
        several = sum(len(files) > 1 for files in of.values())
        none = sum(not files for files in of.values())
        warnings = []
        if several:
            warnings.append(
                f"{several} of {len(noted)} observations name several files: the first of them is"
                " cited first"
            )
        if none:
            warnings.append(f"{none} of {len(noted)} observations name no file: none cites a page")
        return {
            "pages": len(names),
            "observations": len(noted),
            "of_several_files": several,
            "of_no_file": none,
            **({"warnings": warnings} if warnings else {}),
        }


def see_clock(noted: Sequence[Observation], before: datetime) -> None:
    """See that what was stored bears the day of this process.

    Raises:
        Degraded: it does not, so that no day of it can be trusted.
    """
    first, last = before.date(), (datetime.now(UTC) + timedelta(seconds=1)).date()
    for one in noted:
        if not first <= one.day <= last:
            raise Degraded(
                f"an observation of {first} was stored as of {one.day}: claude-mem does not see"
                " the day of the run"
            )
