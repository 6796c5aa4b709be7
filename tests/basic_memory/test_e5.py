import base64
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from basic_memory_driver.e5 import Handler


class Model:
    """Vectors that tell which way a text was read, and how long it was."""

    def query(self, text: str) -> np.ndarray[Any, Any]:
        return np.array([[1.0, len(text)]], np.float32)

    def passage(self, text: str) -> np.ndarray[Any, Any]:
        return np.array([[2.0, len(text)]], np.float32)


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(Handler, "model", Model())
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def ask(url: str, body: Any, path: str = "/v1/embeddings") -> Any:
    request = urllib.request.Request(url + path, json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def test_the_first_word_tells_a_question_from_a_passage(url: str) -> None:
    answer = ask(url, {"input": ["query: four", "passage: three", "neither"], "model": "e5"})
    rows = answer["data"]
    assert [row["index"] for row in rows] == [0, 1, 2]
    assert [row["embedding"] for row in rows] == [[1, 4], [2, 5], [2, 7]]
    assert ask(url, {"input": "query: one"})["data"][0]["embedding"] == [1, 3]


def test_vectors_come_as_bytes_where_those_are_asked_for(url: str) -> None:
    (row,) = ask(url, {"input": ["query: four"], "encoding_format": "base64"})["data"]
    assert np.frombuffer(base64.b64decode(row["embedding"]), "<f4").tolist() == [1, 4]


@pytest.mark.parametrize("body", [[], {}, {"input": None}, "x"])
def test_what_is_no_request_is_refused(url: str, body: Any) -> None:
    with pytest.raises(urllib.error.HTTPError, match="400"):
        ask(url, body)


def test_there_is_nothing_else(url: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        ask(url, {"input": "x"}, "/v1/models")
