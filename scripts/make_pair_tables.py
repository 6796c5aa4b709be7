"""Writes the scripted tables of a perfect model for update-gate, out of the labelled pairs.

.venv/bin/python scripts/make_pair_tables.py           writes fixtures/scripted/*/update-gate.toml
.venv/bin/python scripts/make_pair_tables.py --check   says what is out of date; exits with 1
.venv/bin/python scripts/make_pair_tables.py --upstream FOLDER --system SYSTEM -o FILE
        writes one for the published pairs, whose files lie in FOLDER; outside this repository
"""

import argparse
import sys
from pathlib import Path

from runner.errors import BenchError
from runner.paths import fixtures, root
from runner.runs.pair_tables import perfect, read_upstream
from runner.suites.update_gate import SETS, load_set

SYSTEMS = ("engine", "particles")


def made() -> dict[Path, str]:
    """Every committed table and what it should hold."""
    sets = [load_set(name) for name in SETS]
    return {
        fixtures() / "scripted" / system / "update-gate.toml": perfect(system, sets)
        for system in SYSTEMS
    }


def main() -> int:
    """Write the tables, or say which are out of date."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--upstream", type=Path, help="folder of the published pair files")
    parser.add_argument("--system", choices=SYSTEMS, help="whose questions are answered")
    parser.add_argument("-o", "--output", type=Path, help="file of the published pairs' table")
    given = parser.parse_args()
    if given.upstream is None:
        return _stale() if given.check else _write()
    if given.check or given.output is None or given.system is None:
        parser.error("--upstream needs --system and -o, and no --check")
    output = given.output.resolve()
    if output.is_relative_to(root().resolve()):
        parser.error("the published sentences are not this repository's: write it elsewhere")
    output.write_text(perfect(given.system, read_upstream(given.upstream)))
    return 0


def _stale() -> int:
    stale = [path for path, text in made().items() if not path.exists() or path.read_text() != text]
    for path in stale:
        print(f"{path.relative_to(root())} is out of date: run scripts/make_pair_tables.py")
    return 1 if stale else 0


def _write() -> int:
    for path, text in made().items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BenchError as error:
        sys.exit(str(error))
