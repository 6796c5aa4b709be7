"""Every system the bench can measure: what its folder says of it.

The bench's own lie under ``images``; one more may lie anywhere (``--system-dir``), and is taken in
by its data alone, see :mod:`runner.systems.outside`.
"""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from runner import paths
from runner.errors import UsageError
from runner.systems import outside
from runner.systems.system import Capability, Export, Ingesting, Option, Preset, System

__all__ = [
    "FILE",
    "Capability",
    "Export",
    "Ingesting",
    "Option",
    "Preset",
    "System",
    "archived",
    "brought",
    "load",
    "load_all",
    "names",
]

FILE = "system.toml"


def names() -> tuple[str, ...]:
    """Every system there is, in alphabetical order. One that has presets is measured by theirs."""
    return tuple(sorted(name for system in _every() for name in _measured(system)))


def brought() -> System | None:
    """The system in the folder that ``--system-dir`` named; none where none was named.

    Raises:
        UsageError: what the folder says is wrong, or clashes with a system of the bench.
    """
    return _brought(_own())


def archived(folder: Path, name: str, version: str) -> System:
    """A system out of a folder with what an archive holds of it, which its image is no part of.

    Raises:
        UsageError: there is no such system, or not in that version, or what is said of it is wrong.
    """
    system = _settled(outside.parse(folder, _taken(_own()), built=False), folder / FILE)
    return _of_version(_named([system], name), version)


def _brought(own: list[System]) -> System | None:
    folder = paths.system_dir()
    if folder is None:
        return None
    return _settled(outside.parse(folder, _taken(own)), folder / FILE)


def _taken(own: list[System]) -> set[str]:
    """Names that no other system can have."""
    taken = {name for system in own for name in (system.name, *system.presets)}
    return taken | {file.parent.name for file in paths.images().glob("*/Dockerfile")} | {"bench"}


def _every() -> list[System]:
    own = _own()
    other = _brought(own)
    return own if other is None else [*own, other]


def _own() -> list[System]:
    return [_parse(file) for file in sorted(paths.images().glob(f"*/{FILE}"))]


def _measured(system: System) -> tuple[str, ...]:
    return tuple(system.presets) or (system.name,)


def load(name: str, version: str | None = None) -> System:
    """The system of that name.

    Args:
        name: the name of its folder.
        version: which of its versions; none for its default.

    Raises:
        UsageError: there is no such system, or not in that version, or what its folder says is
            wrong.
    """
    return _of_version(_named(_every(), name), version)


def _of_version(system: System, version: str | None) -> System:
    known_versions = (system.version, *system.versions)
    if version is None or version == system.version:
        return system
    if version not in known_versions:
        raise UsageError(
            f"{system.name} cannot be run in version {version!r}.",
            hint=f"There are: {', '.join(known_versions)}.",
        )
    others = tuple(other for other in known_versions if other != version)
    return system.model_copy(update={"version": version, "versions": others})


def _named(systems: list[System], name: str) -> System:
    for system in systems:
        if system.name == name and not system.presets:
            return system
        if name in system.presets:
            return _preset(system, name)
    known = sorted(one for system in systems for one in _measured(system))
    raise UsageError(
        f"There is no system {name!r}.", hint=f"There are: {', '.join(known) or 'none'}."
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
    if chosen := {"folder", "model", "home", "described", "export"} & raw.keys():
        raise UsageError(f"{file} sets {chosen.pop()}, which is not said there.")
    if system.name != file.parent.name:
        raise UsageError(f"{file} names the system {system.name!r}, its folder another.")
    for what, spec in (("reader", system.reader), ("wire", system.wire)):
        module, _, attribute = spec.partition(":") if isinstance(spec, str) else ("", "", "")
        # A stranger's folder must not choose what the bench imports.
        if not module.startswith("runner.systems.") or not attribute.isidentifier():
            raise UsageError(f"{file}: the {what} is not runner.systems.MODULE:NAME.")
    return _settled(system, file)


def _settled(system: System, file: Path) -> System:
    """A system whose parts go together.

    Raises:
        UsageError: they do not.
    """
    models = system.image_table.models
    system = system.model_copy(update={"model": models[0] if models else None})
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
