"""A small driver for the sandbox's own tests: answers, sleeps, floods, dies, on request."""

import datetime
import json
import os
import pathlib
import sys
import time
from collections.abc import Callable
from typing import Any

Result = dict[str, Any]
verbs: dict[str, Callable[..., Result]] = {}


def say(line: Result) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def verb(function: Callable[..., Result]) -> Callable[..., Result]:
    verbs[function.__name__] = function
    return function


@verb
def echo(text: str = "", **__: Any) -> Result:
    return {"text": text, "length": len(text)}


@verb
def sleep(seconds: float, **__: Any) -> Result:
    time.sleep(seconds)
    return {}


@verb
def produce(size: int, **__: Any) -> Result:
    return {"text": "x" * size}


@verb
def noise(lines: int, **__: Any) -> Result:
    for number in range(lines):
        print("a banner", number, flush=True)
    os.write(1, b"\xff\xfe not text\n")
    return {}


@verb
def half(**__: Any) -> Result:
    os.write(1, b'{"event": "h')
    time.sleep(0.2)
    os.write(1, b'alf"}\n')
    return {}


@verb
def log(text: str, **__: Any) -> Result:
    sys.stderr.write(text)
    sys.stderr.flush()
    return {}


@verb
def die(code: int, **__: Any) -> Result:
    print("last words", file=sys.stderr, flush=True)
    os._exit(code)


@verb
def hog(megabytes: int, **__: Any) -> Result:
    kept = bytearray()
    for _ in range(megabytes):
        kept += os.urandom(1024 * 1024)
    return {"kept": len(kept)}


@verb
def fork(count: int, **__: Any) -> Result:
    children = []
    error = None
    try:
        for _ in range(count):
            pid = os.fork()
            if pid == 0:
                time.sleep(30)
                os._exit(0)
            children.append(pid)
    except OSError as caught:
        error = caught.errno
    for pid in children:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    return {"children": len(children), "errno": error}


@verb
def fill(path: str, megabytes: int, **__: Any) -> Result:
    written = 0
    try:
        with pathlib.Path(path).open("wb", buffering=0) as file:
            for _ in range(megabytes):
                written += file.write(b"\0" * 1024 * 1024)
    except OSError as caught:
        return {"written": written, "errno": caught.errno}
    finally:
        pathlib.Path(path).unlink()
    return {"written": written, "errno": None}


@verb
def run(source: str, **__: Any) -> Result:
    scope: Result = {}
    exec(source, scope)
    return {"value": scope.get("value")}


def main() -> None:
    say({"event": "ready"})
    for raw in sys.stdin:
        request = json.loads(raw)
        head = {"id": request.pop("id")}
        started = time.monotonic()
        try:
            result = verbs[request.pop("verb")](**request)
            answer: Result = {"ok": True, "result": result}
        except Exception as error:
            answer = {"ok": False, "error": {"type": "internal", "message": repr(error)}}
        answer["now"] = datetime.datetime.now(datetime.UTC).isoformat()
        answer["ms"] = (time.monotonic() - started) * 1000
        say(head | answer)


main()
