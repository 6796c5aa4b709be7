"""Where Debian's packages come from: its archive, a mirror, or the archive as it was on a day."""

import os
import re
import urllib.error
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from runner.errors import CannotStart, UsageError

ARCHIVE = "http://deb.debian.org/debian"
SECURITY = "http://deb.debian.org/debian-security"
SNAPSHOTS = "http://snapshot.debian.org/archive"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
"""The archive's keys, on Debian machines and in Debian images alike."""
ANSWER_S = 20.0
STAMP = "%Y%m%dT%H%M%SZ"
"""How the snapshot service writes a moment."""
_LINE = re.compile(
    r"deb (?:\[(?P<options>[^\]]*)\] )?(?P<address>\S+) (?P<suite>\S+) (?P<components>\S.*)"
)


@dataclass(frozen=True, slots=True)
class Mirrors:
    """Addresses of an archive.

    Attributes:
        archive: of the release and its updates.
        security: of its security updates.
        past: whether they hold what was then, whose indexes have run out since.
    """

    archive: str
    security: str
    past: bool = False

    @property
    def usual(self) -> bool:
        """Whether these are what images name as their source anyway."""
        return self == Mirrors(ARCHIVE, SECURITY)

    def lines(self, suite: str) -> tuple[str, ...]:
        """As apt's ``sources.list`` has them."""
        options = f"[signed-by={KEYRING}{' check-valid-until=no' if self.past else ''}]"
        return (
            f"deb {options} {self.archive} {suite} main",
            f"deb {options} {self.archive} {suite}-updates main",
            f"deb {options} {self.security} {suite}-security main",
        )


def stanzas(lines: Iterable[str]) -> str:
    """Lines of `Mirrors.lines` in apt's other format, which it expects of a file whose name ends in
    ``.sources``, as that does in which builds find them.

    Raises:
        UsageError: a line is none of those.
    """
    return "\n".join(map(_stanza, lines))


def _stanza(line: str) -> str:
    found = _LINE.fullmatch(line)
    if found is None:
        raise UsageError(f"This is no source of Debian's packages: {line}")
    options = dict(one.split("=", 1) for one in (found["options"] or "").split())
    fields = {
        "Types": "deb",
        "URIs": found["address"],
        "Suites": found["suite"],
        "Components": found["components"],
        **{name.title(): value for name, value in options.items()},
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items())


def mirrors(snapshot: str | None = None) -> Mirrors:
    """Where packages are taken from: ``BENCH_DEBIAN_MIRROR``, else Debian's own address.

    Args:
        snapshot: as `stamp` gives it: the archive as it was then, from Debian's snapshot service
            or the one at ``BENCH_DEBIAN_SNAPSHOTS``.
    """
    if snapshot is not None:
        service = _service()
        return Mirrors(
            f"{service}/debian/{snapshot}", f"{service}/debian-security/{snapshot}", past=True
        )
    # A mirror of the archive rarely holds the security suite beside it.
    return Mirrors(os.environ.get("BENCH_DEBIAN_MIRROR") or ARCHIVE, SECURITY)


def stamp(day: str) -> str:
    """A day, or a moment of it in UTC, as the snapshot service has it: the day's beginning.

    Raises:
        UsageError: it is none.
    """
    digits = day.strip().replace("-", "").replace(":", "").removesuffix("Z")
    for form in ("%Y%m%dT%H%M%S", "%Y%m%d"):
        try:
            moment = datetime.strptime(digits, form).replace(tzinfo=UTC)
        except ValueError:
            continue
        return f"{moment:{STAMP}}"
    raise UsageError(f"{day!r} is no date.", hint="It is written 2026-10-01, or 20261001T120000Z.")


def reach(snapshot: str, suite: str) -> None:
    """See that the snapshot service has that moment.

    Raises:
        CannotStart: it cannot be reached, or does not.
    """
    address = f"{mirrors(snapshot).archive}/dists/{suite}/InRelease"
    try:
        # The address is the user's own.
        request = urllib.request.Request(address, method="HEAD")  # noqa: S310
        with urllib.request.urlopen(request, timeout=ANSWER_S):  # noqa: S310
            return
    except urllib.error.HTTPError as error:
        why, hint = f"answers {error.code}", "It may have nothing of that day yet: take another."
    except (OSError, ValueError) as error:
        why = f"cannot be reached ({getattr(error, 'reason', None) or error})"
        hint = "Leave --snapshot out, or name another service in BENCH_DEBIAN_SNAPSHOTS."
    raise CannotStart(f"Debian's snapshot service {why}: {address}.", hint=hint)


def _service() -> str:
    return (os.environ.get("BENCH_DEBIAN_SNAPSHOTS") or SNAPSHOTS).rstrip("/")
