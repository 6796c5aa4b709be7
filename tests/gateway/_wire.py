"""A wire for tests: the last message's text is a JSON document, a header says the purpose."""

import json
import re
from collections.abc import Mapping
from typing import Any


class PlainWire:
    def purpose(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> str:
        return headers.get("x-memory-purpose", "unattributed")

    def fields(self, purpose: str, body: Mapping[str, Any]) -> dict[str, Any]:
        content = body["messages"][-1]["content"]
        text = content if isinstance(content, str) else content[-1].get("text", "{}")
        document = json.loads(text)
        if not isinstance(document, dict):
            raise ValueError("no object")
        return document

    def reply(self, purpose: str, answer: Any) -> str:
        return answer if isinstance(answer, str) else json.dumps(answer)

    def canonical(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> bytes:
        text = json.dumps(body, sort_keys=True)
        return re.sub(r"nonce-[0-9a-f]+", "nonce", text).encode()


plain = PlainWire()
