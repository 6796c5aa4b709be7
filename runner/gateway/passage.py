"""An answer on its way to the client.

The call is metered as fast as the provider answers, whatever the client does: one that reads
slowly holds up no money, and one that leaves still pays for what it asked for.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping

MOST_WAITING_BYTES = 64 << 20
"""How far a client may fall behind before it is let go."""


class Passage:
    """What a client is given: a status, headers, and a body, whole or piece by piece.

    Attributes:
        status: of the HTTP reply.
        headers: names in lower case.
        body: all of it, where it is known; else the pieces are to be taken.
    """

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes | None = None) -> None:
        self.status = status
        self.headers = dict(headers)
        self.body = body
        self._waiting: list[bytes] = []
        self._size = 0
        self._ended = False
        self._broken = False
        self._left = False
        self._news = asyncio.Event()

    def give(self, piece: bytes) -> None:
        """Hand on a piece; returns at once, and does nothing once the client has left."""
        if not piece or self._left or self._ended:
            return
        self._waiting.append(piece)
        self._size += len(piece)
        if self._size > MOST_WAITING_BYTES:
            self.leave()
            self.end(broken=True)
        self._news.set()

    def end(self, *, broken: bool = False) -> None:
        """Nothing more comes; ``broken`` when the client must see that something is missing."""
        if not self._ended:
            self._ended, self._broken = True, broken
            self._news.set()

    def leave(self) -> None:
        """The client is gone."""
        self._left = True
        self._waiting.clear()

    @property
    def broken(self) -> bool:
        """Whether it ended before its end."""
        return self._broken

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body's pieces, as many at once as have come meanwhile."""
        while True:
            if self._waiting:
                together, self._waiting = b"".join(self._waiting), []
                self._size = 0
                yield together
            elif self._ended:
                return
            else:
                self._news.clear()
                await self._news.wait()
