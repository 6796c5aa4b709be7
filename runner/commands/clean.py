"""``bench clean``: nothing of the project is left on the engine."""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from runner import engine_api
from runner import images as project_images
from runner.runs import sandbox


def clean(
    images: Annotated[
        bool, typer.Option("--images", help="Remove the project's images and build leftovers too.")
    ] = False,
) -> None:
    """Remove everything this project ever left on the engine.

    What a bench that is running now owns is kept, and named.
    """
    console = Console()
    domain = sandbox.Domain.at(sandbox.folder(os.environ, Path.home()))
    cleaning = sandbox.clean(sandbox.connect(), domain, images=images)
    inspecting = project_images.sweep(engine_api.connect())
    for name in (*cleaning.removed, *inspecting):
        console.print(Text(f"removed {name}"))
    for reason in cleaning.kept:
        console.print(Text(f"kept {reason}"))
    if not cleaning.removed and not inspecting and not cleaning.kept:
        console.print("Nothing was left.")
