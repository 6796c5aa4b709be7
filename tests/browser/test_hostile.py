"""What strangers wrote is shown as they wrote it and does nothing, in a browser that would."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from runner.reports import site
from runner.reports.files import load
from tests.browser._pages import tab
from tests.browser._reports import kept
from tests.reports._hostile import HOSTILE, hostile
from tests.reports.test_sheets import KEYS

pytestmark = pytest.mark.slow

MARK = "window.planted=1;alert(1)"
WORDS = (
    f"</script></style></title></textarea></pre></svg>-->]]><script>{MARK}</script>"
    f"<svg onload={MARK}><img src=x onerror={MARK}><iframe srcdoc='<script>{MARK}</script>'>"
    f"\" onfocus={MARK} autofocus tabindex=1 ' onmouseover={MARK} data-planted=1 x='"
    f"<a href='javascript:{MARK}'>a</a><form action=//evil.example><base href=//evil.example>"
    f"<meta http-equiv=refresh content=0;url=//evil.example><style>*{{display:none}}</style>"
    f"<x-planted> javascript:{MARK} data:text/html,x //evil.example"
    f" &lt;script&gt;{MARK}&lt;/script&gt; {{{{ 7 * '7' }}}} {{% raw %}} {{#  ${{7*7}} {HOSTILE}"
)

LOOKED_UP = {"RuleTally.rule"}
"""Words that a report is refused for where they are others."""
OBEYED = re.compile(r"7777777|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What a template makes of the words, and characters that a terminal or a line of text obeys."""

FOUND = """() => {
  const found = [], all = [...document.querySelectorAll('*')];
  if (window.planted !== undefined) found.push('a script ran');
  const strange = 'script, style, img, iframe, object, embed, form, base, x-planted, input,'
    + ' image, foreignObject, animate, set, textarea, [data-planted], [autofocus], [srcdoc]';
  for (const e of document.querySelectorAll(strange)) found.push('made ' + e.outerHTML);
  for (const e of all) for (const a of e.attributes) {
    if (/^on|^style$|^formaction$|^src$|^xlink/.test(a.name)) found.push(a.name + '=' + a.value);
    if (a.name === 'tabindex' && !['0', '-1'].includes(a.value)) found.push('tabindex ' + a.value);
    if (a.name === 'href' && e.localName !== 'link' && !/^[\\w.-]*(#[\\w.-]*)?$/.test(a.value))
      found.push('leads to ' + a.value);
  }
  const known = ['style.css', 'data:,'];
  for (const e of document.querySelectorAll('link'))
    if (!known.includes(e.getAttribute('href'))) found.push(e.outerHTML);
  if (document.querySelectorAll('meta[http-equiv]').length !== 1) found.push('more than a policy');
  return found.map(one => one.slice(0, 120));
}"""


@pytest.fixture(scope="session")
def planted(
    others: tuple[Path, ...], originals: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> site.Site:
    """A site of every suite's report, with hostile words in every field that may hold some."""
    folder = tmp_path_factory.mktemp("planted")
    (folder / "trip.json").write_bytes(originals["mid-trip"])
    gate, dev, _, lesson = map(load, others)
    clean = (load(folder / "trip.json"), gate, dev, kept("mem0"), lesson)
    bad = [hostile(one, KEYS[one.suite] | LOOKED_UP, WORDS) for one in clean]
    # A file's name too is a stranger's.
    name = "\"><img src=x onerror=alert(1)> {{ 7 * '7' }} \u202e {}.json"
    some = [
        site.Loaded(folder / name.replace("{}", str(number)), one, f"{number}" * 64)
        for number, one in enumerate(bad)
    ]
    return site.build(some, folder / "out")


@pytest.mark.parametrize("bypass", [False, True], ids=["with-policy", "escaping-alone"])
def test_hostile_words_do_nothing(browser: Browser, planted: site.Site, bypass: bool) -> None:
    told, pages = 0, planted.pages
    if not bypass:  # what the policy holds back has to be asked for once a template
        pages = tuple(one for one in pages if not one.startswith("run-"))
    with tab(browser, planted.folder, bypass_csp=bypass) as shown:
        for name in pages:
            page = shown.open(name)
            # What waits for a hand: everything folded is opened, and everything is pointed at.
            page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true })")
            page.evaluate(
                "document.querySelectorAll('*').forEach(e => {"
                "  e.focus?.(); e.dispatchEvent(new MouseEvent('mouseover', {bubbles: true})) })"
            )
            for one in page.evaluate(FOUND):
                shown.fault(one)
            text = page.locator("html").inner_text() + page.title()
            if OBEYED.search(text):
                shown.fault("a template or a terminal would have obeyed")
            told += f"<script>{MARK}</script>" in text
    assert not shown.faults, "\n".join(shown.faults)
    assert told == len(pages), "the words are there, as words"
