"""The money of a whole protocol: each run leases its ceiling out of it, and gives back the rest."""

import threading
from decimal import Decimal

ZERO = Decimal(0)


class Purse:
    """US dollars for many runs. Leased plus spent never passes the total.

    Args:
        total: for all runs; none for no limit.
    """

    def __init__(self, total: Decimal | None = None) -> None:
        self.total = total
        self.spent = ZERO
        """By runs that have ended."""
        self._leased = ZERO
        self._changed = threading.Condition()

    def lease(self, usd: Decimal | None, cancelled: threading.Event) -> bool:
        """Set a run's ceiling aside, waiting for runs under way where there is too little now.

        Args:
            usd: the run's ceiling; every run has one where there is a total.
            cancelled: gives up waiting once it is set; :meth:`wake` makes it look.

        Returns:
            Whether it was set aside: false when what is left cannot come to it any more.
        """
        if self.total is None:
            return True
        assert usd is not None
        with self._changed:
            while self.spent + self._leased + usd > self.total:
                # What is out on lease may come back; what is spent does not.
                if self.spent + usd > self.total or not self._leased or cancelled.is_set():
                    return False
                self._changed.wait()
            self._leased += usd
            return True

    def settle(self, usd: Decimal | None, spent: Decimal) -> None:
        """Put what a run has spent in the place of what it leased."""
        with self._changed:
            if self.total is not None:
                assert usd is not None
                self._leased -= usd
            self.spent += spent
            self._changed.notify_all()

    def pay(self, usd: Decimal) -> None:
        """Count what was spent before."""
        with self._changed:
            self.spent += usd

    def wake(self) -> None:
        """Make those that wait look whether they are cancelled."""
        with self._changed:
            self._changed.notify_all()

    @property
    def left(self) -> Decimal | None:
        """What no run has spent; none where there is no limit."""
        return None if self.total is None else self.total - self.spent
