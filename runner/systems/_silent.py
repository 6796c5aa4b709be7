"""The model calls of systems that make none: whatever comes is not theirs."""

from collections.abc import Mapping
from typing import Any

import orjson

UNATTRIBUTED = "unattributed"


class SilentWire:
    """How those talk to a model that never do."""

    name = "these systems"
    """What is said of, in the plural."""

    def purpose(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> str:
        """``unattributed``: they call a model for nothing."""
        return UNATTRIBUTED

    def fields(self, purpose: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Nothing can be read of a call that is not theirs.

        Raises:
            ValueError: always.
        """
        raise ValueError(f"{self.name} call no model, so this call is not theirs")

    def reply(self, purpose: str, answer: Any) -> str:
        """An answer as JSON, or the text itself where it is one."""
        return answer if isinstance(answer, str) else orjson.dumps(answer).decode()

    def canonical(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> bytes:
        """The body, keys in order."""
        return orjson.dumps(dict(body), option=orjson.OPT_SORT_KEYS)
