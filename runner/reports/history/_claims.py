"""Claims as files: how each is called through a whole run, and what its file says."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from runner.model import Claim, Store
from runner.plain import plain
from runner.reports.history._words import line, slug

FOLDER = "claims"


class Names:
    """What every claim of a run is called, from its first appearance on.

    Ids are drawn at random, so that they would tell a run made again from the first: a claim is
    called by its place in the order in which claims appeared, and its first words.
    """

    def __init__(self, stores: Sequence[Store]) -> None:
        first: dict[str, Claim] = {}
        for store in stores:
            new = {claim.id: claim for claim in store.claims if claim.id not in first}
            first |= {claim.id: claim for claim in sorted(new.values(), key=_order)}
        width = max(2, len(str(len(first))))
        self._numbers = {id_: f"{number:0{width}}" for number, id_ in enumerate(first, 1)}
        self._files = {
            id_: f"{self._numbers[id_]}-{slug(claim.text) or 'claim'}.txt"
            for id_, claim in first.items()
        }

    def number(self, id_: str) -> str:
        """How a message refers to a claim; one that no store held goes by its id."""
        return self._numbers.get(id_) or line(id_, 60)

    def file(self, id_: str) -> str:
        """The name of a claim's file; one that no store held goes by its id."""
        return self._files.get(id_) or line(id_, 60)

    def path(self, id_: str) -> str:
        """Where a claim's file lies; ``KeyError`` for one that no store held."""
        return f"{FOLDER}/{self._files[id_]}"


def _order(claim: Claim) -> tuple[str, ...]:
    """By what they say, which is the same when a run is made again; ids only between twins."""
    told = (day(claim.asserted_at), *claim.sources, claim.text, str(claim.valid_until))
    return (str(claim.restatement), *told, claim.id)


def day(moment: datetime | None) -> str:
    """The day of a moment, in UTC. The time of day is another each time a run is made."""
    if moment is None:
        return ""
    return str((moment.astimezone(UTC) if moment.tzinfo else moment).date())


def files(store: Store, names: Names, notes: Mapping[str, str]) -> dict[str, bytes]:
    """Every claim of a store as a file.

    Args:
        store: what was read.
        names: of the run's claims.
        notes: the paths of the notes, by their names.

    Returns:
        What each file holds, by its path.
    """
    return {
        names.path(claim.id): "\n".join((*_lines(claim, names, notes), "")).encode()
        for claim in store.claims
    }


def _lines(claim: Claim, names: Names, notes: Mapping[str, str]) -> Iterator[str]:
    """The text, each line of it marked, so that it cannot pass for a field; then the fields."""
    yield from (f"> {each}".rstrip() for each in plain(claim.text).strip("\n").split("\n"))
    yield ""
    yield f"status: {line(claim.status)}"
    fields = {
        "reason": line(claim.reason or ""),
        "retired": day(claim.retired_at),
        "retired by": names.file(claim.retired_by) if claim.retired_by else "",
        "restatement": "yes" if claim.restatement else "",
        "anchor": names.file(claim.anchor) if claim.anchor else "",
    }
    yield from (f"{field}: {value}" for field, value in fields.items() if value)
    yield from (f"source: {notes.get(source) or line(source)}" for source in claim.sources)
    held = {
        "asserted": day(claim.asserted_at),
        "valid from": str(claim.valid_from or ""),
        "valid until": str(claim.valid_until or ""),
    }
    yield from (f"{field}: {value}" for field, value in held.items() if value)
