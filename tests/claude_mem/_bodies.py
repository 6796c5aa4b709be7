"""Request bodies in the form in which Claude Code 2.1.197 sent them, kept to what is read of them.

Each was made after a request that was captured from the observer that claude-mem 13.25.3 starts, or
from a session that it watched; their prompts are left out but for the marks they are told by.
"""

import json
from typing import Any

FOLDER = "/home/bench/vault"
DAY = "2026-09-01"
OBSERVER_TOOLS = ("CronCreate", "EnterPlanMode", "Skill", "TaskCreate", "Workflow")
SESSION_TOOLS = (
    "Agent",
    "Bash",
    "Edit",
    "Read",
    "Skill",
    "mcp__plugin_claude-mem_mcp-search__search",
)


def reminder(day: str = DAY) -> dict[str, Any]:
    text = f"<system-reminder>\n# currentDate\nToday's date is {day}.\n</system-reminder>\n\n"
    return {"type": "text", "text": text}


def request(turns: list[dict[str, Any]], tools: tuple[str, ...], **more: Any) -> dict[str, Any]:
    user = {"device_id": "b9fc", "account_uuid": "", "session_id": more.pop("session", "75b2")}
    return {
        "model": "claude-sonnet-5-5",
        "messages": turns,
        "system": [
            {
                "type": "text",
                "text": f"x-anthropic-billing-header: cc_version={more.pop('cc', 'a')};",
            },
            {"type": "text", "text": "You are an agent.", "cache_control": {"type": "ephemeral"}},
            {
                "type": "text",
                "text": f"# Environment\n - OS Version: {more.pop('os', 'Linux 6.1')}\n",
            },
        ],
        "tools": [{"name": name, "input_schema": {"type": "object"}} for name in tools],
        "metadata": {"user_id": json.dumps(user)},
        "max_tokens": 64000,
        "thinking": {"type": "adaptive"},
        "output_config": {"effort": "high"},
        "stream": True,
        **more,
    }


def user(*texts: str, cached: bool = True) -> dict[str, Any]:
    """A turn as its last one: in blocks, the cache's mark on the last of them."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
    if cached:
        blocks[-1]["cache_control"] = {"type": "ephemeral"}
    return {"role": "user", "content": blocks}


def brief(asked: str = "Please read.", day: str = DAY, at: str = "12:00", listed: str = "") -> str:
    return (
        "You are a Claude-Mem, a specialized observer tool.\n\n<session_start_context>\n"
        f"# [vault] recent context, {day} {at}pm UTC\n{listed}\n</session_start_context>\n\n"
        f"<observed_from_primary_session>\n  <user_request>{asked}</user_request>\n"
        f"  <requested_at>{day}</requested_at>\n</observed_from_primary_session>\n\nYour job ..."
    )


def observed(name: str, text: str, at: str = "2026-09-01T12:00:34.310Z", tool: str = "Read") -> str:
    """What the observer is told of a tool; its JSON stands in JSON, as claude-mem has it."""
    path = f"{FOLDER}/{name}"
    file = {"filePath": path, "content": text, "numLines": 1, "startLine": 1, "totalLines": 1}
    given = json.dumps(json.dumps({"file_path": path}), ensure_ascii=False)
    came = json.dumps(
        json.dumps({"type": "text", "file": file}, ensure_ascii=False), ensure_ascii=False
    )
    return (
        f"<observed_from_primary_session>\n  <what_happened>{tool}</what_happened>\n"
        f"  <occurred_at>{at}</occurred_at>\n  <working_directory>{FOLDER}</working_directory>\n"
        f"  <parameters>{given}</parameters>\n  <outcome>{came}</outcome>\n"
        "</observed_from_primary_session>\n\nReturn either one or more ..."
    )


SUMMARY = "--- MODE SWITCH: PROGRESS SUMMARY ---\nWrite ..."
CONDENSE = (
    "Condense the tool payload below to under 12800 characters.\n\n<payload>\n{}\n</payload>\n"
)


def observer(*said: str, **more: Any) -> dict[str, Any]:
    """The observer's conversation: what it was told, and an answer between any two."""
    day = more.pop("day", DAY)
    turns: list[dict[str, Any]] = []
    for number, one in enumerate(said):
        last = number == len(said) - 1
        if number == 0:
            first = user(one, cached=last)
            first["content"].insert(0, reminder(day))
            turns.append(first)
            turns.append({"role": "system", "content": "The following skills are available ..."})
        else:
            # Only the last turn is in blocks; those before it are plain text again.
            turns.append(user(one) if last else {"role": "user", "content": one})
        if not last:
            turns.append({"role": "assistant", "content": [{"type": "text", "text": "<ok/>"}]})
    return request(turns, OBSERVER_TOOLS, **more)


def session(names: list[str], read: list[str], **more: Any) -> dict[str, Any]:
    """The watched session: what it was told to read, and what it has read."""
    day, ids = more.pop("day", DAY), more.pop("ids", "toolu_")
    listed = "\n".join(f"- {FOLDER}/{name}" for name in names)
    first = user(f"Please read these files:\n{listed}", cached=False)
    first["content"].insert(0, reminder(day))
    hook = f"SessionStart hook additional context: # [vault] recent context, {day} 12:02pm UTC\n"
    turns: list[dict[str, Any]] = [first, {"role": "system", "content": hook}]
    for number, name in enumerate(read):
        used = {"file_path": f"{FOLDER}/{name}"}
        id_ = f"{ids}{number}"
        block = {"type": "tool_use", "id": id_, "name": "Read", "input": used}
        turns.append({"role": "assistant", "content": [block]})
        result = {"type": "tool_result", "tool_use_id": id_, "content": f"1\t{name}"}
        turns.append({"role": "user", "content": [result]})
    return request(turns, SESSION_TOOLS, **more)
