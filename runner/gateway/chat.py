"""``POST /v1/chat/completions``: reading such a call, and writing an answer to one.

For systems that speak nothing else. Where a call goes is the user's own endpoint; what it may ask
follows the same rules as a message's.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from runner.gateway.answer import Answer
from runner.gateway.fields import count, document, listed, malformed, model_and_stream
from runner.gateway.reach import NOTHING, Allowed, media_host
from runner.gateway.refusal import Refusal
from runner.gateway.request import ModelRequest
from runner.gateway.usage import chat_usage_of

PATH = "/v1/chat/completions"
UNSAID_MAX_TOKENS = 8192
"""What a call may write that names no limit, where a ceiling has to hold."""
DELTA_CHARACTERS = 64

_FIELDS = frozenset(
    [
        "model",
        "messages",
        "max_tokens",
        "max_completion_tokens",
        "stream",
        "stream_options",
        "temperature",
        "top_p",
        "top_k",
        "min_p",
        "n",
        "stop",
        "seed",
        "presence_penalty",
        "frequency_penalty",
        "repetition_penalty",
        "logit_bias",
        "logprobs",
        "top_logprobs",
        "response_format",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "functions",
        "function_call",
        "user",
        "metadata",
        "store",
        "reasoning",
        "reasoning_effort",
        "verbosity",
        "safety_identifier",
        "prompt_cache_key",
        "chat_template_kwargs",
        "include_reasoning",
        "usage",
    ]
)
_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_PROVIDER_SIDE = ("web_search_options", "plugins")
_STOPS = {"end_turn": "stop", "max_tokens": "length", "refusal": "content_filter"}


def read_chat(
    headers: Mapping[str, str], raw: bytes, *, allowed: Allowed = NOTHING
) -> ModelRequest:
    """Read and check the body of a call.

    Raises:
        Refusal: 400 for what no provider would take, 403 for what the gateway does not pass on.
    """
    body = document(raw)
    model, stream = model_and_stream(body)
    _check_fields(body)
    limit = "max_completion_tokens" if body.get("max_completion_tokens") else "max_tokens"
    named = body.get(limit) is not None
    options = body.get("stream_options")
    if options is not None and not isinstance(options, dict):
        raise malformed("stream_options: an object is required")
    pictures = [len(data) for data in _pictures(body, allowed)]
    return ModelRequest(
        path=PATH,
        headers=headers,
        body=body,
        plain=orjson.dumps(body),
        size=len(raw),
        model=model,
        max_tokens=count(body, limit) if named else UNSAID_MAX_TOKENS,
        thinking_tokens=0,
        stream=stream,
        images=len(pictures),
        image_bytes=sum(pictures),
        limit=limit if named or not allowed.unbounded else "",
        silent_usage=stream and not (options or {}).get("include_usage"),
    )


def completion(answer: Answer, number: str) -> dict[str, Any]:
    """The answer as one document; ``number`` tells it from others."""
    message = {"role": "assistant", "content": answer.text}
    finish = _STOPS.get(answer.stop_reason, "stop")
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": answer.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": chat_usage_of(answer.usage),
    }


def events(whole: dict[str, Any]) -> Iterable[bytes]:
    """The same answer as server-sent events, with its usage in the last of them."""
    (choice,) = whole["choices"]
    text = choice["message"]["content"]
    head = {**whole, "object": "chat.completion.chunk", "usage": None}

    def event(choices: list[dict[str, Any]], **more: Any) -> bytes:
        return b"data: " + orjson.dumps({**head, "choices": choices, **more}) + b"\n\n"

    def delta(delta: dict[str, Any], finish: str | None = None) -> list[dict[str, Any]]:
        return [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}]

    yield event(delta({"role": "assistant", "content": ""}))
    for start in range(0, len(text), DELTA_CHARACTERS):
        yield event(delta({"content": text[start : start + DELTA_CHARACTERS]}))
    yield event(delta({}, choice["finish_reason"]))
    yield event([], usage=whole["usage"])
    yield b"data: [DONE]\n\n"


def _check_fields(body: Mapping[str, Any]) -> None:
    for name in body:
        if name in _PROVIDER_SIDE:
            raise Refusal("provider_tool", f"{name}: tools on the provider's side")
        if name not in _FIELDS:
            raise Refusal("unknown_field", f"{name}: a field this gateway does not know")
    if body.get("n") not in (None, 1):
        raise Refusal("priced_option", "n: several answers cost several times as much")
    if body.get("store"):
        raise Refusal("provider_tool", "store: the provider would keep the answer")
    for tool in listed(body.get("tools"), "tools"):
        if tool.get("type") not in ("function", "custom"):
            raise Refusal("provider_tool", f"tools: {tool.get('type')!r} runs elsewhere")


def _pictures(body: Mapping[str, Any], allowed: Allowed) -> Iterable[str]:
    messages = listed(body.get("messages"), "messages")
    if not messages:
        raise malformed("messages: at least one is required")
    for message in messages:
        if message.get("role") not in _ROLES:
            raise malformed(f"messages: role must be one of {', '.join(_ROLES)}")
        content = message.get("content")
        if content is None or isinstance(content, str):
            continue
        for part in listed(content, "messages.content"):
            kind = part.get("type")
            if kind == "image_url":
                yield _picture(part.get("image_url"), allowed)
            elif kind not in ("text", "refusal"):
                raise Refusal("provider_tool", f"content: a part of type {kind!r} is not passed")


def _picture(source: Any, allowed: Allowed) -> str:
    url = source.get("url") if isinstance(source, dict) else None
    if not isinstance(url, str):
        raise malformed("image_url: an object with a url is required")
    if url[:5].lower() == "data:":
        return url
    host = media_host(url)
    if host is None or host not in allowed.media:
        raise Refusal("remote_media", f"image_url: the provider would fetch it from {host}")
    return ""
