"""The pictures are those that were noted, and somebody is shown them."""

import hashlib
import tomllib

from runner.paths import root

PICTURES = root() / "docs" / "pictures"


def test_every_picture_is_as_it_was_made_and_is_shown() -> None:
    noted = tomllib.loads((PICTURES / "pictures.toml").read_text())
    pages = [root() / "README.md", *sorted((root() / "docs").glob("*.md"))]
    shown = "\n".join(page.read_text() for page in pages)
    assert {one["file"] for one in noted["pictures"]} == {
        path.name for path in PICTURES.iterdir() if path.suffix in (".svg", ".png")
    }
    for one in noted["pictures"]:
        data = (PICTURES / one["file"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (one["bytes"], one["sha256"])
        assert len(data) < 300_000
        assert f"pictures/{one['file']}" in shown, f"nobody is shown {one['file']}"
    assert "http" not in (PICTURES / "terminal.svg").read_text().replace(
        "http://www.w3.org/2000/svg", ""
    ), "a picture loads nothing"
    assert {"bench", "chromium", "rich", "matplotlib"} <= set(noted["versions"])
    assert all(one["command"].startswith("bench ") for one in noted["reports"])
