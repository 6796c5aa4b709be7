"""What the gateway has to know of a system: how its model calls are read and answered.

A system's own package implements it, and the gateway is given ``module:attribute`` when it starts;
of a system that comes with a folder of its own it is given rules, which are data. It knows no
system by name.
"""

import importlib

from runner.gateway.wire._wire import UNATTRIBUTED, ToolUse, Wire
from runner.gateway.wire.declared import DeclaredWire
from runner.gateway.wire.rules import WireRules

__all__ = ["UNATTRIBUTED", "DeclaredWire", "ToolUse", "Wire", "WireRules", "load_wire"]


def load_wire(spec: str | WireRules) -> Wire:
    """Import ``package.module:Attribute`` and make the wire it names, or make one of rules.

    Raises:
        ValueError: when nothing importable is named, or what is named is no wire.
    """
    if isinstance(spec, WireRules):
        return DeclaredWire(spec)
    module, _, attribute = spec.partition(":")
    if not module or not attribute:
        raise ValueError(f"the wire {spec!r} is not of the form package.module:Attribute")
    try:
        made = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as problem:
        raise ValueError(f"the wire {spec!r} cannot be imported: {problem}") from problem
    wire = made() if isinstance(made, type) else made
    if not isinstance(wire, Wire):
        raise ValueError(f"{spec!r} is no wire: it lacks purpose, fields, reply or canonical")
    return wire
