import io

from rich.console import Console

from benchmarks.cpu import Cpu
from benchmarks.figures import Protocol, summary
from benchmarks.particles_protocol import IN_MEMORY, OURS, SHIPPED, figures, spent


def one(wall: float, own: float, machine: float) -> Protocol:
    return Protocol(wall, own, Cpu(machine, containers=0.0, daemons=0.0, helpers=0.0), 0.1)


ROUNDS = [
    {OURS: one(12.0, 20.0, 22.0), SHIPPED: one(40.0, 30.0, 31.0), IN_MEMORY: one(30.0, 30.0, 31.0)},
    {OURS: one(15.0, 21.0, 23.0), SHIPPED: one(50.0, 30.0, 33.0), IN_MEMORY: one(30.0, 30.0, 31.0)},
    {OURS: one(30.0, 22.0, 24.0), SHIPPED: one(40.0, 30.0, 35.0), IN_MEMORY: one(30.0, 30.0, 31.0)},
]


def printed(table: object) -> str:
    out = io.StringIO()
    Console(file=out, width=80, highlight=False).print(table)
    return out.getvalue()


def test_only_the_harness_as_shipped_has_a_target() -> None:
    found = figures(ROUNDS)
    assert found["ours over as shipped"].median == 0.3
    assert found["ours over as shipped"].met is True
    assert found["ours over as shipped, in memory"].met is None
    assert found["  CPU seconds of the same"].median == 0.7
    assert figures([{OURS: one(9, 9, 9), SHIPPED: one(10, 9, 9)}])["ours over as shipped"].met is (
        False
    )


def test_what_else_was_running_is_told() -> None:
    text = printed(spent(ROUNDS))
    assert [line.split()[-3:] for line in text.splitlines()[1:]] == [
        ["15.0", "21.0", "2.0"],
        ["40.0", "30.0", "3.0"],
        ["30.0", "30.0", "1.0"],
    ]
    assert "NOT" not in printed(summary(figures(ROUNDS)))
