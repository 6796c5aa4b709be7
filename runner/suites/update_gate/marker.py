"""Whether a claim's own words say that what it states is past.

For samples that do not tell what the system's own rule found, and to show where the two differ.
It reads English wordings, not meaning, and two kinds of them:

* words that say it by themselves, such as ``used to``, ``formerly``, ``no longer``, ``back then``;
* words that put a state into a time, such as ``as of 2026-09-04``, ``until March``, ``from 2019 to
  2022`` or ``when they lived in Pune``, where nothing of the claim is told in the present tense.

A past tense alone is no marker, and neither is a bare day or year beside it ("In 2023 the rent was
640 euros a month."): they say when a value was seen, not that it is over. An event ("moved to Pune
two years ago") leaves a value that may well still hold. An end still to come ("is in Pune until
2026-09-08") ends nothing yet.
"""

import re
import unicodedata

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_SEASON = r"(?:spring|summer|autumn|fall|winter)"
_PERIOD = r"(?:day|night|week|weekend|month|term|semester|season|quarter|year|decade)"
_YEAR = r"(?:19|20)\d\d"
_TIME = (
    rf"(?:the\s+|early\s+|mid-?\s*|late\s+|end\s+of\s+)*(?:{_YEAR}-\d\d(?:-\d\d)?"
    rf"|(?:\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?)?(?:{_MONTH}|{_SEASON})"
    rf"(?:\s+\d{{1,2}}(?:st|nd|rd|th)?)?(?:,?\s+(?:of\s+)?{_YEAR})?|{_YEAR}s?)\b"
)
_OWNER = r"(?:\b(?:my|your|his|her|its|our|their)|\b\w+(?:'s|s'))\s+"

# Verbs of what goes on for a while, in the past tense.
_STATE = (
    r"(?:lived|resided|dwelt|worked|served|stayed|lodged|studied|attended|rented|leased|owned|had"
    r"|held|kept|led|ran|managed|taught|coached|volunteered|belonged|shared|used|drove|rode|cycled"
    r"|commuted|walked|swam|trained|played|paid|cost|charged|earned|weighed|measured|ate|drank"
    r"|smoked|wore|slept|spoke|liked|loved|preferred|favou?red|hated|wanted|planned|intended|hoped"
    r"|expected|needed|believed|thought|knew|dated|banked|subscribed|reported|supported)"
)
# What happens once and may well hold ever since.
_EVENT = (
    r"(?:born|founded|hired|promoted|appointed|elected|diagnosed|married|widowed|divorced|moved"
    r"|transferred|told|asked|given|sent|bought|sold|injured|admitted|awarded|made|named|renamed"
    r"|introduced|agreed|arranged|booked|reserved|scheduled|decided|deferred|delayed|extended"
    r"|postponed|pushed|promised|renewed|signed|joined|started|switched|changed|adopted|opened)"
)
_IRREGULAR = (
    r"(?:built|began|brought|chose|drew|fed|felt|gave|grew|made|met|sang|sat|saw|sold|spent|stood"
    r"|took|went|woke|wrote)"
)

_BY_ITSELF = re.compile(
    rf"""
    (?<!\bis\s)(?<!\bare\s)(?<!\bam\s)(?<!\bbe\s)(?<!\bwas\s)(?<!\bwere\s)(?<!\bbeen\s)(?<!'s\s)
    (?<!'m\s)(?<!'re\s)(?<!\bget\s)(?<!\bgets\s)(?<!\bgot\s)(?<!\bgetting\s)(?<!\bbecome\s)
        \bused\s+to\s+(?!(?:the|a|an|this|that|these|those|it|him|her|them)\b)(?!\w+ing\b)\w
    | \bdid(?:n't|\s+not)\s+use\s+to\b
    # "prefers the former"; "Meta, formerly Facebook"
    | \bformer\b(?!\s*(?:[.,;:)]|$))
    | (?<!,\s)\bformerly\b(?!\s+(?:known|called|named)\b)
    | ,\s+formerly\s+(?:an?|the|at|in|of|with|on)\b
    | (?<!,\s)\bpreviously\b(?!\s+(?:known|called|named)\b)
    | {_OWNER}(?:previous|prior|earlier|then|erstwhile)(?:\s+|-)\w
    | \bthe\s+then(?:\s+|-)(?!\w*ed\b)\w
    | \berstwhile\b
    | \bex-(?:employer|company|boss|manager|landlord|landlady|flatmate|roommate|colleague|flat|home
        |address|school|doctor|dentist|job)\b
    | \bno\s+longer\b
    # "does not want any more cake"
    | \b(?:not|\w+n't)\b[^.;]{{0,80}}?\b(?:anymore\b|any\s+longer\b|any\s+more(?=\s*(?:[.,;)]|$)))
    | \bback\s+(?:then|in\s+(?:{_TIME}|the\s+day\b|those\s+days\b))
    | \bin\s+(?:those|earlier|former|the\s+old)\s+(?:days|times|years)\b
    | \b(?:in|at\s+some\s+point\s+in)\s+the\s+past\b(?!\s+(?:\w+\s+)?{_PERIOD}s?\b)
    | \bat\s+(?:the|that)\s+(?:time|point)\b(?!\s+of\b)
    | \bat\s+one\s+(?:time|point)\b
    | \bup\s+until\s+(?:then|recently)\b | \b(?:until|till)\s+(?:then|recently|lately)\b
    | \bonce\s+(?:was|were|{_STATE})\b
    | \b(?:was|were)\s+once\b(?!\s+(?:an?|per|every|each)\s+{_PERIOD}\b)
    | \bhad\s+(?:\w+\s+)?been\b
    """,
    re.IGNORECASE | re.VERBOSE,
)

_BOUNDED = re.compile(
    rf"""
    \b(?:until|till)\b
    | \b(?:from|between)\s+{_TIME}\s+(?:to|till|through|and|[-–—])\s+\w
    | \b{_YEAR}(?:\s*[-–—]\s*{_YEAR}|[–—]\d\d)(?![\d-])
    | \b(?:up\s+to|through)\s+{_TIME}
    """,
    re.IGNORECASE | re.VERBOSE,
)

_SITUATED = re.compile(
    rf"""
    \bas\s+of\s+{_TIME}
    | \b(?:before|prior\s+to)\s+(?:{_TIME}|then\b|that\b|(?:the|a|an)\s+\w|{_OWNER}\w
        |(?:\w+\s+)?\w+ing\b|(?:\w+\s+){{1,2}}\w+ed\b)
    | \b(?:when|while)\s+(?:(?:\w+\s+){{1,2}}(?:was|were|{_STATE})|living|working|studying|staying
        |at|in)\b
    | \bas\s+a\s+(?:child|kid|boy|girl|teenager|student|undergraduate|toddler)\b
    | \b(?:in|during)\s+{_OWNER}(?:childhood|youth|twenties|thirties|student\s+days
        |time\s+(?:at|in))\b
    | \b(?:originally|initially|at\s+first)\b(?!\s+from\b)
    | {_OWNER}old\s+\w
    | \b{_PERIOD}s?\s+(?:ago|earlier|before)\b | \blong\s+ago\b | \ba\s+while\s+(?:ago|back)\b
    | \blast\s+(?:{_PERIOD}|{_SEASON}|{_MONTH})\b
    """,
    re.IGNORECASE | re.VERBOSE,
)

_PAST_STATE = re.compile(
    rf"\b(?:was|were)(?:n't)?\b(?!\s+(?:\w+ly\s+)?{_EVENT}\b)|\bdid(?:n't)?\b|\b{_STATE}\b",
    re.IGNORECASE,
)

_PAST_VERB = re.compile(
    rf"(?:\b(?:user|i|we|you|he|she|it|they)|(?:'s|s')\s+\w+)\s+(?:\w+ly\s+)?(?!{_EVENT}\b)"
    rf"(?:\w+ed|{_IRREGULAR})\b",
    re.IGNORECASE,
)

_PRESENT_TENSE = re.compile(
    r"\b(?:is|are|am|has|have|does|do|will|isn't|aren't|hasn't|haven't|doesn't|don't|lives|resides"
    r"|works|studies|owns|rents|keeps|holds|wants|plans|prefers|likes|needs|pays|costs|earns|eats"
    r"|drinks|wears|drives|speaks|plays|runs|uses|teaches|attends|stays|weighs|goes)\b"
    r"|\b(?:i|you|we|they|he|she|it|that)'(?:m|s|re|ve|ll)\b",
    re.IGNORECASE,
)

_ASIDE = re.compile(
    r",?\s*\b(?:which|who|whose|that|where)\s+(?:\w+\s+){0,2}?(?:is|are|has|have|lives|works)\b"
    r"[^,.;]*",
    re.IGNORECASE,
)
"""A relative clause in the present: "the restaurant, which is in Delhi, was ..."."""


def marked(text: str) -> bool:
    """Whether the claim carries a past-value marker."""
    straight = unicodedata.normalize("NFKC", text).replace("’", "'").replace("‘", "'")
    plain = " ".join(straight.split())
    if _BY_ITSELF.search(plain):
        return True
    told = _ASIDE.sub("", plain)
    if _PRESENT_TENSE.search(told):
        return False
    state = _PAST_STATE.search(told)
    bounded = _BOUNDED.search(told) and (state or _PAST_VERB.search(told))
    return bool(bounded or (state and _SITUATED.search(told)))
