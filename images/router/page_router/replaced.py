"""What replaced what: from front matter, from links and from prose, in that order of trust.

A page may say that it was replaced ("Replaced by [New](new.md)", "This page was superseded by
“New” in May", 本页已由《新》取代) or that it replaces another ("Replaces [[Old]]", 本页取代《旧》).
Either counts only when it speaks of the page itself and names another page of the vault: by link,
in quotation marks, or by a bare title. "Four rings replace the three stages" names no page, and
"the boiler was replaced by" speaks of no page, so neither retires anything.

What a page says in its front matter is believed as it is. Of prose and links, nothing is believed
that would make a page be replaced by an older one, or by itself in the end.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from page_router.pages import Page
from page_router.words import folded

OVER = (
    *("superseded", "replaced", "deprecated", "obsolete", "obsoleted", "retired", "archived"),
    *("outdated", "withdrawn", "已取代", "已被取代", "被取代", "已替代", "已废止", "废止"),
    *("已作废", "作废", "失效", "已失效", "过期", "已过期", "已归档", "归档"),
)
"""Values of ``status`` that say a page no longer holds."""
BY = (
    *("superseded_by", "replaced_by", "obsoleted_by", "deprecated_by"),
    *("successor", "replacement", "moved_to"),
)
"""Fields that name the page which replaced this one."""
OF = ("supersedes", "replaces", "obsoletes", "predecessor")
"""Fields that name pages which this one replaced."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """Why a page is left out."""

    by: str | None
    """The page that replaced it; none where nobody says which, or it is not in the vault."""
    said_in: str
    """The page that says so."""
    words: str
    """How it says so."""


def replaced(pages: Iterable[Page]) -> dict[str, Replaced]:
    """Every replaced page, by name."""
    vault = _Vault(pages)
    found: dict[str, Replaced] = {}
    for page in vault.pages:
        for old, because in _front_matter(vault, page):
            # A page that names its successor says more than one that only says it is over.
            if old not in found or (found[old].by is None and because.by is not None):
                found[old] = because
    for page in vault.pages:
        for old, because in _body(vault, page):
            known = found.get(old)
            if known is not None and known.by is not None:
                continue
            if (
                because.by
                and not vault.older(because.by, old)
                and not _ring(found, old, because.by)
            ):
                found[old] = because
    return found


def current(name: str, because: Mapping[str, Replaced]) -> str:
    """The page that holds in place of this one, at the end of the chain."""
    passed = {name}
    while (step := because.get(name)) is not None and step.by is not None:
        if step.by in passed:
            break
        name = step.by
        passed.add(name)
    return name


class _Vault:
    """Pages by all that they may be called."""

    def __init__(self, pages: Iterable[Page]) -> None:
        self.pages = list(pages)
        self.by_name = {page.name: page for page in self.pages}
        self._called: dict[str, list[Page]] = {}
        for page in self.pages:
            for called in {page.title, page.stem, page.name, page.name.removesuffix(".md")}:
                self._called.setdefault(_key(called), []).append(page)

    def called(self, words: str, asker: Page) -> str | None:
        """The one page of that title, file name or path; of several, the one beside the asker."""
        found = [page for page in self._called.get(_key(words), ()) if page is not asker]
        near = [page for page in found if page.folder == asker.folder]
        if len(found) != 1:
            found = near
        return found[0].name if len(found) == 1 else None

    def linked(self, target: str, asker: Page) -> str | None:
        """The page a link leads to: relative to the page, else from the top, else by its name."""
        target = unquote(target.strip().strip("<>").split("#")[0].split("|")[0]).strip()
        if not target or "://" in target:
            return None
        beside = posixpath.normpath(posixpath.join(asker.folder, target))
        top = posixpath.normpath(target).lstrip("/")
        for path in (beside, beside + ".md", top, top + ".md"):
            if path in self.by_name and path != asker.name:
                return path
        return self.called(target, asker)

    def begins(self, words: str, asker: Page) -> str | None:
        """The page whose title or file name, of two words or more, the words begin with."""
        key = _key(words)
        titles = sorted((title for title in self._called if key.startswith(title)), key=len)
        for title in reversed(titles):
            after = key[len(title) : len(title) + 1]
            whole = not (after.isalnum() and after.isascii() and title[-1:].isascii())
            if whole and (" " in title or not title.isascii()):
                return self.called(title, asker)
        return None

    def older(self, newer: str, old: str) -> bool:
        """Whether what is to be the newer page is dated before the other."""
        days = self.by_name[newer].day, self.by_name[old].day
        return days[0] is not None and days[1] is not None and days[0] < days[1]


def _key(words: str) -> str:
    return " ".join(folded(words).replace("\\", "").split()).strip(" .。")


def _ring(found: Mapping[str, Replaced], old: str, by: str) -> bool:
    return by == old or current(by, found) == old


# ---------------------------------------------------------------- front matter


def _front_matter(vault: _Vault, page: Page) -> Iterator[tuple[str, Replaced]]:
    named = next((page.fields[key] for key in BY if page.fields.get(key)), None)
    over = page.fields.get("status", "").casefold() in OVER
    if named is not None and _key(named) not in ("null", "none", "~", "false", "[]", "-"):
        by = _target(vault, named, page)
        yield page.name, Replaced(by, page.name, f"superseded by: {named}")
    elif over:
        yield page.name, Replaced(None, page.name, f"status: {page.fields['status']}")
    for key in OF:
        for part in page.fields.get(key, "").strip("[]").split(","):
            old = _target(vault, part.strip().strip("'\""), page) if part.strip() else None
            if old is not None:
                yield old, Replaced(page.name, page.name, f"{key}: {part.strip()}")


def _target(vault: _Vault, words: str, page: Page) -> str | None:
    link = _NAMED.match(words.strip())
    if link and (found := _named(vault, link, page)):
        return found
    # A path from the top of the vault comes before one beside the page: that is what it is for.
    top = words.strip().strip("/")
    if top in vault.by_name and top != page.name:
        return top
    return vault.linked(words, page) or vault.called(words, page)


# ---------------------------------------------------------------- prose and links

_PAGE = r"(?:page|note|document|doc|article|policy|version|guide)"
_SELF = (
    rf"(?:this|the (?:present|above)|these) (?:\w+ )?(?:{_PAGE}|procedure|process|rule|handbook"
    r"|edition|decision|guideline|runbook|text)s?(?: (?:here|below))?|it"
)
_BE = r"(?:is|are|was|were|has been|have been|had been|got|gets|being|will be)"
_OVER_EN = r"(?:replaced|superseded|succeeded|obsoleted|supplanted)"
_VOID_EN = r"(?:deprecated|obsolete|retired|abandoned|withdrawn|no longer valid)"
_WHEN = r"(?: (?:now|since|meanwhile|already|entirely|fully|completely|in full))?"
_LEAD = r"(?:note|status|update|warning|important|attention|deprecated|obsolete|archived|outdated)"
_START = rf"^(?:{_LEAD}\b[ :,.!-]*)?"

_PASSIVE_EN = re.compile(
    rf"{_START}(?:(?:{_SELF}){_WHEN} {_BE}{_WHEN} |{_BE} )?{_OVER_EN}"
    r"(?: (?:on|in|as of|since|from) [^\[\"“'‘«_*`]{3,40}?)?,? (?:by|with|through)"
    rf"(?: (?:the )?(?:new )?{_PAGE})?[ :]+",
    re.IGNORECASE,
)
_FAVOUR_EN = re.compile(
    rf"{_START}(?:(?:{_SELF}) {_BE} )?{_VOID_EN}"
    r",? (?:in favou?r of|in place of it,? (?:see|use)|see|use)[ :]+",
    re.IGNORECASE,
)
_ACTIVE_EN = re.compile(
    rf"{_START}(?:(?:{_SELF}){_WHEN} )?(?:replac(?:es?|ed|ing)|supersed(?:es?|ed|ing)|obsoletes?|"
    r"takes? the place of|took the place of)"
    rf"(?: (?:the )?(?:old |older |former |previous |earlier )?{_PAGE}?)?[ :]*",
    re.IGNORECASE,
)
_PAGE_ZH = (
    "(?:页内容|页面?|文档?|篇|规定|制度|办法|规则|流程|标准|规程|版本?|指引|说明|通知|方案|条|文件)"
)
_SELF_ZH = rf"(?:(?:本|此|该|这个?|这一){_PAGE_ZH}(?:内容)?)?"
_DAY_ZH = r"\d{4}\s*[年./-]\s*\d{1,2}\s*[月./-]\s*\d{1,2}\s*日?"
_WHEN_ZH = rf"(?:[于自从在]?\s*{_DAY_ZH}\s*(?:起|开始)?\s*[，,]?)?"
_OVER_ZH = r"(?:取代|替代|代替|替换|接替)"
_PASSIVE_ZH = re.compile(
    rf"^{_SELF_ZH}\s*(?:已经?|现已|现)?\s*{_WHEN_ZH}\s*(?:已经?)?\s*(?:由|被|为)"
    r"\s*(?:新的?)?(?:页面|文档)?\s*"
)
_AFTER_ZH = re.compile(rf"^\s*(?:一[文页篇])?\s*(?:所|来)?\s*{_OVER_ZH}")
_ACTIVE_ZH = re.compile(
    rf"^{_SELF_ZH}\s*(?:已经?)?\s*{_WHEN_ZH}\s*(?:起)?\s*{_OVER_ZH}\s*了?"
    r"\s*(?:原有?的?|旧的?|此前的?|之前的?)?\s*(?:页面|文档)?\s*"
)
_SEE_ZH = re.compile(
    rf"^{_SELF_ZH}\s*(?:已经?)?(?:废止|作废|失效|停用|过期)[，,。；; ]*"
    r"(?:请|现)?(?:改?看|参见|参阅|见|以|改用)\s*"
)
_NAMED = re.compile(
    r"!?\[\[(?P<wiki>[^\]]+)\]\]"
    r"|\[(?P<text>(?:\\.|[^\]\\])*)\]\((?P<link><[^>]*>|[^)]*)\)"
    r"|[“\"«‘'](?P<quoted>[^”\"»’']+)[”\"»’']"
    r"|《(?P<book>[^》]+)》|「(?P<corner>[^」]+)」"
    r"|(?P<mark>\*{1,2}|_{1,2}|`)(?P<marked>[^*_`]+)(?P=mark)"
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n\s*\n|\n(?=\s*(?:[>#*-]|\d+\.))")
_DRESS = re.compile(r"^[\s>*_#|~-]+(?=\S)|^\s*\d+\.\s+")


def _body(vault: _Vault, page: Page) -> Iterator[tuple[str, Replaced]]:
    for sentence in _sentences(page.body):
        for pattern, passive, after in (
            (_PASSIVE_EN, True, None),
            (_FAVOUR_EN, True, None),
            (_PASSIVE_ZH, True, _AFTER_ZH),
            (_SEE_ZH, True, None),
            (_ACTIVE_EN, False, None),
            (_ACTIVE_ZH, False, None),
        ):
            matched = pattern.match(sentence)
            other = _following(vault, page, sentence[matched.end() :], after) if matched else None
            if other is not None:
                old, new = (page.name, other) if passive else (other, page.name)
                yield old, Replaced(new, page.name, sentence[:200])
                break


def _sentences(body: str) -> Iterator[str]:
    for piece in _SENTENCE.split(body):
        # One line of it, without the quote's and the list's signs before it.
        flat = " ".join(_DRESS.sub("", line).strip() for line in piece.split("\n")).strip()
        flat = _DRESS.sub("", flat).strip("*_ ") if not _NAMED.match(flat) else flat
        if flat:
            yield flat
        # Emphasis around a name is a way to name it; around the other words it is dress.
        bare = re.sub(r"\*\*|__|(?<!\w)[*_]|[*_](?!\w)", "", flat)
        if bare not in ("", flat):
            yield bare


def _following(vault: _Vault, page: Page, rest: str, after: "re.Pattern[str] | None") -> str | None:
    """The page named at the start of the rest of a sentence."""
    named = _NAMED.match(rest)
    if named is not None:
        if after is not None and not after.match(rest[named.end() :]):
            return None
        return _named(vault, named, page)
    if after is not None:
        # Up to the verb, which Chinese puts last.
        words = re.split(rf"(?:所|来)?{_OVER_ZH}", rest, maxsplit=1)
        return vault.called(words[0], page) if len(words) == 2 else None
    return vault.begins(rest, page)


def _named(vault: _Vault, named: "re.Match[str]", page: Page) -> str | None:
    if named["link"] is not None:
        return vault.linked(named["link"], page) or vault.called(named["text"], page)
    if named["wiki"] is not None:
        return vault.linked(named["wiki"], page)
    words = named["quoted"] or named["book"] or named["corner"] or named["marked"]
    return vault.called(words, page) or vault.linked(words, page)
