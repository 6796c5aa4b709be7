"""Every number the router ranks and refuses by, and what each one means.

All but the floor are round values from wide flat stretches, found on the development sets dev,
dev2 and dev3 and on nothing else. ``scripts/tune_router.py`` prints what each does when it is
moved, what comes of tuning on two of the sets and looking at the third, and the figures now.

How to read those figures: the floor and the weight of unknown words matter, the rest hardly does.
Any single weight can be halved or doubled and 130 questions end one or two apart, which is noise.
The floor is less certain than it looks: picked on dev and dev2, which share a vault and an author,
it would be 0.66 and refuse eight more answerable questions of dev3; from 0.46 on three more are
refused, and right minus wrong stays within three of its best from 0.34 to 0.48. The larger a vault,
the more words it knows, and the higher a floor it wants. The lists of everyday words were written
by one who had read all three sets. A set by a stranger has to be expected to come out worse.
"""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Parameters:
    """See the module; the defaults are what is shipped."""

    floor: float = 0.44
    """Least score of the best page; below it the question is refused. A score is the share, from
    0 to 1, of what the question asks with that is found on the page."""
    unknown: float = 2.0
    """How much heavier a word that no page has weighs than one that a single page has would, going
    by rarity alone: a question about a thing the vault does not know is a question to refuse."""
    everyday: float = 0.4
    """What an everyday word weighs (see ``everyday.py``), beside 1 for any other of its rarity. One
    that no page has weighs nothing."""
    character: float = 0.5
    """What a Chinese character weighs beside a word: two make about one."""
    presence: float = 0.5
    """The part of a word's weight that a page gets for having the word at all; the rest comes with
    how often and how prominently it does."""
    saturation: float = 1.0
    """Weighted occurrences at which half of that rest is reached; the k of BM25."""
    length: float = 0.5
    """How far occurrences in a longer text count less, from 0 to 1; the b of BM25."""
    title: float = 3.0
    """What an occurrence in the title counts, beside 1 in the body."""
    path: float = 1.0
    """What one in the names of file and folders counts."""
    former: float = 0.5
    """What one on a page counts that this page replaced: who asks in the old page's words is after
    the new page."""
    trigger: float = 3.0
    """What one in a question counts that the learner was shown to be answered here."""
    sure: float = 0.6
    """Answers with less than this are weak: the learner looks at them as it does at refusals."""
    candidates: int = 4
    """Pages that the learner shows for a question, at most."""

    def as_json(self) -> dict[str, float | int]:
        """By name."""
        return asdict(self)
