"""What the bench knows of a system before it starts it."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, JsonValue

from runner.errors import UnreadableStore, UsageError
from runner.gateway.wire.rules import WireRules
from runner.model import ImageTable, Noun, Store

_KINDS: Mapping[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "table": (dict,),
}


Capability = Literal["claims", "statements", "recall", "scores", "refuses", "probes", "told"]
"""``statements``: what its store holds has no status; ``recall``: it answers questions with pages;
``scores``: and says how well each fits; ``refuses``: and says when it holds nothing; ``told``: it
is given the right answers."""


class Option(Noun):
    """One setting a system takes."""

    type: Literal["boolean", "integer", "number", "string", "table"]
    default: JsonValue
    about: str

    def fits(self, value: JsonValue) -> bool:
        """Whether a value is of the option's type; a truth value is no number."""
        if isinstance(value, bool):
            return self.type == "boolean"
        return isinstance(value, _KINDS[self.type])


class Preset(Noun):
    """A system of its own name that is another one with some options set."""

    title: str
    about: str
    options: dict[str, JsonValue] = Field(default_factory=dict)
    capabilities: tuple[Capability, ...]
    model: str | None = None
    """What is baked into its image; none for the image's default."""


class Ingesting(Noun):
    """What bounds the model calls of a system that calls a model while it indexes pages."""

    calls: int = Field(default=1, ge=1)
    """About a page, at most, tries included."""
    beside: int = Field(default=0, ge=0)
    """Beside those about pages, at most."""
    prompt_bytes: int = Field(ge=0)
    """Of a call beside the page and what was said before it, at most."""
    reply_tokens: int = Field(ge=1)
    """Of a reply, at most."""
    conversation: bool = False
    """Whether a call holds all that was said before it."""
    context_tokens: int = Field(default=1_000_000, ge=1)
    """Of a call, at most: what a model can be told at all."""


class Export(Noun):
    """How a driver is asked what a snapshot holds; the table ``[export]``."""

    deadline_s: float = Field(default=120.0, gt=0, le=3600)
    """How long the driver may take to tell it, from the request on."""


class System(Noun):
    """What the bench knows of a system before it starts it: the content of a ``system.toml``."""

    schema_version: Literal[1] = Field(alias="schema")
    name: str
    """The name of its folder, and the one it is asked for by."""
    title: str
    version: str
    """The version that is run: its own default, or another that was asked for."""
    versions: tuple[str, ...] = ()
    """Other versions that its image can be built of."""
    licence: str
    """An SPDX identifier."""
    about: str
    verbs: tuple[str, ...]
    """Verbs its driver answers."""
    capabilities: tuple[Capability, ...]
    store: str
    """The file or folder of a snapshot that its reader reads."""
    purposes: dict[str, str]
    """What it calls a model for: names, each with what the call does."""
    ingestion: str | None = None
    """The purpose it calls a model for while it indexes pages; none where it calls none then."""
    reading: str | None = None
    """The purpose of an agent that goes from page to page itself; none where there is none."""
    ingesting: Ingesting | None = None
    """What those calls come to at most; none where nobody wrote it down."""
    options: dict[str, Option] = Field(default_factory=dict)
    """Settings it takes, by name."""
    presets: dict[str, Preset] = Field(default_factory=dict)
    """Systems that are this one with some options set, by name."""
    folder: str = ""
    """The folder of its image, where it is a preset of another system."""
    image_table: ImageTable = Field(default_factory=ImageTable, alias="image")
    """What there is to know of its image."""
    model: str | None = None
    """What is baked into its image; none where nothing is to choose."""
    reader: str | None = None
    """Where its reader is, as ``module:attribute``. A system with a folder of its own has none:
    its driver reads its store, by the verb ``export``."""
    wire: str | WireRules = WireRules()
    """Where its wire is, as ``module:attribute``; only the gateway loads it. Of a system with a
    folder of its own: the rules that its model calls are read by."""
    export: Export | None = None
    """How a system with a folder of its own is asked what its store holds."""
    home: Path | None = None
    """The folder of a system that is none of the bench's; found, never said in it."""
    described: str = ""
    """Digest of the ``system.toml`` of such a system; found, never said in it."""

    @property
    def image(self) -> str:
        """The name of its image."""
        return self.folder or self.name

    @property
    def redistributable(self) -> bool:
        """Whether its image may be handed on to others."""
        return self.image_table.redistributable

    @property
    def restriction(self) -> str:
        """Why its image may not be handed on; empty where it may."""
        return " ".join(self.image_table.why.split())

    @property
    def outside(self) -> bool:
        """Whether it came with a folder of its own, so that nothing of it runs in the bench."""
        return self.home is not None

    @property
    def exports(self) -> bool:
        """Whether its own driver says what its store holds."""
        return self.outside and "export" in self.verbs

    def read(self, snapshot: Path) -> Store:
        """Read a snapshot with the system's own reader.

        Args:
            snapshot: the folder the snapshot was unpacked into; it is not changed.

        Raises:
            SandboxError: the snapshot is hostile or cannot be read; or only its driver can.
        """
        if self.reader is None:
            if self.exports:
                raise UnreadableStore(
                    f"{self.name} reads its store itself, in a container: no part of the bench can."
                )
            return Store(unmapped=("Nobody reads this store: its system does not export.",))
        module, _, attribute = self.reader.partition(":")
        reader = getattr(importlib.import_module(module), attribute)
        store = reader(snapshot)
        assert isinstance(store, Store)
        return store

    def settle(self, options: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """The options in force: the system's own, with the given ones in their place.

        Raises:
            UsageError: it takes no such option, or not a value of that type.
        """
        for name, value in options.items():
            option = self.options.get(name)
            if option is None:
                known = ", ".join(self.options) or "none"
                raise UsageError(f"{self.name} takes no option {name}.", hint=f"It takes: {known}.")
            if not option.fits(value):
                raise UsageError(f"{self.name} takes a {option.type} as {name}, not {value!r}.")
        return {name: option.default for name, option in self.options.items()} | dict(options)
