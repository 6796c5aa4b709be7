"""Options of runs that call a provider, and what they come to."""

import enum
import functools
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer
from pydantic import SecretStr

from runner.errors import UsageError
from runner.gateway.config import ANTHROPIC, WayOut
from runner.keys import ANTHROPIC as ANTHROPIC_KEY
from runner.keys import OPENAI as OPENAI_KEY
from runner.keys import SECRETS, find_key
from runner.runs.provider import CALLS_A_PROVIDER, Provider

SECRET_CA = SECRETS / "ca"
"""Where Compose puts the certificates that were named to it."""
PEM = "-----BEGIN CERTIFICATE-----"


class KeyAs(enum.StrEnum):
    """The header a key is sent in."""

    X_API_KEY = "x-api-key"
    BEARER = "bearer"


KeyFile = Annotated[
    Path | None,
    typer.Option(help="A file with the provider's key (else ANTHROPIC_API_KEY, or its _FILE)."),
]
KeyAsOption = Annotated[KeyAs | None, typer.Option(help="The header the key is sent in.")]
AnthropicUrl = Annotated[
    str | None,
    typer.Option(
        envvar="BENCH_ANTHROPIC_URL",
        metavar="URL",
        help=f"The only endpoint /v1/messages goes to.  [default: {ANTHROPIC}]",
    ),
]
OpenaiUrl = Annotated[
    str | None,
    typer.Option(
        envvar="BENCH_OPENAI_URL",
        metavar="URL",
        help="The only endpoint /v1/chat/completions goes to, with its /v1; none refuses them.",
    ),
]
Proxy = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="The gateway's own proxy (else HTTPS_PROXY, which may hold a password).",
    ),
]
Authority = Annotated[
    Path | None,
    typer.Option(
        "--ca", help="Certificates to trust beside the usual (else BENCH_CA, SSL_CERT_FILE)."
    ),
]
AllowPrivate = Annotated[
    list[str] | None,
    typer.Option(metavar="HOST", help="A host of an endpoint that may have a private address."),
]
AllowTool = Annotated[
    list[str] | None,
    typer.Option(metavar="TYPE", help="A tool on the provider's side that may be used."),
]
AllowMedia = Annotated[
    list[str] | None,
    typer.Option(metavar="HOST", help="A host from which the provider may fetch media."),
]


@dataclass(frozen=True, slots=True)
class Live:
    """The options as they were typed; see the types above and ``with_live`` below."""

    key_file: Path | None = None
    key_as: KeyAs | None = None
    anthropic_url: str | None = None
    openai_url: str | None = None
    proxy: str | None = None
    ca: Path | None = None
    allow_private: Sequence[str] | None = None
    allow_tool: Sequence[str] | None = None
    allow_media: Sequence[str] | None = None

    def provider(self, arm: str, environ: Mapping[str, str] | None = None) -> Provider:
        """What the gateway of an arm is told. An arm that calls nobody gets no key, and none is
        looked for.

        Raises:
            UsageError: an option that the arm has no use for, no endpoint, no certificate, a
                password on the command line, or a key that cannot be read.
        """
        environ = os.environ if environ is None else environ
        if arm not in CALLS_A_PROVIDER:
            self._refuse_idle(arm)
            return Provider()
        anthropic = self.anthropic_url or ANTHROPIC
        way_out = WayOut(
            anthropic=anthropic,
            openai=self.openai_url,
            proxy=self._proxy(anthropic, environ),
            authority=self._authority(environ),
            allow_private=tuple(self.allow_private or ()),
        )
        _try(way_out)
        return Provider(
            way_out=way_out,
            key=find_key(ANTHROPIC_KEY, environ, file=self.key_file),
            key_as=(self.key_as or KeyAs.X_API_KEY).value,
            openai_key=find_key(OPENAI_KEY, environ) if self.openai_url else None,
            allow_tools=tuple(self.allow_tool or ()),
            allow_media=tuple(self.allow_media or ()),
        )

    def _refuse_idle(self, arm: str) -> None:
        # Those that also come from the environment are there whatever the arm.
        ambient = ("anthropic_url", "openai_url")
        for field in fields(self):
            if field.name not in ambient and getattr(self, field.name):
                option = "--" + field.name.replace("_", "-")
                raise UsageError(f"{option} is of no use with --arm {arm}, which calls nobody.")

    def _proxy(self, endpoint: str, environ: Mapping[str, str]) -> SecretStr | None:
        if self.proxy is not None:
            if "@" in self.proxy:
                raise UsageError(
                    "--proxy must not hold a password: other users see command lines.",
                    hint="Put it in HTTPS_PROXY.",
                )
            return SecretStr(self.proxy)
        given = environ.get("HTTPS_PROXY") or environ.get("https_proxy")
        parts = urlsplit(endpoint)
        if not given or parts.scheme != "https":
            return None
        if _bypassed(parts.hostname or "", environ.get("NO_PROXY") or environ.get("no_proxy")):
            return None
        return SecretStr(given)

    def _authority(self, environ: Mapping[str, str]) -> str | None:
        named = str(self.ca) if self.ca else environ.get("BENCH_CA") or environ.get("SSL_CERT_FILE")
        if not named:
            if not SECRET_CA.exists():
                return None
            named = str(SECRET_CA)
        try:
            text = Path(named).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"The certificates at {named} cannot be read: {error}.") from error
        if not text.strip():
            return None  # what Compose mounts where no file was named
        if PEM not in text:
            raise UsageError(f"{named} holds no certificate in PEM.")
        return text


_OPTIONS: Mapping[str, Any] = {
    "key_file": KeyFile,
    "key_as": KeyAsOption,
    "anthropic_url": AnthropicUrl,
    "openai_url": OpenaiUrl,
    "proxy": Proxy,
    "ca": Authority,
    "allow_private": AllowPrivate,
    "allow_tool": AllowTool,
    "allow_media": AllowMedia,
}


def with_live(command: Callable[..., int]) -> Callable[..., int]:
    """A command that takes the options of a live run as one parameter, ``live``.

    What is typed stays as it was: in the place of that parameter the command line has the options
    themselves.
    """

    @functools.wraps(command)
    def typed(**given: Any) -> int:
        live = Live(**{name: given.pop(name) for name in _OPTIONS})
        return command(live=live, **given)

    parameters: list[inspect.Parameter] = []
    for own in inspect.signature(command).parameters.values():
        if own.name != "live":
            parameters.append(own)
            continue
        parameters += [own.replace(name=name, default=None, annotation=kind)
                       for name, kind in _OPTIONS.items()]  # fmt: skip
    signature = inspect.Signature(parameters, return_annotation=int)
    typed.__signature__ = signature  # type: ignore[attr-defined]
    typed.__annotations__ = {one.name: one.annotation for one in parameters} | {"return": int}
    return typed


def _bypassed(host: str, no_proxy: str | None) -> bool:
    """Whether a host is one that no proxy is to be asked for: named itself, or below a domain."""
    names = [name.strip().lower().lstrip(".") for name in (no_proxy or "").split(",")]
    return any(name and (name == "*" or f".{host}".endswith(f".{name}")) for name in names)


def _try(way_out: WayOut) -> None:
    """Let the gateway's own code judge a way out, before a container is started for it."""
    # Its HTTP client is slow to load, and no other arm needs it.
    from runner.gateway.egress import Egress, EgressRefused

    try:
        Egress(way_out)
    except (ValueError, EgressRefused) as problem:
        raise UsageError(f"The way out cannot be used: {_hushed(problem, way_out)}.") from None


def _hushed(problem: Exception, way_out: WayOut) -> str:
    """A message without the password that a proxy's address may hold."""
    text = str(problem)
    if way_out.proxy is not None:
        text = text.replace(way_out.proxy.get_secret_value(), "the proxy")
        password = urlsplit(way_out.proxy.get_secret_value()).password
        if password and password in text:
            return "the proxy is no http://[user:password@]host:port"
    return text
