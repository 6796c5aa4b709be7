"""An archive or a report, held to all that can be computed again: offline, and trusting nobody.

Nothing in a file is believed because of where it comes from. A check that needs what is not there
says so, and never holds. Whatever a file does to a check is that check's finding.
"""

from runner.archive.verify.sheet import Line, Sheet, State, told
from runner.archive.verify.verify import Verified, verify

__all__ = ["Line", "Sheet", "State", "Verified", "told", "verify"]
