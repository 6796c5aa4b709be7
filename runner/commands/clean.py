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
from runner.runs.ledgers import Salvage


def clean(
    images: Annotated[
        bool, typer.Option("--images", help="Remove the project's images and build leftovers too.")
    ] = False,
) -> None:
    """Remove everything this project ever left on the engine.

    What a bench that is running now owns is kept, and named. What runs of a killed bench spent is
    said first, and their ledgers are kept in the state folder.
    """
    console = Console()
    domain = sandbox.Domain.at(sandbox.folder(os.environ, Path.home()))

    def say(text: str) -> None:
        console.print(Text(text), soft_wrap=True)

    cleaning = sandbox.clean(sandbox.connect(), domain, images=images, on_ledger=Salvage.usual(say))
    inspecting = project_images.sweep(engine_api.connect())
    for name in (*cleaning.removed, *inspecting):
        console.print(Text(f"removed {name}"))
    for reason in cleaning.kept:
        console.print(Text(f"kept {reason}"))
    if not cleaning.removed and not inspecting and not cleaning.kept:
        console.print("Nothing was left.")
