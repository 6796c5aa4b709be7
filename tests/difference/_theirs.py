"""Their scoring as a process that is asked."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.paths import root


@dataclass
class Theirs:
    """The process, and which version of linkedparticles it is."""

    process: subprocess.Popen[bytes]
    log: Path
    version: str = ""

    @classmethod
    @contextmanager
    def started(cls, python: str, options: Sequence[str], folder: Path) -> Iterator["Theirs"]:
        """Start it, in the environment that ``scripts/particles_venv.py`` made or makes."""
        said = subprocess.run(
            [python, "scripts/particles_venv.py", *options],
            cwd=root(),
            stdout=subprocess.PIPE,
            check=True,
        )
        # Its own home, so that no configuration of the machine's user says how it scores.
        process = subprocess.Popen(
            [json.loads(said.stdout)["python"], str(Path(__file__).with_name("_server.py"))],
            env={"HOME": str(folder), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(folder / "log").open("wb"),
        )
        made = cls(process, folder / "log")
        try:
            made.version = made._line()
            yield made
        finally:
            process.kill()
            process.wait(10)
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                pipe.close()

    def ask(self, what: str, of: Sequence[Any]) -> list[Any]:
        """The answers, in order."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"do": what, "of": of}).encode() + b"\n")
        self.process.stdin.flush()
        answers: list[Any] = self._line()
        assert len(answers) == len(of)
        return answers

    def _line(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.log.read_text()[-3000:]
        return json.loads(line)
