"""``bench images archive`` and ``bench images restore``: images as files that can be kept."""

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from runner import engine_api, images
from runner.archive import _out, contents, media, pack, plan
from runner.archive import restore as restoring
from runner.archive.opening import opened
from runner.archive.plan import Plan
from runner.archive.store import Store, check_name, temporary
from runner.commands._options import SystemDir
from runner.commands._work import Bytes
from runner.errors import UsageError
from runner.oci import zstd
from runner.plain import plain

What = Annotated[
    list[str],
    typer.Argument(
        metavar="REPORT|NAME...",
        help="A report's file, images by their names in `bench images list`, or by name or id of"
        " the engine's.",
    ),
]
Threads = Annotated[
    int | None, typer.Option(min=1, help="How many to work with; as many as there are cores.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


def archive(
    what: What,
    system_dir: SystemDir = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write.")
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            help="A folder that archives share: a layer that is in it is not packed again."
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="What --store is to call it; the file's name without its ending."),
    ] = None,
    kept: Annotated[
        Path | None, typer.Option(help="Where the report's runs kept snapshots (their --keep).")
    ] = None,
    cassette: Annotated[
        Path | None, typer.Option(help="The report's recording, where it does not lie beside it.")
    ] = None,
    include_restricted: Annotated[
        bool,
        typer.Option(
            "--include-restricted", help="Also images that may not be handed on: for yourself."
        ),
    ] = False,
    level: Annotated[
        int, typer.Option(min=zstd.LEVELS.start, max=zstd.LEVELS.stop - 1, help="Of zstd.")
    ] = zstd.LEVEL,
    threads: Threads = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    quiet: Quiet = False,
) -> None:
    """Write images, and a report with all that it was made of, into one file.

    The file is an OCI layout in a tar: the images as the engine has them, byte for byte; the
    report, its sealed answers, cassette, snapshots and fixtures; what is in each image (CycloneDX)
    and the locks it was built from. Nothing in it can change unnoticed: `bench verify` reads it
    without an engine, `bench images restore` loads its images.

    What may not be handed on stays out, and the file says so.
    """
    report, names = _sorted(what)
    if output is None and (store is None or name is None):
        raise UsageError(
            "Nothing to write to.", hint="Give --output FILE, or --store FOLDER and --name NAME."
        )
    if name is not None:
        if store is None:
            raise UsageError("--name is what --store calls it, and there is no --store.")
        check_name(name)
    if output is not None:
        _out.prepare(output, force=force)
    errors = Console(stderr=True)
    with contextlib.ExitStack() as stack:
        show = stack.enter_context(Bytes(errors, quiet=quiet))
        client = stack.enter_context(closing(engine_api.connect()))
        planned = plan.make(
            client,
            report=report,
            names=names,
            kept=kept,
            cassette=cassette,
            restricted=include_restricted,
        )
        if store is not None:
            place = Store(store)
            label = name if name is not None else _label(output)
        else:
            assert output is not None
            place, label = stack.enter_context(temporary(output)), None
        index = pack.pack(
            client,
            planned,
            place,
            show,
            level=level,
            workers=threads or pack.threads(),
            name=label,
            force=force,
        )
        size = None
        if output is not None:
            size = pack.write(output, place, index, show, force=force)
    for line in _told(planned):
        errors.print(Text(plain(line)), soft_wrap=True)
    if output is not None and size is not None:
        errors.print(Text(f"{size / 1e6:,.1f} MB"), soft_wrap=True)
        print(output, flush=True)
    else:
        print(f"{store}: {label}", flush=True)


def restore(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="An archive; or a folder that was given to --store."),
    ],
    only: Annotated[
        str | None, typer.Option(help="One image: by its name, or by the digest of its config.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Which archive of a folder.")] = None,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Load the images of an archive into the engine, and check that it holds just these.

    All of the archive is verified before the engine is asked for anything. Images that are there
    are not loaded again, and none gets its name before all of them are whole: what was interrupted
    is simply done again.
    """
    errors = Console(stderr=True)
    with (
        opened(file, name) as layout,
        Bytes(errors, quiet=quiet) as show,
        closing(engine_api.connect()) as client,
    ):
        done = restoring.restore(client, layout, show, only=only, workers=threads or pack.threads())
        left = contents.read(layout).left_out
    for image in done:
        how = "was there" if image.was_there else "loaded"
        print(image.reference, flush=True)
        errors.print(
            Text(plain(f"{image.reference}: {how}, {image.config_digest[7:19]}")), soft_wrap=True
        )
        if image.taken is not None:
            errors.print(
                Text(plain(f"{image.taken} means another image here, and was left to it.")),
                soft_wrap=True,
            )
    for one in left:
        errors.print(Text(plain(f"{one.name} is not in the archive: {one.why}")), soft_wrap=True)


def _sorted(what: Sequence[str]) -> tuple[Path | None, list[str]]:
    """A report among what was named, and the images.

    Raises:
        UsageError: there are two reports, or something that is neither.
    """
    reports: list[Path] = []
    names: list[str] = []
    for one in dict.fromkeys(what):
        if one not in images.names() and Path(one).is_file():
            reports.append(Path(one))
        elif one not in images.names() and one.endswith(".json"):
            raise UsageError(f"There is no report {one}.")
        else:
            names.append(one)
    if len(reports) > 1:
        raise UsageError(
            "An archive holds one report.",
            hint="Archive each; with --store they share the layers of their images.",
        )
    return (reports[0] if reports else None), names


def _label(output: Path | None) -> str:
    assert output is not None
    label = output.name.partition(".")[0] or output.name
    check_name(label)
    return label


def _told(planned: Plan) -> Iterator[str]:
    for image in planned.images:
        yield f"archived {image.reference}"
    if planned.evidence is not None:
        pieces = planned.evidence.pieces
        kinds = {
            "the report": media.REPORT,
            "sealed answers": media.SEALED,
            "the cassette": media.CASSETTE,
            "snapshots": media.SNAPSHOT,
            "inputs": media.INPUTS,
        }
        counts = {what: sum(one.kind == kind for one in pieces) for what, kind in kinds.items()}
        told = (
            what if count == 1 else f"{count} {what}" for what, count in counts.items() if count
        )
        yield f"with {', '.join(told)}"
        if not counts["snapshots"] and any(run.snapshots for run in planned.evidence.report.runs):
            yield "without snapshots: --kept says where they lie, if its runs were given --keep"
    for one in planned.left_out:
        yield f"left out {one.name}: {one.why}"
