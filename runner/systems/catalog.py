"""Every system the bench can measure: what its folder under ``images`` says of it."""

import importlib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, JsonValue, ValidationError

from runner import paths
from runner.errors import UsageError
from runner.model import ImageTable, Noun, Store

FILE = "system.toml"

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
    reader: str
    """Where its reader is, as ``module:attribute``."""
    wire: str
    """Where its wire is, as ``module:attribute``; only the gateway loads it."""

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

    def read(self, snapshot: Path) -> Store:
        """Read a snapshot with the system's own reader.

        Args:
            snapshot: the folder the snapshot was unpacked into; it is not changed.

        Raises:
            SandboxError: the snapshot is hostile or cannot be read.
        """
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


def names() -> tuple[str, ...]:
    """Every system there is, in alphabetical order. One that has presets is measured by theirs."""
    found = [_parse(file) for file in sorted(paths.images().glob(f"*/{FILE}"))]
    return tuple(sorted(name for system in found for name in (system.presets or (system.name,))))


def load(name: str, version: str | None = None) -> System:
    """The system of that name.

    Args:
        name: the name of its folder.
        version: which of its versions; none for its default.

    Raises:
        UsageError: there is no such system, or not in that version, or what its folder says is
            wrong.
    """
    system = _find(name)
    known_versions = (system.version, *system.versions)
    if version is None or version == system.version:
        return system
    if version not in known_versions:
        raise UsageError(
            f"{name} cannot be run in version {version!r}.",
            hint=f"There are: {', '.join(known_versions)}.",
        )
    others = tuple(other for other in known_versions if other != version)
    return system.model_copy(update={"version": version, "versions": others})


def _find(name: str) -> System:
    found = [_parse(file) for file in sorted(paths.images().glob(f"*/{FILE}"))]
    for system in found:
        if system.name == name and not system.presets:
            return system
        if name in system.presets:
            return _preset(system, name)
    raise UsageError(
        f"There is no system {name!r}.", hint=f"There are: {', '.join(names()) or 'none'}."
    )


def _preset(system: System, name: str) -> System:
    preset = system.presets[name]
    options = {
        key: option.model_copy(update={"default": preset.options.get(key, option.default)})
        for key, option in system.options.items()
    }
    return system.model_copy(
        update={
            "name": name,
            "title": preset.title,
            "about": preset.about,
            "capabilities": preset.capabilities,
            "options": options,
            "presets": {},
            "folder": system.name,
            "model": preset.model or system.model,
        }
    )


def load_all() -> tuple[System, ...]:
    """Every system there is.

    Raises:
        UsageError: what a folder says is wrong.
    """
    return tuple(load(name) for name in names())


def _parse(file: Path) -> System:
    try:
        raw: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
        system = System.model_validate(raw)
    except (OSError, ValueError, ValidationError) as error:
        raise UsageError(f"{file} describes no system: {error}") from error
    if chosen := {"folder", "model"} & raw.keys():
        raise UsageError(f"{file} sets {chosen.pop()}, which is not said there.")
    models = system.image_table.models
    system = system.model_copy(update={"model": models[0] if models else None})
    if system.name != file.parent.name:
        raise UsageError(f"{file} names the system {system.name!r}, its folder another.")
    for what, spec in (("reader", system.reader), ("wire", system.wire)):
        module, _, attribute = spec.partition(":")
        # A stranger's folder must not choose what the bench imports.
        if not module.startswith("runner.systems.") or not attribute.isidentifier():
            raise UsageError(f"{file}: the {what} is not runner.systems.MODULE:NAME.")
    for key, purpose in (("ingestion", system.ingestion), ("reading", system.reading)):
        if purpose is not None and purpose not in system.purposes:
            raise UsageError(f"{file}: {key}: {purpose!r} is none of its purposes.")
    for preset_name, preset in system.presets.items():
        if preset.model is not None and preset.model not in models:
            raise UsageError(
                f"{file}: the preset {preset_name} wants the model {preset.model!r}.",
                hint=f"There are: {', '.join(models) or 'none'}.",
            )
        for key, value in preset.options.items():
            if key not in system.options or not system.options[key].fits(value):
                raise UsageError(f"{file}: the preset {preset_name} sets {key} to {value!r}.")
    for option_name, option in system.options.items():
        if not option.fits(option.default):
            raise UsageError(f"{file}: the default of {option_name} is no {option.type}.")
    return system
