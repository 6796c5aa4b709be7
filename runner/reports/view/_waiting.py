"""The page that is shown while there is nothing to show."""

from pathlib import Path

from runner.reports.site import asset
from runner.reports.site._env import env


def waiting(folder: Path, out: Path) -> None:
    """Write it, as the only page of a site."""
    out.mkdir()
    page = env().get_template("waiting.html").render(folder=str(folder))
    (out / "index.html").write_text(page, encoding="utf-8")
    (out / "style.css").write_bytes(asset("style.css"))
