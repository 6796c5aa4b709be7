"""The baselines' model calls: there are none, and whatever comes is not theirs."""

from runner.systems._silent import UNATTRIBUTED, SilentWire

__all__ = ["UNATTRIBUTED", "BaselinesWire"]


class BaselinesWire(SilentWire):
    """How the baselines would talk to a model."""

    name = "the baselines"
