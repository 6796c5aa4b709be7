"""An answer that is known whole before it is written: a scripted one, or one that is cut."""

from dataclasses import dataclass, replace

from runner.gateway.wire import ToolUse
from runner.model import Usage


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer of a model."""

    text: str
    usage: Usage
    model: str
    stop_reason: str
    tools: tuple[ToolUse, ...] = ()
    """What it wants used, after what it says."""


def cut(answer: Answer, max_tokens: int) -> Answer:
    """An answer as a model would have given it that may write ``max_tokens``: of the text, the
    same share is left as of its tokens, and of what stands behind it nothing."""
    tokens = answer.usage.output
    if tokens <= max_tokens:
        return answer
    return replace(
        answer,
        text=answer.text[: len(answer.text) * max_tokens // tokens],
        usage=answer.usage.model_copy(update={"output": max_tokens}),
        stop_reason="max_tokens",
        tools=(),
    )
