"""Which arm a run has."""

from collections.abc import Callable

from runner.gateway.arms import Arm
from runner.gateway.arms.live import LiveArm
from runner.gateway.arms.record import RecordArm
from runner.gateway.arms.replay import ReplayArm
from runner.gateway.arms.scripted import ScriptedArm
from runner.gateway.cassette import Entry
from runner.gateway.config import GatewayConfig
from runner.gateway.egress import Egress
from runner.gateway.tables import Tables
from runner.gateway.wire import Wire


def arm_of(config: GatewayConfig, wire: Wire, hand_out: Callable[[Entry], None]) -> Arm:
    """Make the arm a configuration names; ``hand_out`` is given what a recording one records.

    Raises:
        ValueError: a table, an endpoint or a certificate cannot be used.
        EgressRefused: an endpoint is an address that is not public.
    """
    match config.arm:
        case "scripted":
            tables = ((table.name, table.content) for table in config.tables)
            return ScriptedArm(Tables.load(tables, config.names), wire)
        case "replay":
            return ReplayArm(config.cassette)
        case "live":
            return LiveArm(config, Egress(config.way_out))
        case "record":
            return RecordArm(LiveArm(config, Egress(config.way_out)), hand_out)
