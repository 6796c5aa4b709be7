"""``--fixtures upstream``: the bytes of the published runs, out of the image that holds them."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from runner.errors import CannotStart
from runner.runs.pair_tables import UPSTREAM_FILES
from runner.suites.trip_vs_move import Case
from runner.suites.update_gate import SETS, Gate, make_gate, parse_upstream

HOLDER = "particles"
"""The image whose package ships them."""


def published_files() -> Mapping[str, bytes]:
    """Every published file by name, each of its published digest. Nothing is run; the image that
    holds them is built where it is missing.

    Raises:
        CannotStart: no engine, no image, or a file that is not the published one.
    """
    # Slow to load, and of no use to any other fixtures.
    from runner import images
    from runner.images import upstream

    errors = Console(stderr=True)
    image = images.ensure(HOLDER, progress=lambda line: errors.print(Text(line), soft_wrap=True))
    return upstream.files(image.config_digest)


def upstream_case(case: Case, files: Mapping[str, bytes]) -> Case:
    """A case on the published notes.

    Raises:
        CannotStart: there is no published note of that name.
    """
    missing = [note.name for note in case.notes if note.name not in files]
    if missing:
        raise CannotStart(f"There are no published notes {', '.join(missing)}.")
    return case.with_notes(
        {note.name: files[note.name].decode() for note in case.notes}, "upstream"
    )


def upstream_gate(names: Sequence[str] | None, samples: int, files: Mapping[str, bytes]) -> Gate:
    """The published pairs of those sets; of all of them when none is named."""
    chosen = [name for name in SETS if names is None or name in names]
    read = [parse_upstream(files[UPSTREAM_FILES[name]], name) for name in chosen]
    return make_gate(read, samples, fixtures="upstream")
