"""Known ways around an allow-list, and what shows that each is shut."""

import pytest

from runner.runs.sandbox import control
from tests._named import missing

PROBED = "containers/test_escapes.py::test_nothing_gets_out_of_a_box"
POSSIBLE = "containers/test_escapes.py::test_every_probe_can_succeed"
DOOR = "containers/test_live.py::test_the_door_lets_nothing_through_but_model_calls"
EXACT = "gateway/test_egress.py::test_nothing_but_the_very_endpoint_is_dialled"
CROOKED = "gateway/test_egress.py::test_a_crooked_request_reaches_no_provider"

WAYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "DNS lookups as a channel": (("dns", "interface"), (PROBED, POSSIBLE)),
    "a denied name that is still resolved": (("dns",), (PROBED, EXACT)),
    "the host through the bridge's gateway": (("host", "public-address"), (PROBED, POSSIBLE)),
    "plain HTTP through a CONNECT proxy": ((), (DOOR, CROOKED)),
    "CONNECT to an address in place of a name": ((), (DOOR, CROOKED)),
    "an allowed name at a private address": (
        (),
        (
            "gateway/test_egress.py"
            "::test_an_allowed_name_at_an_address_that_is_not_public_is_refused",
            "gateway/test_egress.py::test_no_socket_is_made_for_an_address_that_was_not_vetted",
        ),
    ),
    "an allowed TLS name with a denied Host header": (
        (),
        (
            "gateway/test_egress.py::test_a_certificate_must_be_of_the_allowed_name",
            "gateway/test_egress.py::test_the_host_a_client_names_changes_nothing",
        ),
    ),
    "a suffix that lets evil-anthropic.com in": ((), (EXACT,)),
    "IPv6": (("ipv6",), (PROBED, POSSIBLE)),
    "the metadata address": (("metadata",), (PROBED, POSSIBLE, DOOR)),
    "raw sockets": (("raw-socket", "packet-socket", "vsock", "other-socket"), (PROBED, POSSIBLE)),
    "tools on the provider's side": (
        (),
        (
            DOOR,
            "gateway/test_request.py"
            "::test_what_reaches_outside_or_has_its_own_price_is_refused_by_name",
        ),
    ),
    "media that the provider fetches": (
        (),
        (
            DOOR,
            "gateway/test_request.py"
            "::test_what_reaches_outside_or_has_its_own_price_is_refused_by_name",
        ),
    ),
    "redirects from a provider": (
        (),
        ("gateway/test_live.py::test_a_redirect_is_never_followed_and_never_passed_on",),
    ),
    "a request inside another": (
        (),
        (
            DOOR,
            "gateway/test_egress.py::test_a_request_inside_another_is_no_request",
            "gateway/test_egress.py::test_a_header_cannot_break_out_of_its_line",
        ),
    ),
    "the user's own proxies and logins": (
        (),
        (
            "containers/test_secrets.py::test_nothing_of_the_users_environment_reaches_a_run",
            "gateway/test_egress.py::test_nothing_of_the_environment_leads_elsewhere",
        ),
    ),
    "the engine's socket": (("engine-socket", "abstract-socket", "mount"), (PROBED,)),
}
"""By way: the probes that try it from inside every run, and the tests that try it."""


@pytest.mark.parametrize("way", WAYS)
def test_each_way_is_tried(way: str) -> None:
    probes, tests = WAYS[way]
    assert set(probes) <= set(control.probe_names())
    assert missing(list(tests)) == []


def test_a_table_cannot_name_what_is_not_there() -> None:
    assert missing(["test_known_ways.py::test_no_such", "no.py::test_x"]) != []
    assert missing(["test_known_ways.py::test_each_way_is_tried"]) == []
