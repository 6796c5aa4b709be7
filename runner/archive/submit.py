"""The rules for putting a result in public, and whether a report or an archive follows them."""

import enum
from pathlib import Path

from runner.archive import _rules_of_runs, _rules_of_systems
from runner.archive._rules import GET, Beside, Broken, Judge
from runner.archive.verify import told, verify
from runner.model import Noun


class Follows(enum.StrEnum):
    """Whether a rule is followed."""

    HOLDS = "holds"
    DOES_NOT = "does not"
    NOT_APPLICABLE = "not applicable"


class Rule(Noun):
    """One rule, and what came of it."""

    id: str
    rule: str
    why: str
    """Why there is such a rule."""
    follows: Follows
    found: str = ""
    """What was found."""
    todo: str = ""
    """What to do where it is not followed."""


class Submission(Noun):
    """Whether a result may be put in public."""

    file: str
    about: str
    rules: tuple[Rule, ...]

    @property
    def ready(self) -> bool:
        """Whether no rule is broken."""
        return all(rule.follows is not Follows.DOES_NOT for rule in self.rules)

    def rule(self, id_: str) -> Rule:
        """One rule; ``KeyError`` where there is none of that name."""
        for rule in self.rules:
            if rule.id == id_:
                return rule
        raise KeyError(id_)


def check(path: Path) -> Submission:
    """Hold a report or an archive to every rule.

    Raises:
        UsageError: there is no such file.
    """
    verified = verify(path)
    rules = []
    for id_, (rule, why, judge) in _RULES.items():
        follows, found, todo = Follows.HOLDS, "", ""
        try:
            if verified.report is not None:
                found = judge(verified.report, verified.sheet)
            elif judge is _rules_of_systems.verified:
                raise Broken("There is no report in it that can be read.", GET)
            else:
                raise Beside("There is no report in it that can be read.")
        except Broken as broken:
            follows, found, todo = Follows.DOES_NOT, broken.found, broken.todo
        except Beside as beside:
            follows, found = Follows.NOT_APPLICABLE, str(beside)
        except Exception as error:  # a report may be anybody's
            follows, found, todo = Follows.DOES_NOT, told(error), GET
        rules.append(Rule(id=id_, rule=rule, why=why, follows=follows, found=found, todo=todo))
    return Submission(file=path.name, about=verified.sheet.about, rules=tuple(rules))


_RULES: dict[str, tuple[str, str, Judge]] = {
    "runs": (
        "The whole protocol was run.",
        "Fewer runs, or chosen ones, prove less than they seem to.",
        _rules_of_runs.counts,
    ),
    "verdicts": (
        "Every run is told of, also those without a verdict.",
        "What was left out may be what failed.",
        _rules_of_runs.verdicts,
    ),
    "ceilings": (
        "No ceiling was hit.",
        "A memory that was refused its model has not been measured.",
        _rules_of_runs.ceilings,
    ),
    "top-k": (
        "As many pages may be cited as everywhere.",
        "Who may cite more is right more often.",
        _rules_of_runs.top_k,
    ),
    "reveal": (
        "The held-out set was not shown.",
        "What was seen is tuned to, wittingly or not.",
        _rules_of_runs.revealed,
    ),
    "answers": (
        "What was answered is there, or sealed.",
        "A number nobody can compute again is no result.",
        _rules_of_runs.answers,
    ),
    "reader": (
        "Who read the store is told.",
        "What a memory says of itself is its own word, and no reader's.",
        _rules_of_systems.reader,
    ),
    "settings": (
        "The system says how it was set.",
        "A memory in other settings is another memory.",
        _rules_of_systems.settings,
    ),
    "image": (
        "The image is named by digest, with its packages.",
        "A name drifts; a digest is the thing itself.",
        _rules_of_systems.image,
    ),
    "plain": (
        "Nothing was made wrong on purpose, or told.",
        "Such runs check the bench, and no memory.",
        _rules_of_systems.plain,
    ),
    "arm": (
        "A claim about a model rests on the model.",
        "A table or a recording answers the same whatever it is named.",
        _rules_of_systems.arm,
    ),
    "model": (
        "One model for all purposes, or a mixture by name.",
        "A helper that is better than the model is credited to it.",
        _rules_of_systems.one_model,
    ),
    "checks": (
        "The newest checks decided.",
        "Older ones let through what was found since.",
        _rules_of_systems.newest,
    ),
    "verify": (
        "The file holds when it is verified.",
        "Nobody has to trust whoever hands it in.",
        _rules_of_systems.verified,
    ),
}
