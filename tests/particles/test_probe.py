"""What the driver makes of its engine's probes: their verdicts, and nothing where there is none."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runner.runs import calls
from runner.suites.trip_vs_move import load_case
from tests.particles._provider import towards
from tests.particles._relay import relay
from tests.particles._run import DriverBox, Installed, gateway
from tests.particles._upstream import Standing, standing
from tests.standin.upstream import How

pytestmark = [pytest.mark.particles, pytest.mark.timeout(300)]

LIVES = {"text": "The user lives in Turin.", "day": "2026-09-01"}
MOVED = {"text": "The user moved to Oslo.", "day": "2026-09-15"}
FOR_GOOD = (("x-should-retry", "false"),)
"""Spares the client's own tries."""
CUT = How(text="REASON: it may", stop_reason="max_tokens")


def says(verdict: str, slot: str | None = None, **more: Any) -> How:
    lines = ["REASON: so it is.", *([f"SLOT: {slot}"] if slot else []), f"VERDICT: {verdict}"]
    return How(text="\n".join(lines), **more)


YES, NO = says("YES"), says("NO")
CHANGES, FIXED, OTHER = says("YES", "CHANGES"), says("YES", "FIXED"), says("NO", "NONE")
OVERLOADED = How(status=529, kind="overloaded_error", headers=FOR_GOOD)


@pytest.fixture(scope="module")
def upstream() -> Iterator[Standing]:
    with standing() as made:
        yield made


@pytest.fixture(scope="module")
def driver(
    particles: Installed, upstream: Standing, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[DriverBox]:
    folder = tmp_path_factory.mktemp("probe")
    # No probe looks at a day, and libfaketime of Debian 12 breaks the sleep between two tries.
    box = DriverBox(particles, folder, upstream.port, folder / "clock", {}, {"LD_PRELOAD": ""})
    box.result("describe")
    yield box
    box.close()


def asked(driver: DriverBox, upstream: Standing, *hows: How, **pair: Any) -> dict[str, Any]:
    upstream.answer(*hows)
    reply = driver.ask("probe", **{"older": LIVES, "newer": MOVED, **pair})
    assert not upstream.left, f"{len(upstream.left)} calls were not made: {reply}"
    return reply


@pytest.mark.parametrize(
    ("hows", "contradiction", "update"),
    [
        ((YES, CHANGES, CHANGES), True, "changes"),
        ((NO, CHANGES, CHANGES), False, "changes"),
        ((NO, CHANGES, OTHER), False, "not_changes"),
        ((YES, CHANGES, FIXED), True, "not_changes"),
        ((YES, FIXED), True, "not_changes"),
        ((NO, OTHER), False, "not_changes"),
        # A second reading that was cut off is asked once more with more room.
        ((NO, CHANGES, CUT, CHANGES), False, "changes"),
        # What the provider fails once, the client asks again by itself.
        ((How(status=529), NO, CHANGES, CHANGES), False, "changes"),
    ],
)
def test_its_verdicts(
    driver: DriverBox, upstream: Standing, hows: tuple[How, ...], contradiction: bool, update: str
) -> None:
    reply = asked(driver, upstream, *hows)
    result = reply["result"]
    assert (result["contradiction"], result["update"]) == (contradiction, update)
    assert result["past_value_marker"] is False
    detail = result["detail"]
    assert detail["contradiction"]["verdict"] == ("YES" if contradiction else "NO")
    assert detail["readings"][0]["purpose"] == "semantic_lint"
    assert all(reading["reason"] for reading in detail["readings"])


REFUSED = How(text="I would rather not.", stop_reason="refusal")
SILENT = How(
    body=json.dumps(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "content": [],
            "model": "claude-sonnet-5-5",
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    ).encode()
)
BROKEN = {
    "provider": OVERLOADED,
    "provider rate": How(status=429, kind="rate_limit_error", headers=FOR_GOOD),
    "provider key": How(status=401, kind="authentication_error"),
    "provider prompt": How(status=400, kind="invalid_request_error"),
    "gateway_refused": How(status=403, kind="permission_error", headers=FOR_GOOD),
    "unparseable_reply refused": REFUSED,
    "unparseable_reply silent": SILENT,
    "unparseable_reply odd": How(text="Perhaps, perhaps not."),
    "unparseable_reply both": How(text="VERDICT: YES\nVERDICT: NO"),
    "unparseable_reply cut": says("NO", "NONE", stop_reason="max_tokens"),
    "unparseable_reply whole but cut": says("YES", "CHANGES", stop_reason="max_tokens"),
}
ASKED_AGAIN = {f"unparseable_reply {how}" for how in ("silent", "odd", "both")}


@pytest.mark.parametrize("what", BROKEN)
@pytest.mark.parametrize("before", [(), (NO,), (YES, CHANGES)])
def test_no_verdict_is_never_one(
    driver: DriverBox, upstream: Standing, before: tuple[How, ...], what: str
) -> None:
    # A second reading whose reply has no verdict is asked once more, with more room.
    again = len(before) == 2 and what in ASKED_AGAIN
    reply = asked(driver, upstream, *before, *[BROKEN[what]] * (2 if again else 1))
    assert not reply["ok"], reply
    assert reply["error"]["type"] == what.split()[0], reply


def test_a_provider_that_stays_away_is_tried_again_and_told(
    driver: DriverBox, upstream: Standing
) -> None:
    reply = asked(driver, upstream, *[How(status=529, kind="overloaded_error")] * 3)
    assert reply["error"]["type"] == "provider"
    assert "contradiction" in reply["error"]["message"]


def test_one_pair_that_failed_leaves_nothing_for_the_next(
    driver: DriverBox, upstream: Standing
) -> None:
    # In one process of the engine's own, a bad key silences every later probe.
    assert not asked(driver, upstream, BROKEN["provider key"])["ok"]
    assert asked(driver, upstream, YES, CHANGES, CHANGES)["result"]["update"] == "changes"


def test_its_own_rules_are_kept(driver: DriverBox, upstream: Standing) -> None:
    past = {"text": "The user used to live in Turin.", "day": None}
    result = asked(driver, upstream, NO, OTHER, older=past)["result"]
    assert result["past_value_marker"] is True
    # The marker of the newer claim is no matter.
    result = asked(driver, upstream, NO, OTHER, newer=past)["result"]
    assert result["past_value_marker"] is False
    quoted = {"text": "Anna says that the user lives in Turin.", "day": None}
    result = asked(driver, upstream, OTHER, newer=quoted)["result"]
    assert result["contradiction"] is False
    assert result["detail"]["contradiction"] == {"verdict": "NO", "asked": False}


def test_a_reply_that_tells_no_usage_is_still_an_answer(
    driver: DriverBox, upstream: Standing
) -> None:
    reply = asked(driver, upstream, says("NO", usage=False), OTHER)
    assert reply["result"]["update"] == "not_changes"


def test_it_is_asked_as_production_asks(driver: DriverBox, upstream: Standing) -> None:
    upstream.seen.clear()
    asked(driver, upstream, YES, CHANGES, CHANGES)
    first, second, third = (row.document for row in upstream.seen)
    text = first["messages"][0]["content"]
    assert text.index(MOVED["text"]) < text.index(LIVES["text"])
    for later in (second, third):
        text = later["messages"][0]["content"]
        assert text.index(LIVES["text"]) < text.index(MOVED["text"])
    assert (first["max_tokens"], second["max_tokens"], third["max_tokens"]) == (4096, 4096, 1024)


def test_there_is_no_store_afterwards(driver: DriverBox) -> None:
    assert not list(Path(driver.home).rglob("*.db*"))


@pytest.mark.parametrize("older", [None, {}, {"text": 3}, {"text": " "}, "The user moved."])
def test_no_pair_is_a_bad_request(driver: DriverBox, older: Any) -> None:
    assert driver.ask("probe", older=older, newer=MOVED)["error"]["type"] == "bad_request"


def test_the_ledger_holds_what_the_driver_was_told(
    particles: Installed, upstream: Standing, tmp_path: Path
) -> None:
    # Were the driver to take a failed reading for a verdict, the run would still not be judged.
    config = towards(load_case("reader"), f"http://127.0.0.1:{upstream.port}", "live")
    with gateway(tmp_path, config) as door, relay(door.socket) as port:
        box = DriverBox(particles, tmp_path, port, door.clock, {}, {"LD_PRELOAD": ""})
        try:
            for step, hows, judged in (
                ("answered", (YES, CHANGES, CHANGES), True),
                ("cut once", (YES, CHANGES, CUT, CHANGES), True),
                ("failed", (YES, CHANGES, OVERLOADED), False),
                ("cut", (YES, says("NO", "NONE", stop_reason="max_tokens")), False),
            ):
                door.ask("step", name=step)
                upstream.answer(*hows)
                assert box.ask("probe", older=LIVES, newer=MOVED)["ok"] == judged, step
                made = [call for call in door.calls() if call.step == step]
                assert len(made) == len(hows)
                assert "unattributed" not in {call.purpose for call in made}
                assert (calls.ending(made) is None) == judged, step
        finally:
            box.close()
