"""A small driver for the sandbox's own tests: answers, sleeps, floods, dies, on request."""

import datetime
import json
import os
import pathlib
import sys
import time

verbs = {}


def say(line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def verb(function):
    verbs[function.__name__] = function
    return function


@verb
def echo(text="", **_):
    return {"text": text, "length": len(text)}


@verb
def sleep(seconds, **_):
    time.sleep(seconds)
    return {}


@verb
def produce(size, **_):
    return {"text": "x" * size}


@verb
def noise(lines, **_):
    for number in range(lines):
        print("a banner", number, flush=True)
    os.write(1, b"\xff\xfe not text\n")
    return {}


@verb
def half(**_):
    os.write(1, b'{"event": "h')
    time.sleep(0.2)
    os.write(1, b'alf"}\n')
    return {}


@verb
def log(text, **_):
    sys.stderr.write(text)
    sys.stderr.flush()
    return {}


@verb
def die(code, **_):
    print("last words", file=sys.stderr, flush=True)
    os._exit(code)


@verb
def hog(megabytes, **_):
    kept = bytearray()
    for _ in range(megabytes):
        kept += os.urandom(1024 * 1024)
    return {"kept": len(kept)}


@verb
def fork(count, **_):
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
def fill(path, megabytes, **_):
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
def run(source, **_):
    scope = {}
    exec(source, scope)
    return {"value": scope.get("value")}


def main():
    say({"event": "ready"})
    for raw in sys.stdin:
        request = json.loads(raw)
        head = {"id": request.pop("id")}
        started = time.monotonic()
        try:
            result = verbs[request.pop("verb")](**request)
            answer = {"ok": True, "result": result}
        except Exception as error:
            answer = {"ok": False, "error": {"type": "internal", "message": repr(error)}}
        answer["now"] = datetime.datetime.now(datetime.UTC).isoformat()
        answer["ms"] = (time.monotonic() - started) * 1000
        say(head | answer)


main()
