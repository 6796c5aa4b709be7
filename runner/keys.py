"""The provider's key: from the environment, a file or a Compose secret, never from an argument.

What is found is held as a secret that does not print itself, and goes to nobody but the gateway,
on its standard input.
"""

from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from runner.errors import UsageError

ANTHROPIC = "ANTHROPIC_API_KEY"
OPENAI = "OPENAI_API_KEY"
SECRETS = Path("/run/secrets")
"""Where Compose puts secrets."""
LONGEST = 4096


def find_key(
    name: str,
    environ: Mapping[str, str],
    *,
    file: Path | None = None,
    secrets: Path = SECRETS,
) -> SecretStr | None:
    """Look for a key: in ``file``, the variable ``name``, the file that ``NAME_FILE`` names, and
    the secret called like the variable in lower case; the first that is not empty.

    Args:
        name: of the variable, such as ``ANTHROPIC_API_KEY``.
        environ: the variables.
        file: one that the user named; nothing else is then looked at.
        secrets: the folder of secrets.

    Raises:
        UsageError: a file that was named cannot be read or is empty, or what was found is no key.
            The message never repeats what was found.
    """
    if file is not None:
        return _key(_read(file, "--key-file"), str(file), required=True)
    if given := _key(environ.get(name, ""), name):
        return given
    if named := environ.get(f"{name}_FILE"):
        return _key(_read(Path(named), f"{name}_FILE"), named, required=True)
    secret = secrets / name.lower()
    if not secret.exists():
        return None
    return _key(_read(secret, "the secret"), str(secret))


def _read(path: Path, what: str) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(LONGEST + 1)
    except OSError as error:
        raise UsageError(
            f"The key file {path} ({what}) cannot be read: {error.strerror or error}."
        ) from None
    try:
        return raw.decode("ascii")
    except UnicodeDecodeError:
        raise _no_key(str(path)) from None


def _key(text: str, where: str, *, required: bool = False) -> SecretStr | None:
    key = text.strip()
    if not key:
        if required:
            raise UsageError(f"The key file {where} is empty.")
        return None
    # What goes into a header: a line break in it would be a second header.
    if len(key) > LONGEST or not (key.isascii() and key.isprintable()) or " " in key:
        raise _no_key(where)
    return SecretStr(key)


def _no_key(where: str) -> UsageError:
    return UsageError(
        f"What {where} holds is no key.", hint="A key is one line of printable characters."
    )
