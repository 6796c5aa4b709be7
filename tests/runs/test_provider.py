"""What the gateway of a live run is told, and who else is."""

import orjson
import pytest
from pydantic import SecretStr

from runner.errors import UsageError
from runner.gateway.config import WayOut
from runner.runs.protocol import check_key
from runner.runs.provider import Provider
from tests.runs._protocols import jobs_of, protocol

KEY = "sk-of-a-test-0123456789"
PROXY = "http://me:hush@proxy.lan:3128"
OURS = Provider(
    way_out=WayOut(anthropic="http://10.0.0.7:8000", proxy=SecretStr(PROXY), authority="PEM"),
    key=SecretStr(KEY),
    key_as="bearer",
    allow_tools=("web_search_20250305",),
)


@pytest.mark.parametrize("arm", ["live", "record"])
def test_the_gateway_alone_is_told_on_its_first_line(arm: str) -> None:
    for job in jobs_of(arm=arm, provider=OURS):
        told = orjson.loads(job.gateway.first_line)
        assert told["key"] == KEY
        assert told["key_as"] == "bearer"
        assert told["way_out"]["proxy"] == PROXY
        assert told["allow_tools"] == ["web_search_20250305"]
        assert job.gateway.network == "bridge"
        assert dict(job.gateway.env) == {}
        for secret in (KEY, "hush"):
            assert secret not in repr(job)
            assert secret not in repr(dict(job.system.env))
            assert secret not in job.gateway_record.model_dump_json()
            assert secret not in job.spec.model_dump_json()


@pytest.mark.parametrize("arm", ["scripted", "replay"])
def test_a_gateway_without_a_way_out_is_told_nothing_that_could_leave_it(arm: str) -> None:
    for job in jobs_of(arm=arm, provider=OURS):
        told = orjson.loads(job.gateway.first_line)
        assert (told["key"], told["way_out"]["proxy"], told["allow_tools"]) == (None, None, [])
        assert job.gateway.network == "none"
        assert job.gateway_record.way_out is None


def test_a_report_says_where_calls_went_and_no_secret() -> None:
    (job, *_) = jobs_of(arm="live", provider=OURS)
    way_out = job.gateway_record.way_out
    assert way_out is not None
    assert (way_out.anthropic, way_out.proxy, way_out.key_as) == (
        "http://10.0.0.7:8000",
        True,
        "bearer",
    )
    assert way_out.authority_sha256 is not None


def test_only_an_endpoint_of_ones_own_does_without_a_key() -> None:
    with pytest.raises(UsageError, match="there is no key"):
        check_key(protocol(arm="live"))
    check_key(protocol(arm="scripted"))
    check_key(protocol(arm="live", provider=OURS))
    check_key(protocol(arm="live", provider=Provider(way_out=WayOut(anthropic="http://10.0.0.7"))))
