"""No image of a system talks to anybody but the gateway: what each does with sockets, seen by
strace while every name leads to a sinkhole. ``docs/quiet.md`` says what is proved, and what not.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pytest

from runner import images
from runner.errors import CannotStart
from runner.runs.plan import Images
from runner.runs.sandbox import Engine, EngineSandbox, SystemBox, start
from runner.systems import catalog
from tests.containers._quiet import box, journey
from tests.containers._quiet.seen import SINKHOLE, Finding, Seen

pytestmark = [pytest.mark.containers, pytest.mark.all_images, pytest.mark.timeout(1500)]

PHONE_HOME = ("python3", "-I", "/opt/quiet/phone_home.py")
LOOPBACK_AND_UNIX = {"AF_UNIX", "AF_INET", "AF_INET6"}
LISTING = {"RTM_GETADDR", "RTM_GETLINK"}
"""What the C library asks the kernel of its own interfaces, to see which kinds of address make
sense: netlink reaches the kernel alone, and these questions change nothing."""


@contextmanager
def watching(system: catalog.System) -> Iterator[str]:
    """A system's image with strace in it, which is gone afterwards."""
    version = system.version if system.versions else None
    try:
        image = images.ensure(system.image, version=version, model=system.model)
    except CannotStart as error:
        if "cannot be baked in" not in error.message:
            raise
        pytest.skip(f"{called(system)} cannot be built where no model hub can be reached.")
    tag = box.build(image, images.ensure("base"))
    try:
        yield tag
    finally:
        box.remove(tag)


def look(
    sandbox: EngineSandbox,
    system: catalog.System,
    command: tuple[str, ...] = (),
    env: Mapping[str, str] | None = None,
) -> tuple[list[str], Seen]:
    """Take a system, or another command in its image, through what it can do; what was seen."""
    made = journey.job(system, Images("", images.ensure("bench").config_digest))

    def change(given: SystemBox) -> SystemBox:
        told = {**given.env, **(env or {})}
        return replace(given, command=command or given.command, env=told)

    with watching(system) as tag, box.watched(sandbox, made, tag, change=change) as opened:
        return journey.take(opened, made), opened.seen()


def all_systems() -> list[catalog.System]:
    """Every system, and one of each image in every other version that there is."""
    found = catalog.load_all()
    one_each = {system.image: system for system in reversed(found)}.values()
    others = (catalog.load(one.name, version) for one in one_each for version in one.versions)
    return [*found, *others]


def called(system: catalog.System) -> str:
    """A system's name, and its version where there are several."""
    return f"{system.name} {system.version}" if system.versions else system.name


@pytest.mark.parametrize("system", all_systems(), ids=called)
def test_a_system_is_quiet(sandbox: EngineSandbox, system: catalog.System) -> None:
    verbs, seen = look(sandbox, system)
    print(f"{called(system)}: {', '.join(verbs)}: {seen}")
    assert set(verbs) == set(system.verbs)
    assert seen.findings == ()
    assert seen.names == ()
    assert set(seen.families) - {"AF_NETLINK"} <= LOOPBACK_AND_UNIX
    assert set(seen.listing) <= LISTING
    assert ("AF_NETLINK" in seen.families) == bool(seen.listing)
    # The way to the model, which bench-start opens in every run: strace saw what is there.
    assert "/usr/bin/socat" in seen.families["AF_INET"]


CAUGHT = {
    "http": ("name", "telemetry.example.com (A)"),
    "tls": ("name", "updates.example.org (A)"),
    "address": ("address", "192.0.2.1:443"),
    "datagram": ("address", "198.51.100.7:8125"),
    "six": ("address", "[2001:db8::7]:443"),
    "static": ("name", "static.example.net (A)"),
    "bare": ("address", "203.0.113.9:80"),
    "family": ("family", "AF_VSOCK"),
}
ROUTER = "router"


@pytest.fixture(scope="module")
def phoned(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """What is seen of a tool that phones home in every way it knows, in the router's image."""
    leases = {"BENCH_LEASES": str(tmp_path_factory.mktemp("leases"))}
    with start(leases, engine=engine) as sandbox:
        verbs, seen = look(sandbox, catalog.load(ROUTER), (*PHONE_HOME, *CAUGHT))
    assert "ask" in verbs
    return seen


def one(seen: Seen, what: str, which: str) -> Finding:
    found = [one for one in seen.findings if (one.what, one.which) == (what, which)]
    assert len(found) == 1, seen
    return found[0]


@pytest.mark.parametrize("way", CAUGHT)
def test_a_tool_that_phones_home_is_caught(phoned: Seen, way: str) -> None:
    finding = one(phoned, *CAUGHT[way])
    expected = "/usr/bin/busybox" if way == "static" else "/usr/bin/python3"
    assert finding.programs == (expected,)


def test_a_tool_that_asks_for_names_is_caught_by_address_too(phoned: Seen) -> None:
    for port in (80, 443):
        one(phoned, "address", f"{SINKHOLE}:{port}")
    said = [finding.which for finding in phoned.findings if finding.what == "knock"]
    assert any("POST /capture" in one and "telemetry.example.com" in one for one in said)
    assert any("a greeting of TLS to updates.example.org" in one for one in said)
    assert any("Host: static.example.net" in one for one in said)


@dataclass(frozen=True, slots=True)
class Talker:
    """A system that is let tell others of its use.

    Attributes:
        told: whom it then tells, each with the program that does.
        env: what lets it.
        command: what is run in its driver's place, where the driver itself keeps it quiet.
    """

    told: Mapping[str, str]
    env: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()


LOUD_CLAUDE_MEM = """\
from claude_mem_driver import place
from claude_mem_driver.driver import main

place.QUIET.clear()
settings = place.Place.settings
bare = {"CLAUDE_CODE_PATH": "/opt/claude-mem/bin/claude-code"}
place.Place.settings = lambda self, model: {**settings(self, model), **bare}
main()
"""
TALKERS = {
    "basic-memory": Talker(
        told={
            "pypi.org": "/opt/basic-memory/bin/basic-memory",
            "mobile.events.data.microsoft.com": "/opt/basic-memory/bin/basic-memory",
        },
        env={
            "FASTMCP_CHECK_FOR_UPDATES": "stable",
            "FASTMCP_SHOW_SERVER_BANNER": "true",
            "ORT_DISABLE_TELEMETRY": "",
            "BASIC_MEMORY_NO_PROMOS": "",
            "BASIC_MEMORY_AUTO_UPDATE": "true",
            "HF_HUB_OFFLINE": "",
            "LITELLM_LOCAL_MODEL_COST_MAP": "",
        },
    ),
    "claude-mem": Talker(
        told={
            "api.anthropic.com": "/opt/claude-mem/bin/claude-code",
            "us.i.posthog.com": "/opt/claude-mem/bin/bun",
            "mobile.events.data.microsoft.com": "/opt/claude-mem/chroma/bin/chroma-mcp",
        },
        command=("python3", "-c", LOUD_CLAUDE_MEM),
    ),
    "mem0": Talker(
        told={
            "us.i.posthog.com": "/opt/mem0/bin/python",
            "raw.githubusercontent.com": "/opt/mem0/bin/python",
        },
        env={"MEM0_TELEMETRY": "True", "DO_NOT_TRACK": ""},
    ),
}


@pytest.mark.parametrize("name", TALKERS)
def test_a_system_that_may_tell_others_is_caught(sandbox: EngineSandbox, name: str) -> None:
    talker = TALKERS[name]
    _, seen = look(sandbox, catalog.load(name), talker.command, talker.env)
    print(f"{name}: {seen}")
    for host, program in talker.told.items():
        assert one(seen, "name", f"{host} (A)").programs == (program,)
        assert program in one(seen, "address", f"{SINKHOLE}:443").programs
        said = f"on 443: 'a greeting of TLS to {host}'"
        assert said in [finding.which for finding in seen.findings if finding.what == "knock"]


def test_the_same_tool_is_quiet_when_it_is_told_to_be(sandbox: EngineSandbox) -> None:
    _, seen = look(sandbox, catalog.load(ROUTER), PHONE_HOME)
    assert seen.findings == ()
    assert seen.names == ()
