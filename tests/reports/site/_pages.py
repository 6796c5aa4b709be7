"""Pages taken apart as a browser would, far enough to see what is markup and what is text."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "input", "hr"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    parts: list["Element | str"] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def all(self, *tags: str) -> list["Element"]:
        found: list[Element] = []
        for part in self.parts:
            if isinstance(part, Element):
                if not tags or part.tag in tags:
                    found.append(part)
                found += part.all(*tags)
        return found

    def at(self, id_: str) -> "Element":
        [found] = [one for one in self.all() if one.attributes.get("id") == id_]
        return found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"an attribute twice: {attrs}"
        made = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].parts.append(made)
        if tag not in VOID:
            self.open.append(made)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].parts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def read(page: bytes) -> Element:
    reader = _Reader()
    reader.feed(page.decode())
    reader.close()
    assert len(reader.open) == 1, f"<{reader.open[-1].tag}> stays open"
    return reader.open[0]


def taken_apart(files: Mapping[str, bytes]) -> dict[str, Element]:
    return {name: read(data) for name, data in files.items() if name.endswith(".html")}


def check(pages: Mapping[str, Element]) -> None:
    """What holds of every page of a site: links lead somewhere, nothing is loaded or run."""
    ids = {}
    for name, page in pages.items():
        named = [one.attributes["id"] for one in page.all() if "id" in one.attributes]
        assert len(set(named)) == len(named), f"{name}: {[i for i in named if named.count(i) > 1]}"
        ids[name] = set(named)
    for name, page in pages.items():
        regions = [one for one in page.all() if one.attributes.get("aria-label")]
        labelled = {id(table) for one in regions for table in one.all("table")}
        for one in page.all():
            where = f"{name}: {one.tag} {one.attributes}"
            assert one.tag not in {"script", "style", "iframe", "img", "object", "form", "base"}, (
                where
            )
            assert "style" not in one.attributes, where
            assert not any(attribute.startswith("on") for attribute in one.attributes), where
            assert "src" not in one.attributes, where
            href = one.attributes.get("href")
            if one.tag == "a":
                assert href is not None, where
                path, _, fragment = href.partition("#")
                assert path == "" or path in pages, where
                assert not fragment or fragment in ids[path or name], where
            elif one.tag == "link":
                assert href in ("style.css", "data:,"), where
            elif href is not None:  # a use in a picture
                assert href.startswith("#"), where
                assert href[1:] in ids[name], where
            for attribute in ("aria-labelledby", "aria-describedby"):
                for id_ in one.attributes.get(attribute, "").split():
                    assert id_ in ids[name], where
            if one.tag == "table":
                assert one.all("caption") or id(one) in labelled, where
            if one.tag == "th":
                assert one.attributes.get("scope") in ("row", "col"), where
        assert len(page.all("h1")) == 1, name
        assert len(page.all("main")) == 1, name
        assert page.all("html")[0].attributes["lang"] == "en"
        assert page.all("title")[0].text.strip(), name
