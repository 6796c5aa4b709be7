"""The container engine's HTTP API, with a deadline on every call.

A client of its own and not the SDK, for what the sandbox stands on: the SDK's timeouts bound
neither attaching nor exec nor archives, its hijacked streams can lose what arrives with the
response header, it ignores the command line client's contexts, and importing it costs a quarter of
a second.
"""

import http.client
import json
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from runner.engine_address import Address, addresses
from runner.errors import CannotStart, EngineLost, SandboxError
from runner.runs.sandbox._transport import Connection, left, open_socket

NEWEST_API = (1, 51)
"""The newest API this client was written for; an older engine is spoken to in its own."""
CALL_S = 30.0
PING_S = 5.0
ANSWER_BYTES = 64 * 1024 * 1024
HEAD_BYTES = 64 * 1024


class EngineRefused(SandboxError):
    """The engine answered, and the answer is no.

    Attributes:
        status: the HTTP status.
        reason: the engine's own words.
    """

    def __init__(self, call: str, status: int, reason: str) -> None:
        super().__init__(f"The container engine refused {call} ({status}): {reason}")
        self.status = status
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine that answered. Safe to use from many threads: a connection a call.

    Attributes:
        address: where it answers.
        api: the API version spoken, such as ``1.41``.
    """

    address: Address
    api: str

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        deadline_s: float = CALL_S,
        missing_ok: bool = False,
    ) -> Any:
        """One call, its JSON answer parsed; none where there is nothing to parse.

        Args:
            method: the HTTP method.
            path: without the API version.
            query: parameters; anything but a string is sent as JSON.
            body: sent as JSON.
            deadline_s: for the whole call.
            missing_ok: answer none where the engine says 404.

        Raises:
            EngineRefused: a status of 400 or more.
            EngineLost: no answer in time, or none that can be understood.
        """
        _, data = self.download(
            method, path, query=query, body=body, deadline_s=deadline_s, missing_ok=missing_ok
        )
        if not data or not data.strip():
            return None
        try:
            return json.loads(data)
        except ValueError as error:
            raise EngineLost(
                f"The container engine answered {method} {path} with no JSON."
            ) from error

    def download(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        archive: bytes | None = None,
        deadline_s: float = CALL_S,
        max_bytes: int = ANSWER_BYTES,
        missing_ok: bool = False,
    ) -> tuple[Mapping[str, str], bytes | None]:
        """One call, its answer as bytes: headers and body. See :meth:`call`.

        What is sent may be an archive (a tar) in place of JSON.

        The body is none where the engine says 404 and that is fine, and is cut at ``max_bytes`` +
        1, so that one that is too long can be told.
        """
        end = time.monotonic() + deadline_s
        call = f"{method} {path}"
        kind = "application/json" if body is not None else None
        kind = "application/x-tar" if archive is not None else kind
        connection = Connection(self.address, end)
        try:
            connection.request(
                method,
                f"/v{self.api}{path}{_query(query)}",
                body=archive if body is None else json.dumps(body),
                headers={} if kind is None else {"Content-Type": kind},
            )
            raw = connection.sock
            raw.settimeout(left(end))
            with connection.getresponse() as response:
                data = bytearray()
                while len(data) <= max_bytes:
                    raw.settimeout(left(end))
                    chunk = response.read1(min(1024 * 1024, max_bytes + 1 - len(data)))
                    if not chunk:
                        break
                    data += chunk
                if response.status == 404 and missing_ok:
                    return {}, None
                if response.status >= 400:
                    raise EngineRefused(call, response.status, _reason(bytes(data)))
                return dict(response.getheaders()), bytes(data)
        except (OSError, http.client.HTTPException) as error:
            raise _lost(call, deadline_s, error) from error
        finally:
            connection.close()

    def hijack(
        self,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        deadline_s: float = CALL_S,
    ) -> tuple[socket.socket, bytes]:
        """A POST that turns its connection into a raw two-way stream.

        Returns:
            The socket, and what already came in behind the response header.

        Raises:
            EngineRefused, EngineLost: as :meth:`call`.
        """
        end = time.monotonic() + deadline_s
        call = f"POST {path}"
        payload = b"" if body is None else json.dumps(body).encode()
        head = (
            f"POST /v{self.api}{path}{_query(query)} HTTP/1.1\r\nHost: engine\r\n"
            "Connection: Upgrade\r\nUpgrade: tcp\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(payload)}\r\n\r\n"
        )
        sock: socket.socket | None = None
        try:
            sock = open_socket(self.address, end)
            sock.sendall(head.encode() + payload)
            got = b""
            while b"\r\n\r\n" not in got:
                sock.settimeout(left(end))
                chunk = sock.recv(4096)
                if not chunk or len(got) > HEAD_BYTES:
                    raise ConnectionError("the connection was closed")
                got += chunk
            header, rest = got.split(b"\r\n\r\n", 1)
            status = int(header.split(b" ", 2)[1])
            if status not in (101, 200):
                sock.settimeout(min(2.0, left(end)))
                raise EngineRefused(call, status, _reason(rest or sock.recv(4096)))
        except (OSError, ValueError, IndexError) as error:
            if sock is not None:
                sock.close()
            raise _lost(call, deadline_s, error) from error
        except BaseException:
            if sock is not None:
                sock.close()
            raise
        return sock, rest


def connect(environ: Mapping[str, str] | None = None, *, ping_s: float = PING_S) -> Engine:
    """The engine of this machine, or the one the user chose.

    Raises:
        CannotStart: none answered; says what was tried.
    """
    tried = []
    for address in addresses(environ):
        try:
            return Engine(address, _ping(address, ping_s))
        except (OSError, http.client.HTTPException, CannotStart) as error:
            tried.append(f"{address.url} ({address.origin}): {error}")
    raise CannotStart(
        f"No container engine answered. Tried: {'; '.join(tried) or 'no socket is there'}.",
        hint="Start one (`systemctl start docker`, or `scripts/bench`, which installs it), join "
        "the group that may use its socket, or set DOCKER_HOST.",
    )


def _ping(address: Address, ping_s: float) -> str:
    """The API version to speak with the engine at this address."""
    connection = Connection(address, time.monotonic() + ping_s)
    try:
        connection.request("GET", "/_ping")
        connection.sock.settimeout(ping_s)
        with connection.getresponse() as response:
            response.read(1024)
            offered = response.getheader("Api-Version") or "1.41"
            if response.status >= 400:
                raise CannotStart(f"it answered {response.status}")
    finally:
        connection.close()
    try:
        major, minor = (int(part) for part in offered.split("."))
    except ValueError as error:
        raise CannotStart(f"it speaks API version {offered!r}") from error
    return ".".join(str(part) for part in min((major, minor), NEWEST_API))


def _query(query: Mapping[str, Any] | None) -> str:
    if not query:
        return ""
    text = {
        key: value if isinstance(value, str) else json.dumps(value) for key, value in query.items()
    }
    return "?" + urlencode(text, quote_via=quote)


def _reason(data: bytes) -> str:
    try:
        return str(json.loads(data)["message"]).strip()
    except (ValueError, KeyError, TypeError):
        return data[:500].decode(errors="replace").strip() or "no reason given"


def _lost(call: str, deadline_s: float, error: Exception) -> EngineLost:
    why = f"within {deadline_s:g} s" if isinstance(error, TimeoutError) else f"({error})"
    return EngineLost(
        f"The container engine did not answer {call} {why}.",
        hint="Is it still running? See `bench doctor`.",
    )
