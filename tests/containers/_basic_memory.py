"""basic-memory's image in a container one can look into, and its command line in there."""

import json
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from tests.containers.test_engine_image import SANDBOX, Container

Rows = list[tuple[str, float]]
"""Files with their scores, as the tool ranks them."""

FLAGS: Mapping[str, tuple[str, ...]] = {
    "default": (),
    "hybrid": ("--hybrid",),
    "vector": ("--vector",),
    "text": (),
    "title": ("--title",),
}
"""How its command line is told of each search; text alone by its environment."""

# The command itself, once for each question, in a process of its own: begun by forking one that
# has imported what the command imports, which is most of what it does.
COMMAND_LINE = """
import json, os, sys
questions, flags = json.load(sys.stdin), sys.argv[1:]
from basic_memory.cli.main import app
import basic_memory.mcp.tools
found = []
for question in questions:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(write, 1)
        app(["tool", "search-notes", question, "--json", *flags])
        os._exit(1)
    os.close(write)
    with os.fdopen(read) as said:
        found.append(json.load(said))
    assert os.waitpid(child, 0)[1] == 0
json.dump(found, sys.stdout)
"""

# The driver's own way to its server, on what is indexed already.
BY_THE_SERVER = """
import json, os, sys
from basic_memory_driver import settings
from basic_memory_driver.tool import Tool
tool = Tool(os.environ, settings.parse(os.environ["BENCH_SETTINGS"]))
tool.serve()
json.dump([tool.search(question, 1, 10) for question in json.load(sys.stdin)], sys.stdout)
tool.close()
"""

KILL = """
import os, signal, sys
from pathlib import Path
for command in Path("/proc").glob("[0-9]*/cmdline"):
    pid = int(command.parent.name)
    if pid != os.getpid() and sys.argv[1] in command.read_text().split("\\0"):
        os.kill(pid, signal.SIGKILL)
"""


def settings(**options: Any) -> str:
    """As the bench hands them over."""
    return json.dumps({"model": "none", "pins": {}, "options": options})


class Inhabited(Container):
    """A driver in a container by a name, so that other programs can be run beside it."""

    def __init__(self, image: str, *docker: str, **options: Any) -> None:
        self.name = f"basic-memory-{uuid.uuid4().hex[:12]}"
        env = ("--env=HOME=/home/bench", f"--env=BENCH_SETTINGS={settings(**options)}")
        super().__init__(image, f"--name={self.name}", "--pids-limit=512", *env, *docker)

    def run(self, *command: str, given: Any = None, **options: Any) -> str:
        """What a program in the container prints, in basic-memory's own environment."""
        inside = ("python", "-m", "basic_memory_driver.environment", *command)
        env = f"--env=BENCH_SETTINGS={settings(**options)}"
        done = subprocess.run(
            ["docker", "exec", "--interactive", env, self.name, *inside],
            input=json.dumps(given),
            capture_output=True,
            text=True,
            timeout=1800,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout


def index(container: Container, pages: Sequence[Mapping[str, str]]) -> None:
    """Index pages, or fail."""
    reply = container.ask("index", pages=pages)
    assert reply["ok"], reply
    assert reply["result"]["pages"] == len(pages)


def rows(answer: Mapping[str, Any]) -> Rows:
    """The files and scores of one answer of the tool."""
    return [(result["file_path"], result["score"]) for result in answer["results"]]


__all__ = ["SANDBOX", "Inhabited", "Rows", "index", "rows", "settings"]
