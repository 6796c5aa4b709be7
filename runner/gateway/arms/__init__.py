"""What answers a model call: scripted tables, a live provider, a recording or a replay of one.

Whatever the arm, an answer is what a provider would have sent: a status, headers, and bytes that
come as they come. The door meters those bytes itself, so that every arm is metered, priced and
held to its ceiling in the same way.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from runner.gateway.cassette import key_of
from runner.gateway.request import BATCHES_PATH, ModelRequest
from runner.model import Usage

MOST_OF_AN_ERROR = 1 << 20
"""How many bytes of a provider's error are read."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call as the door knows it."""

    request: ModelRequest
    purpose: str
    step: str
    canonical: bytes
    """The request without what differs from call to call."""
    query: str = ""
    """What followed the path."""

    @property
    def key(self) -> str:
        """What it is recorded under."""
        return key_of(self.request.path, self.request.stream, self.canonical)


async def _nothing() -> None:
    return None


@dataclass(slots=True)
class Reply:
    """A provider's answer on its way."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case; only those that may be passed on."""
    chunks: AsyncIterator[bytes]
    """The body as it comes; :class:`ProviderFailed` where it breaks off."""
    source: str | None = None
    """Where it came from, when it is no live model's."""
    close: Callable[[], Awaitable[None]] = _nothing
    """Lets go of it, read to its end or not."""
    written: Callable[[], None] = lambda: None
    """Called once the call's line is in the ledger."""

    @property
    def content_type(self) -> str:
        """Without parameters, in lower case."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class ProviderFailed(Exception):
    """There is no answer, or not all of one.

    Attributes:
        kind: for the ledger: ``connect``, ``timeout``, ``cut`` ....
        message: for the client and whoever reads the ledger.
        status: of the HTTP reply the client gets.
        billed: whether the provider may have taken the call, so that it must count as spent.
        headers, body: the provider's own reply, where there is one.
        request_id: as its line in the ledger has it.
        written: called once the call's line is in the ledger.
    """

    def __init__(self, kind: str, message: str, *, status: int = 502, billed: bool) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.billed = billed
        self.request_id = "req_none"
        self.headers: dict[str, str] = {}
        self.body: bytes | None = None
        self.written: Callable[[], None] = lambda: None


class Pending(Protocol):
    """A call an arm has taken on and not yet made."""

    @property
    def known(self) -> Usage | None:
        """What the answer is known to take; none before a live model has answered."""
        ...

    async def send(self, max_tokens: int) -> Reply:
        """Make the call, with what the money allows.

        Raises:
            ProviderFailed: when there is no answer.
            Refusal: when the call must not leave.
        """
        ...


@dataclass(frozen=True, slots=True)
class BatchAsked:
    """A batch of calls as the door knows it."""

    headers: Mapping[str, str]
    query: str
    body: bytes
    """As it is sent."""
    requests: tuple[str, ...]
    """The ids the client gave its requests, in their order."""
    canonical: bytes
    """The requests without what differs from call to call, their ids included."""
    purpose: str
    model: str
    step: str

    @property
    def key(self) -> str:
        """What it is recorded under."""
        return key_of(BATCHES_PATH, False, self.canonical)


class Batcher(Protocol):
    """Something that answers batches of model calls; each raises as :class:`Pending` does."""

    async def create(self, batch: BatchAsked) -> Reply:
        """Hand a batch in."""
        ...

    async def state(self, batch_id: str, headers: Mapping[str, str]) -> Reply:
        """How far it is."""
        ...

    async def results(self, batch_id: str, headers: Mapping[str, str]) -> Reply:
        """What came of it, once it has ended."""
        ...

    async def cancel(self, batch_id: str, headers: Mapping[str, str]) -> Reply:
        """End it early."""
        ...


class Arm(Protocol):
    """Something that answers model calls."""

    batches: Batcher | None
    """None where batches are not answered."""

    def take(self, asked: Asked) -> Pending:
        """Take a call on.

        Raises:
            Refusal: when it is known already that nothing will answer it.
        """
        ...

    async def count_tokens(self, asked: Asked) -> Reply:
        """Count the tokens of a call that is not made.

        Raises:
            ProviderFailed, Refusal: as for a call.
        """
        ...

    def totals(self) -> dict[str, Any]:
        """What the arm has to add to the run's totals."""
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...


async def pieces(*bodies: bytes) -> AsyncIterator[bytes]:
    """A body that is there already."""
    for body in bodies:
        yield body
