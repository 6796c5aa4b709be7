"""The live arm: a provider, over the network, with the key the system never sees."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp

from runner.gateway import chat
from runner.gateway.arms import (
    MOST_OF_AN_ERROR,
    Asked,
    BatchAsked,
    Batcher,
    Pending,
    ProviderFailed,
    Reply,
    pieces,
)
from runner.gateway.config import GatewayConfig
from runner.gateway.egress import Egress, EgressRefused, Endpoint
from runner.gateway.refusal import Refusal
from runner.gateway.request import BATCHES_PATH, COUNT_PATH
from runner.model import Ending, Outcome, Usage

FORWARDED = frozenset(
    {"accept", "anthropic-beta", "anthropic-version", "user-agent", "x-app", "x-session-id"}
)
"""Headers of a client that reach the provider; with those that begin as below. Neither keys nor
cookies, nor what a proxy on the way would read."""
FORWARDED_PREFIXES = ("x-stainless-",)
PASSED_ON = frozenset(
    {
        "content-type",
        "request-id",
        "x-request-id",
        "retry-after",
        "retry-after-ms",
        "x-should-retry",
    }
)
"""Headers of a provider that reach the client; with those that begin as below."""
PASSED_ON_PREFIXES = ("anthropic-ratelimit-",)
VERSION = "2023-06-01"
LINGER_S = 0.25
"""How long the end of a reply whose answer is complete may take, so that its connection lives."""


class LiveArm:
    """Calls a provider.

    Args:
        config: keys, and how they are sent.
        egress: the way out.
    """

    def __init__(self, config: GatewayConfig, egress: Egress) -> None:
        self._config = config
        self._egress = egress
        self.batches: Batcher | None = LiveBatches(self)

    def take(self, asked: Asked) -> Pending:
        """Find where the call goes."""
        self._endpoint(asked.request.path)
        return _Live(self, asked)

    async def count_tokens(self, asked: Asked) -> Reply:
        """Ask the provider."""
        body = asked.request.plain
        return await self.send("POST", COUNT_PATH, asked.request.headers, body, asked.query)

    def totals(self) -> dict[str, Any]:
        """Nothing to add."""
        return {}

    async def close(self) -> None:
        """Let go of every connection."""
        await self._egress.close()

    async def send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        query: str = "",
    ) -> Reply:
        """Send a request and wait for the head of its reply.

        Raises:
            Refusal: it must not leave.
            ProviderFailed: there is no reply.
        """
        endpoint = self._endpoint(path)
        url = endpoint.url("/chat/completions" if path == chat.PATH else path, query)
        try:
            response = await self._egress.request(method, url, self._headers(path, headers), body)
        except EgressRefused as problem:
            message = f"the gateway does not go there: {problem}"
            ending = Ending(outcome=Outcome.ERRORED, kind="egress", detail=message)
            raise Refusal("egress", message, ending=ending) from problem
        except (aiohttp.ClientError, TimeoutError, OSError) as problem:
            raise _failed(problem) from problem
        return await self._reply(response)

    def _endpoint(self, path: str) -> Endpoint:
        if path != chat.PATH:
            return self._egress.anthropic
        if self._egress.openai is None:
            message = "no endpoint that speaks /v1/chat/completions was given"
            raise Refusal("unknown_path", message, status=404)
        return self._egress.openai

    def _headers(self, path: str, headers: Mapping[str, str]) -> dict[str, str]:
        sent = {
            name: value
            for name, value in headers.items()
            if name in FORWARDED or name.startswith(FORWARDED_PREFIXES)
        }
        # The provider's bytes are metered as they pass, so they must come as they are.
        sent |= {"content-type": "application/json", "accept-encoding": "identity"}
        if path == chat.PATH:
            if self._config.openai_key:
                sent["authorization"] = f"Bearer {self._config.openai_key.get_secret_value()}"
            return sent
        sent.setdefault("anthropic-version", VERSION)
        if self._config.key:
            key = self._config.key.get_secret_value()
            if self._config.key_as == "bearer":
                sent["authorization"] = f"Bearer {key}"
            else:
                sent["x-api-key"] = key
        return sent

    async def _reply(self, response: aiohttp.ClientResponse) -> Reply:
        headers = {
            name: value
            for name, value in ((name.lower(), value) for name, value in response.headers.items())
            if name in PASSED_ON or name.startswith(PASSED_ON_PREFIXES)
        }
        if "x-request-id" in headers:
            headers.setdefault("request-id", headers["x-request-id"])
        reply = Reply(response.status, headers, _chunks(response))

        async def close() -> None:
            if not response.content.at_eof():
                with contextlib.suppress(aiohttp.ClientError, OSError, TimeoutError):
                    async with asyncio.timeout(LINGER_S):
                        while await response.content.readany():
                            pass
            if response.content.at_eof():
                response.release()
            else:
                response.close()

        reply.close = close
        if response.status >= 400:
            # Some providers repeat the key they do not like.
            body = bytearray()
            async for chunk in reply.chunks:
                body += chunk
                if len(body) > MOST_OF_AN_ERROR:
                    break
            reply.chunks = pieces(self._without_keys(bytes(body)))
        return reply

    def _without_keys(self, body: bytes) -> bytes:
        for secret in (self._config.key, self._config.openai_key):
            if secret is not None and secret.get_secret_value():
                body = body.replace(secret.get_secret_value().encode(), b"[the key]")
        return body


class LiveBatches:
    """Batches at the provider."""

    def __init__(self, arm: LiveArm) -> None:
        self._arm = arm

    async def create(self, batch: BatchAsked) -> Reply:
        """Hand a batch in."""
        return await self._arm.send("POST", BATCHES_PATH, batch.headers, batch.body, batch.query)

    async def state(self, batch_id: str, headers: Mapping[str, str]) -> Reply:
        """How far it is."""
        return await self._arm.send("GET", f"{BATCHES_PATH}/{batch_id}", headers)

    async def results(self, batch_id: str, headers: Mapping[str, str]) -> Reply:
        """What came of it, once it has ended."""
        # Never the address the provider names: it is known already, and this is a fixed place.
        return await self._arm.send("GET", f"{BATCHES_PATH}/{batch_id}/results", headers)

    async def cancel(self, batch_id: str, headers: Mapping[str, str]) -> Reply:
        """End it early."""
        return await self._arm.send("POST", f"{BATCHES_PATH}/{batch_id}/cancel", headers, b"")


class _Live:
    def __init__(self, arm: LiveArm, asked: Asked) -> None:
        self._arm = arm
        self._asked = asked

    @property
    def known(self) -> Usage | None:
        return None

    async def send(self, max_tokens: int) -> Reply:
        request = self._asked.request
        body = request.sent(max_tokens)
        return await self._arm.send("POST", request.path, request.headers, body, self._asked.query)


async def _chunks(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    try:
        async for chunk in response.content.iter_any():
            yield chunk
    except (aiohttp.ClientError, TimeoutError, OSError) as problem:
        raise _broken(problem) from problem


def _failed(problem: Exception) -> ProviderFailed:
    """Why there is no reply, and whether the call may have been taken all the same."""
    told = f"the provider was not reached: {_named(problem)}"
    match problem:
        case aiohttp.ClientHttpProxyError():
            told = f"the proxy answered {problem.status}"
            return ProviderFailed("proxy", told, billed=False)
        case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError():
            return ProviderFailed("connect", told, billed=False)
        case _:
            return _broken(problem)


def _broken(problem: Exception) -> ProviderFailed:
    if isinstance(problem, TimeoutError):
        told = "the provider said nothing for too long"
        return ProviderFailed("timeout", told, status=504, billed=True)
    return ProviderFailed("cut", f"the provider broke off: {_named(problem)}", billed=True)


def _named(problem: Exception) -> str:
    return f"{type(problem).__name__}: {problem}"[:300]
