"""What the engine says of itself and of the machine it runs on."""

from runner.model import Machine
from runner.runs.sandbox._engine import Engine


def machine(engine: Engine) -> Machine:
    """The engine's account, as a report keeps it.

    Raises:
        EngineLost: the engine stopped answering.
    """
    info = engine.call("GET", "/info")
    return Machine(
        engine=f"{info['ServerVersion']} (API {engine.api})",
        storage=info.get("Driver", "unknown"),
        cgroup=str(info.get("CgroupVersion", "1")),
        platform=f"{info['OSType']}/{info['Architecture']}",
        kernel=info.get("KernelVersion", "unknown"),
        cpus=int(info["NCPU"]),
        memory_bytes=int(info["MemTotal"]),
    )
