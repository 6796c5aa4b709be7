"""``--image``: a system measured on one very image."""

from collections.abc import Sequence

from runner.errors import UsageError
from runner.systems.catalog import System, load


def on_image(name: str, version: str | None, image: str | None) -> tuple[System, str | None]:
    """A system, and the digest of the very image it is to run from, where one was named.

    Of several versions it is the one that the image holds.

    Args:
        name: of the system.
        version: the one that was asked for; none for the default, or the image's.
        image: a digest, or how it begins; none for the image of the files as they are.

    Raises:
        UsageError: there is no such system or version, or the image is not one of it.
        CannotStart: the engine does not hold the image, or cannot run it.
    """
    system = load(name, version)
    if image is None:
        return system, None
    # The engine is looked at when nothing is to be run too, and its SDK is slow to load.
    from runner import images

    found = images.choose(image, system.image, version=version, model=system.model)
    if found.version is not None and found.version != system.version:
        try:
            system = load(name, found.version)
        except UsageError as error:
            raise UsageError(
                f"{found.identity.config_digest[7:19]} holds {name} {found.version}, which this"
                " bench does not read.",
                hint=error.hint,
            ) from error
    return system, found.identity.config_digest


def on_one_image(
    systems: Sequence[System], version: str | None, image: str | None
) -> tuple[list[System], str | None]:
    """As ``on_image``, for systems that have to run from the same image.

    Raises:
        UsageError: they do not, or as there.
    """
    if image is None:
        return list(systems), None
    if len({(system.image, system.model) for system in systems}) > 1:
        names = ", ".join(system.name for system in systems)
        raise UsageError(
            f"--image names the image of one system, and these run from several: {names}.",
            hint="Run them one after another, each with its own --image.",
        )
    found = [on_image(system.name, version, image) for system in systems]
    return [system for system, _ in found], found[0][1]
