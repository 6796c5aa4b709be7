"""Makes the pages once: ``python -m runner.reports.view DIR OUT``.

A process of its own: drawing takes seconds, and must not keep the server from answering. It prints
one JSON line, ``{"reports": N, "runs": N, "faults": [SENTENCE, ...]}``, and writes OUT, also where
there is no report.
"""

import sys
from pathlib import Path

import orjson

from runner.errors import BenchError
from runner.reports import site
from runner.reports.view._folder import reports
from runner.reports.view._waiting import waiting


def main(folder: Path, out: Path) -> None:
    """Make the pages of the reports in ``folder``; one that cannot be shown is a fault."""
    faults: list[str] = []
    loaded: list[site.Loaded] = []
    for path in reports(folder):
        try:
            loaded.append(site.load(path))
        except BenchError as error:
            faults.append(error.message)
    if loaded:
        try:
            site.build(loaded, out)
        except BenchError as error:  # such as a cassette that is none
            faults.append(error.message)
            loaded = []
    if not loaded:
        waiting(folder, out)
    runs = sum(len(one.report.runs) for one in loaded)
    told = {"reports": len(loaded), "runs": runs, "faults": faults}
    sys.stdout.buffer.write(orjson.dumps(told) + b"\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
