"""What a live run is told by options and environment, and what is refused before it starts."""

from pathlib import Path
from typing import Any

import pytest

from runner.commands._live import KeyAs, Live
from runner.errors import UsageError
from runner.gateway.config import ANTHROPIC
from runner.runs.provider import Provider

KEY = {"ANTHROPIC_API_KEY": "sk-of-a-test"}


def provider(environ: dict[str, str] | None = None, **options: Any) -> Provider:
    return Live(**options).provider("live", {**KEY, **(environ or {})})


def proxy_of(environ: dict[str, str], **options: Any) -> str | None:
    found = provider(environ, **options).way_out.proxy
    return found.get_secret_value() if found else None


def test_by_default_it_goes_to_the_provider_itself() -> None:
    told = provider()
    assert told.key is not None
    assert told.key.get_secret_value() == "sk-of-a-test"
    assert told.way_out.anthropic == ANTHROPIC
    assert (told.way_out.openai, told.way_out.proxy, told.way_out.allow_private) == (None, None, ())
    assert (told.openai_key, told.allow_tools, told.allow_media) == (None, (), ())


def test_options_reach_the_gateway() -> None:
    told = provider(
        {"OPENAI_API_KEY": "other"},
        anthropic_url="http://10.0.0.7:8000",
        openai_url="http://vllm.lan:8000/v1",
        allow_private=["10.0.0.7", "vllm.lan"],
        allow_tool=["web_search_20250305"],
        allow_media=["example.org"],
        key_as=KeyAs.BEARER,
    )
    assert told.way_out.allow_private == ("10.0.0.7", "vllm.lan")
    assert told.key_as == "bearer"
    assert told.openai_key is not None
    assert told.allow_tools == ("web_search_20250305",)
    assert told.allow_media == ("example.org",)
    assert "other" not in repr(told)


def test_the_report_of_it_holds_no_secret(tmp_path: Path) -> None:
    told = provider({"HTTPS_PROXY": "http://me:hush@proxy.lan:3128"})
    record = told.record()
    assert record.proxy is True
    assert "hush" not in record.model_dump_json() + repr(told)
    assert "sk-of-a-test" not in record.model_dump_json()


def test_a_proxy_is_for_endpoints_that_it_is_meant_for() -> None:
    environ = {"HTTPS_PROXY": "http://proxy.lan:3128"}
    assert proxy_of(environ) == "http://proxy.lan:3128"
    assert proxy_of({"https_proxy": "http://proxy.lan:3128"}) == "http://proxy.lan:3128"
    for outside in ("api.anthropic.com", ".anthropic.com", "anthropic.com", "x, *"):
        assert proxy_of({**environ, "NO_PROXY": outside}) is None
    for outside in ("thropic.com", "api.anthropic.com.evil.example", ""):
        assert proxy_of({**environ, "NO_PROXY": outside}) is not None
    private = {"anthropic_url": "http://10.0.0.7", "allow_private": ["10.0.0.7"]}
    assert proxy_of(environ, **private) is None
    assert proxy_of({}, proxy="http://other.lan:1") == "http://other.lan:1"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"anthropic_url": "ftp://x"}, "no endpoint"),
        ({"anthropic_url": "https://user:pw@api.anthropic.com"}, "no endpoint"),
        ({"anthropic_url": "https://api.anthropic.com?x=1"}, "no endpoint"),
        ({"anthropic_url": "http://169.254.169.254"}, "not a public address"),
        ({"anthropic_url": "http://127.0.0.1:8000"}, "--allow-private 127.0.0.1"),
        ({"proxy": "http://me:hush@proxy.lan:1"}, "must not hold a password"),
        ({"ca": Path("/nonexistent")}, "cannot be read"),
        ({"ca": Path("/etc/hostname")}, "no certificate"),
        ({"key_file": Path("/nonexistent")}, "cannot be read"),
    ],
)
def test_what_cannot_be_used_is_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says) as refused:
        provider(**options)
    assert "hush" not in str(refused.value)


def test_a_proxys_password_is_in_no_message() -> None:
    with pytest.raises(UsageError) as refused:
        provider({"HTTPS_PROXY": "ftp://me:hush@proxy.lan:3128"})
    assert "hush" not in str(refused.value)


def test_certificates(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_text("")
    assert provider({"BENCH_CA": str(empty)}).way_out.authority is None
    broken = tmp_path / "broken.pem"
    broken.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    with pytest.raises(UsageError, match="certificate"):
        provider({"SSL_CERT_FILE": str(broken)})


@pytest.mark.parametrize("arm", ["scripted", "replay"])
def test_an_arm_that_calls_nobody_gets_nothing(arm: str) -> None:
    broken = {"ANTHROPIC_API_KEY": "no\nkey", "SSL_CERT_FILE": "/nonexistent"}
    told = Live().provider(arm, broken)
    assert told == Provider()
    with pytest.raises(UsageError, match="--key-file is of no use"):
        Live(key_file=Path("x")).provider(arm, broken)
    with pytest.raises(UsageError, match="--allow-private is of no use"):
        Live(allow_private=["x"]).provider(arm, broken)
