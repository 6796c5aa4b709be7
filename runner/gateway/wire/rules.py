"""How a system talks to a model, as data: the table ``[wire]`` of a ``system.toml``.

Whoever brings a system along is a stranger, and the gateway stands beside the key. So nothing of
theirs runs in it, and nothing that they write can make it search without end: what is looked for
is literal text, and what is taken out lies between two literal texts or is of a few known forms.
"""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from runner.model import Noun

RULES = 32
"""Most rules of a kind."""
REACH = 4096
"""Most characters between two texts, unless a rule says less."""

Name = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9_-]+$", min_length=1, max_length=64, strict=True)
]
Literally = Annotated[str, StringConstraints(min_length=1, max_length=400, strict=True)]
"""A piece of text, character for character."""
Part = Literal["system", "text"]
"""``system``: the system prompt; ``text``: all text of the last message."""


class PurposeRule(Noun):
    """How a call of one purpose is told. All that is given has to hold."""

    purpose: Name
    """One of ``[purposes]``."""
    header: Literally | None = None
    """What the header that ``[wire]`` names says."""
    system: tuple[Literally, ...] = Field(default=(), max_length=16)
    """Texts that all stand in the system prompt."""
    text: tuple[Literally, ...] = Field(default=(), max_length=16)
    """Texts that all stand in the last message."""
    answer: Literal["text", "json", "tool"] | None = None
    """How a scripted answer to it is written; as ``[wire]`` says when none."""

    @model_validator(mode="after")
    def _tells_something(self) -> "PurposeRule":
        if self.header is None and not self.system and not self.text:
            raise ValueError("needs header, system or text: it would be every call's")
        return self


class FieldRule(Noun):
    """A piece of a call that scripted tables can match on."""

    name: Name
    part: Part = "text"
    """Where it stands."""
    after: Literally
    """The text before it, where it occurs first."""
    before: Literally | None = None
    """The text behind it; the end of the part when none."""


class Between(Noun):
    """What stands between two texts differs from call to call, and is not asked."""

    after: Literally
    before: Literally
    reach: int = Field(default=REACH, ge=1, le=REACH)
    """Most characters between the two; what is longer stays."""


class LeftOut(Noun):
    """What is taken out of a request before it is digested, and before a recording is searched."""

    fields: tuple[Literally, ...] = Field(default=("stream", "metadata"), max_length=RULES)
    """Fields of the request, by name."""
    forms: tuple[Literal["uuid", "datetime", "number"], ...] = ()
    """Forms of text, wherever they occur: ``uuid``; ``datetime``, a day with a time in ISO 8601;
    ``number``, runs of digits."""
    between: tuple[Between, ...] = Field(default=(), max_length=RULES)
    """What stands between two texts, wherever both occur."""


class WireRules(Noun):
    """The table ``[wire]``; left out by a system that calls no model."""

    header: Literally | None = None
    """A header in which calls say their purpose. Where no rule says otherwise, its value is the
    purpose's name."""
    purpose: tuple[PurposeRule, ...] = Field(default=(), max_length=RULES)
    """How calls are told apart; the first that holds counts, and a header that names one without a
    rule counts after all of them."""
    document: bool = False
    """Whether the last message's last text is a JSON object, whose fields tables match on."""
    field: tuple[FieldRule, ...] = Field(default=(), max_length=RULES)
    """What else tables can match on, beside ``system`` and ``text``."""
    answer: Literal["text", "json", "tool"] = "text"
    """How scripted answers are written: ``text``: as they are; ``json``: as JSON; ``tool``: as the
    use of a tool, of an answer's ``name`` and ``input``."""
    left_out: LeftOut = LeftOut()
    """What differs from call to call."""
    purposes: tuple[Name, ...] = Field(default=(), max_length=RULES)
    """Every purpose there is: put in from ``[purposes]``."""

    @model_validator(mode="after")
    def _whole(self) -> "WireRules":
        if self.header is None and any(rule.header is not None for rule in self.purpose):
            raise ValueError("a rule looks at a header, and none is named")
        names = [rule.name for rule in self.field]
        if odd := sorted({name for name in names if names.count(name) > 1} & set(names)):
            raise ValueError(f"the field {odd[0]} is there twice")
        if taken := sorted({"system", "text"} & set(names)):
            raise ValueError(f"the field {taken[0]} is there already")
        return self
