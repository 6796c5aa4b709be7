"""When a newer claim retires an older one. Pure functions: no store, no model, no clock.

A sample of a pair has a contradiction verdict and a settled update verdict. Three rules read the
same sample, so that they can be compared on it:

- ``production``: a settled change retires; an older claim that itself says its value is past is
  retired only when the two also contradict each other, because a new value does not make an old
  one less true of its own time;
- ``changes_only``: a settled change retires;
- ``before_same_slot``: a settled change retires only together with a contradiction.
"""

import re
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of the update probe."""

    slot: Literal["CHANGES", "FIXED", "NONE"]
    """The kind of value both claims speak of: one that changes, one that does not, none."""
    verdict: Literal["YES", "NO"]
    """Whether the newer claim replaces the older one."""
    reason: str = ""

    @property
    def changes(self) -> bool:
        """Whether this reading sees a value that changed."""
        return self.slot == "CHANGES" and self.verdict == "YES"


def settled(first: Reading, second: Reading | None) -> bool:
    """Whether both readings see a change; one that was never asked for a second time does not."""
    return first.changes and second is not None and second.changes


def production(*, contradicts: bool, changes: bool, past_value: bool) -> bool:
    """The rule in force."""
    return changes and (contradicts or not past_value)


def changes_only(*, changes: bool) -> bool:
    """The update verdict alone."""
    return changes


def before_same_slot(*, contradicts: bool, changes: bool) -> bool:
    """The rule before a change was enough."""
    return contradicts and changes


def retires(*, same_slot_admits: bool, contradicts: bool, changes: bool, past_value: bool) -> bool:
    """Whether the older claim is retired, under the rule the option chooses."""
    if same_slot_admits:
        return production(contradicts=contradicts, changes=changes, past_value=past_value)
    return before_same_slot(contradicts=contradicts, changes=changes)


# ---------------------------------------------------------------- the past-value marker
#
# A marker says that the value belongs to the past, in the claim's own words. Being old does not:
# "The user lives in Pune, as of 2026-09-01" is a dated statement of something current, and "until
# 2026-09-08" after "is in Pune" is an end still to come. So a time alone marks nothing; it marks
# together with a verb of state in the past tense. An event in the past ("moved to Pune in 2019",
# "was promoted in 2023") leaves a value that may well still hold, and marks nothing either. Nor
# does "no longer": what it states, the absence, is current.

_STANDING = re.compile(
    r"""
    (?<!\bis\s)(?<!\bare\s)(?<!\bam\s)(?<!\bget\s)(?<!\bgets\s)(?<!\bbe\s)(?<!'s\s)(?<!'re\s)
    (?<!\bgot\s)(?<!\bgetting\s)(?<!\bbecoming\s)(?<!\bwas\s)(?<!\bwere\s)(?<!\bbeen\s)
    \bused\s+to\b(?!\s+\w+ing\b)
    | \bformer(?:ly)?\b
    | \bprevious(?:ly)?\b
    | \berstwhile\b
    | \bone-time\b
    | \bex-\w+
    | \bback\s+then\b
    | \bin\s+those\s+days\b
    | \bin\s+the\s+past\b
    | \bat\s+(?:the|that)\s+time\b
    | \bonce\s+(?:was|were|had|lived|worked|stayed|owned|rented|studied|belonged)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_TIME = (
    rf"(?:(?:\d{{1,2}}\s+)?{_MONTH}\s+)?(?:\d{{1,2}},?\s+)?"
    r"(?:19|20)\d\d(?:-\d\d){0,2}s?"
)

_DATED = re.compile(
    rf"""
    \b(?:as\s+of|until|till|through|in|on|during|by|from|between|since|before|for|of)\s+
        (?:the\s+|early\s+|mid-?\s*|late\s+|\w+day,?\s+
        |(?:spring|summer|autumn|fall|winter)\s+(?:of\s+)?)*{_TIME}\b
    | \b(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|\d+|several|some|many|a\s+few)\s+
        (?:day|week|month|year|decade)s?\s+ago\b
    | \blast\s+(?:week|month|year|spring|summer|autumn|fall|winter|{_MONTH})\b
    | \buntil\s+(?:recently|then)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)

_PAST_STATE = re.compile(
    r"""
    \b(?:was|were)(?:n't|n’t)?\b
        (?!\s+(?:\w+ly\s+)?(?:born|promoted|hired|appointed|elected|diagnosed|married|moved|
        transferred|given|told|made|named|founded|built|bought|sold|injured|admitted)\b)
    | \bhad(?:n't|n’t)?\b
    | \b(?:lived|resided|dwelt|worked|stayed|studied|attended|owned|rented|leased|shared|belonged|
        drove|rode|played|paid|cost|earned|weighed|liked|loved|preferred|hated|wanted|planned|
        intended|expected|hoped|kept|held|led|ran|managed|taught|spoke|ate|drank|smoked|used|wore|
        believed|thought|knew|dated|slept|commuted|subscribed|banked|charged|measured)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)

# Only forms that are no nouns as well: "the user's rent was" is not told in the present.
_PRESENT = re.compile(
    r"\b(?:is|are|am|has|have|does|isn['’]t|aren['’]t|lives|resides|works|owns|keeps|wants|prefers|"
    r"likes|pays)\b|\b(?:i|you|we|they|he|she|it)['’](?:m|s|re|ve)\b",
    re.IGNORECASE,
)


def has_past_value_marker(text: str) -> bool:
    """Whether a claim itself says that its value belongs to the past.

    Words are read, not meaning: a claim in another language, or one that is past only by its
    tense ("The user lived in Pune."), carries no marker. Missing one costs nothing but the
    protection; the rule then retires on a settled change as it does for any claim.
    """
    if _STANDING.search(text):
        return True
    return bool(_DATED.search(text) and _PAST_STATE.search(text) and not _PRESENT.search(text))
