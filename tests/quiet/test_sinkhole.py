"""Every name leads to the sinkhole, and what comes there is told."""

import socket
import ssl
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.containers._quiet import seen
from tests.containers._quiet.image import sinkhole


def asking(name: str, kind: int = 1) -> bytes:
    labels = b"".join(bytes([len(one)]) + one.encode() for one in name.split("."))
    return struct.pack("!6H", 0xBEEF, 0x0100, 1, 0, 0, 0) + labels + struct.pack("!xHH", kind, 1)


def test_both_sides_know_one_address() -> None:
    assert sinkhole.ADDRESS == seen.SINKHOLE
    assert sinkhole.DNS == seen.DNS


def test_a_name_leads_to_the_sinkhole() -> None:
    name, kind, reply = sinkhole.answer(asking("telemetry.example"))
    assert (name, kind) == ("telemetry.example", 1)
    assert reply[:8] == struct.pack("!4H", 0xBEEF, 0x8180, 1, 1)
    assert reply[12:].startswith(asking("telemetry.example")[12:])
    assert socket.inet_ntoa(reply[-4:]) == seen.SINKHOLE


def test_the_own_name_leads_to_loopback() -> None:
    assert socket.inet_ntoa(sinkhole.answer(asking("localhost"))[2][-4:]) == "127.0.0.1"


@pytest.mark.parametrize("kind", [28, 65, 16, 33])
def test_other_records_are_said_not_to_be_there(kind: int) -> None:
    name, asked, reply = sinkhole.answer(asking("telemetry.example", kind))
    assert (name, asked) == ("telemetry.example", kind)
    assert reply[:8] == struct.pack("!4H", 0xBEEF, 0x8180, 1, 0)


@given(st.binary(max_size=80))
def test_any_packet_is_answered_or_told_to_be_none(packet: bytes) -> None:
    try:
        _, _, reply = sinkhole.answer(packet)
    except ValueError:
        return
    assert reply[:2] == packet[:2]


def test_a_reply_is_no_question() -> None:
    with pytest.raises(ValueError, match="one question"):
        sinkhole.answer(sinkhole.answer(asking("telemetry.example"))[2])


def test_a_greeting_of_tls_tells_whom_it_wants() -> None:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(
        incoming, outgoing, server_hostname="updates.example.org"
    )
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    hello = outgoing.read()
    assert sinkhole.words(443, hello) == "a greeting of TLS to updates.example.org"
    assert sinkhole.server_name(hello[:40]) == ""


@given(st.binary(max_size=200))
def test_anything_else_is_told_as_it_is(said: bytes) -> None:
    assert isinstance(sinkhole.words(443, said), str)
    assert sinkhole.words(80, said) == said.decode("latin-1")
