"""Writes what the documentation takes from the program: the commands page and the report's schema.

.venv/bin/python scripts/make_docs.py           writes docs/commands.md, docs/report.schema.json
.venv/bin/python scripts/make_docs.py --check   says what is out of date; exits with 1
"""

import sys
from pathlib import Path

from typer.testing import CliRunner

from runner.commands import app, names

ROOT = Path(__file__).resolve().parent.parent
TERMINAL = {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1", "TERM": "dumb"}


def bench(*arguments: str) -> str:
    """What one command prints."""
    done = CliRunner(env=TERMINAL).invoke(app, arguments, prog_name="bench")
    if done.exit_code:
        raise SystemExit(f"bench {' '.join(arguments)} failed: {done.output}")
    return done.stdout


def commands() -> str:
    """Every command's own help, as one page."""
    parts = ["# Commands", "", "Made from the program by `scripts/make_docs.py`.", ""]
    for name in ("", *names()):
        title = f"bench {name}".strip()
        text = "\n".join(line.rstrip() for line in bench(*name.split(), "--help").splitlines())
        parts += [f"## {title}", "", "```text", text.strip("\n"), "```", ""]
    return "\n".join(parts).rstrip() + "\n"


def pages() -> dict[Path, str]:
    """Every page that is made, by where it lies."""
    return {
        ROOT / "docs" / "commands.md": commands(),
        ROOT / "docs" / "report.schema.json": bench("schema"),
    }


def main() -> int:
    """Write, or check."""
    stale = [
        path for path, text in pages().items() if not path.exists() or path.read_text() != text
    ]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is out of date; scripts/make_docs.py writes it")
        return bool(stale)
    for path in stale:
        path.write_text(pages()[path])
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
