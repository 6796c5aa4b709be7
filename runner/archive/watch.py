"""What is told while archives are written and read."""

from typing import Protocol


class Watch(Protocol):
    """Follows work that takes a while."""

    def line(self, text: str) -> None:
        """Something worth knowing, once."""

    def begins(self, what: str, total: int | None = None) -> None:
        """Another piece of work begins.

        Args:
            what: it is.
            total: bytes it will handle, where that is known.
        """

    def moved(self, count: int) -> None:
        """So many bytes more were handled."""


class Nobody:
    """Follows nothing."""

    def line(self, text: str) -> None:
        """Says nothing."""

    def begins(self, what: str, total: int | None = None) -> None:
        """Says nothing."""

    def moved(self, count: int) -> None:
        """Says nothing."""
