"""The gateway's own way out: to the endpoints it was told of, at addresses it vetted, no others.

A name is looked up once, here; a connection is made only to an address that came out of it and is
a public one, unless the host was named as allowed to be private. The certificate must be of the
allowed name. A redirect is an answer like any other and is never followed, nothing of the
environment (proxies, ``.netrc``) is read, and no cookie is kept.
"""

import asyncio
import ipaddress
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from runner.gateway.config import WayOut

_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_ODD = re.compile(r"[\\%\s\x00-\x1f]")
_PORTS = {"http": 80, "https": 443}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
MOST_CONNECTIONS = 0
"""No limit of its own: the ceiling and the system's own concurrency are the limit."""

Lookup = Callable[[str, int], Awaitable[list[str]]]
"""Addresses of a host and port."""


class EgressRefused(Exception):
    """The gateway does not go there."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where calls may go: a scheme, a host and a port, exactly; and the path before theirs."""

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, url: str) -> Self:
        """Read ``scheme://host[:port][/path]``.

        Raises:
            ValueError: it is anything else, or written in a way that could be read as two hosts.
        """
        wrong = ValueError(f"{url!r} is no endpoint: write http(s)://host[:port][/path]")
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as problem:
            raise wrong from problem
        host = parts.hostname or ""
        plain = parts.username is None and parts.password is None and not parts.query
        if not plain or parts.fragment or parts.scheme not in _PORTS or _ODD.search(url):
            raise wrong
        if not (_HOST.fullmatch(host) or _address(host)):
            raise wrong
        return cls(parts.scheme, host, port or _PORTS[parts.scheme], parts.path.rstrip("/"))

    def url(self, path: str, query: str = "") -> URL:
        """The address of a path below it."""
        return URL.build(
            scheme=self.scheme,
            host=self.host,
            port=self.port,
            path=self.path + path,
            query_string=query,
        )


class Egress:
    """Makes requests to allowed endpoints. It belongs to one event loop.

    Args:
        way_out: what is allowed, and how it is reached.
        lookup: finds the addresses of a name; the system's own resolver when none.

    Raises:
        ValueError: an endpoint, a proxy or a certificate is none.
        EgressRefused: an endpoint is an address that is not public.
    """

    def __init__(self, way_out: WayOut, lookup: Lookup | None = None) -> None:
        self.anthropic = Endpoint.parse(way_out.anthropic)
        self.openai = Endpoint.parse(way_out.openai) if way_out.openai else None
        private = {_plain(host) for host in way_out.allow_private}
        endpoints = [endpoint for endpoint in (self.anthropic, self.openai) if endpoint]
        self._proxy: URL | None = None
        self._proxy_headers: dict[str, str] = {}
        if way_out.proxy:
            # Apart, as an address is shown in errors.
            whole = URL(way_out.proxy.get_secret_value())
            self._proxy = whole.with_user(None)
            if whole.user is not None:
                login = aiohttp.encode_basic_auth(whole.user, whole.password or "")
                self._proxy_headers["proxy-authorization"] = login
            proxy = Endpoint.parse(str(self._proxy))
            # A proxy of one's own network is nowhere but there; who names it has allowed it. The
            # endpoint's name is then its affair.
            private.add(proxy.host)
            endpoints = [proxy]
        self.guard = _Guard({(at.host, at.port) for at in endpoints}, private, lookup)
        self._allowed = {
            (at.scheme, at.host, at.port) for at in (self.anthropic, self.openai) if at is not None
        }
        self._timeout = aiohttp.ClientTimeout(
            total=None,
            connect=None,
            sock_connect=way_out.connect_timeout_s,
            sock_read=way_out.silence_timeout_s,
        )
        self._tls = _tls(way_out.authority)
        self._opened: aiohttp.ClientSession | None = None

    async def request(
        self, method: str, url: URL, headers: Mapping[str, str], body: bytes | None
    ) -> aiohttp.ClientResponse:
        """Send one request; the reply's body is still to come.

        Raises:
            EgressRefused: it would go to a place that is not allowed.
            aiohttp.ClientError, TimeoutError: there is no reply.
        """
        if (url.scheme, url.host, url.port) not in self._allowed:
            raise EgressRefused(f"{url.scheme}://{url.host}:{url.port} is no allowed endpoint")
        return await self._session().request(
            method,
            url,
            headers=headers,
            data=body,
            allow_redirects=False,
            proxy=self._proxy,
            proxy_headers=self._proxy_headers,
        )

    async def close(self) -> None:
        """Let go of every connection."""
        if self._opened is not None:
            await self._opened.close()

    def _session(self) -> aiohttp.ClientSession:
        if self._opened is None:  # it can be made only where the loop runs
            self._opened = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    resolver=self.guard,
                    socket_factory=self.guard.socket,
                    ssl=self._tls,
                    limit=MOST_CONNECTIONS,
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=self._timeout,
                trust_env=False,
                skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            )
        return self._opened


class _Guard(AbstractResolver):
    """Looks names up, once, and lets no socket be made for any other address."""

    def __init__(
        self, allowed: set[tuple[str, int]], private: set[str], lookup: Lookup | None
    ) -> None:
        self._allowed = allowed
        self._private = private
        self._lookup = lookup or _look_up
        self._vetted: set[tuple[str, int]] = set()
        for host, port in allowed:
            if _address(host):  # nothing to look up, so nobody would ask
                self._vet(host, port, [host])

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        if (host, port) not in self._allowed:
            raise EgressRefused(f"{host}:{port} is no allowed endpoint")
        addresses = await self._lookup(host, port)
        self._vet(host, port, addresses)
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]

    def socket(self, info: Any) -> socket.socket:
        """A socket for an address that was vetted."""
        family, kind, proto, _, address = info
        if (address[0], address[1]) not in self._vetted:
            raise EgressRefused(f"{address[0]}:{address[1]} was not looked up here")
        return socket.socket(family=family, type=kind, proto=proto)

    async def close(self) -> None:
        """Nothing is kept open."""

    def _vet(self, host: str, port: int, addresses: list[str]) -> None:
        if host not in self._private:
            for address in addresses:
                # One that is not public among others that are is no accident either.
                if not is_public(address):
                    raise EgressRefused(
                        f"{host} is at {address}, which is not a public address;"
                        f" name it with --allow-private {host} if that is meant"
                    )
        self._vetted |= {(address, port) for address in addresses}


def is_public(address: str) -> bool:
    """Whether an address is anyone's on the internet, also the one inside an IPv6 address that
    carries an IPv4 one."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = [ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())]
        if ip in _NAT64:
            inner.append(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF))
        carried = [one for one in inner if one is not None]
        if carried:
            return all(is_public(str(one)) for one in carried)
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


async def _look_up(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _plain(host: str) -> str:
    return host.strip("[]").lower()


def _tls(authority: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if authority:
        try:
            context.load_verify_locations(cadata=authority)
        except (ssl.SSLError, ValueError) as problem:
            raise ValueError(f"the certificate authority is no PEM: {problem}") from problem
    return context
