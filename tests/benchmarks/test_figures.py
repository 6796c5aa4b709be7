import io
import os
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import cpu, run_overhead
from benchmarks.cpu import Cpu
from benchmarks.figures import Protocol, Ratio, breakdown, ledger, summary
from benchmarks.spans import Spans

STAT = (
    "77 (a name) with) R 1 77 77 0 -1 4194560 5 0 0 0 "
    "150 50 300 500 20 0 1 0 98765 1000 200 18446744073709551615\n"
)


def printed(table: object) -> str:
    out = io.StringIO()
    Console(file=out, width=80, highlight=False).print(table)
    return out.getvalue()


def test_a_ratio_is_the_middle_of_its_pairs() -> None:
    ratio = Ratio((1.0, 8.0, 3.0), (1.0, 2.0, 2.0), target=1.5)
    assert ratio.rounds == (1.0, 4.0, 1.5)
    assert ratio.median == 1.5
    assert ratio.met is True
    assert Ratio((3.2,), (2.0,), target=1.5).met is False
    assert Ratio((3.2,), (2.0,)).met is None


def test_a_pair_needs_both_halves() -> None:
    with pytest.raises(ValueError, match="shorter"):
        _ = Ratio((1.0, 2.0), (1.0,)).rounds


def test_the_protocol_s_own_cpu_is_everybody_s_who_works_for_it() -> None:
    spent = Cpu(machine=30.0, containers=10.0, daemons=2.0, helpers=1.0)
    one = Protocol(wall=8.0, orchestrator=1.0, cpu=spent, idle=0.5)
    assert one.own == 14.0
    assert one.bound(2) == 7.0
    assert one.machine == 26.0
    assert one.idle_cores(4) == 2.0
    assert one.foreign == 16 / 14


def test_where_containers_cannot_be_counted_the_machine_stands_for_them() -> None:
    one = Protocol(8.0, 1.0, Cpu(machine=20.0, containers=None, daemons=0.0, helpers=0.0), 0.25)
    assert one.own == one.machine == 18.0


def test_a_process_is_counted_with_or_without_its_children() -> None:
    hertz = os.sysconf("SC_CLK_TCK")
    assert cpu.ticks(STAT, children=False) == ("98765", 200 / hertz)
    assert cpu.ticks(STAT, children=True) == ("98765", 1000 / hertz)


def test_idle_waiting_and_stolen_time_is_not_busy() -> None:
    hertz = os.sysconf("SC_CLK_TCK")
    stat = "cpu  100 20 30 4000 500 6 7 800 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n"
    assert cpu.busy(stat) == (100 + 20 + 30 + 6 + 7) / hertz


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("cpuacct/docker/cpuacct.usage", "2500000000\n"),
        ("docker/cpu.stat", "usage_usec 2500000\nuser_usec 1\nsystem_usec 2\n"),
    ],
)
def test_containers_are_counted_in_both_versions(tmp_path: Path, file: str, content: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(content)
    assert cpu.in_containers(tmp_path) == 2.5


def test_a_machine_without_such_groups_says_nothing_of_containers(tmp_path: Path) -> None:
    assert cpu.in_containers(tmp_path) is None


def test_what_is_measured_is_not_less_than_nothing() -> None:
    found: list[Cpu] = []
    with cpu.measured(found):
        sum(range(2_000_000))
    (one,) = found
    assert one.machine >= 0
    assert one.daemons >= 0
    assert one.helpers >= 0


def test_parts_of_a_run_keep_their_order_and_get_numbers() -> None:
    spans = Spans()
    for name in ("open", "step", "step"):
        with spans.span(name):
            pass
    assert list(spans.done) == ["open", "step", "step 2"]
    assert all(began <= ended for began, ended in spans.done.values())


def test_every_table_fits_eighty_columns() -> None:
    spent = Cpu(machine=30.0, containers=10.0, daemons=2.0, helpers=1.0)
    protocols = [Protocol(wall=12.34, orchestrator=1.0, cpu=spent, idle=0.5)]
    spans = {"escapes and limits": (0.1, 0.5), "open": (0.0, 0.1)}
    tables = [
        printed(summary({"protocol over own CPU / cores": Ratio((12.34,), (10.21,), 1.2)})),
        printed(breakdown([spans, {"open": (0.0, 0.3)}])),
        printed(ledger(protocols, 2)),
    ]
    assert "1.2 NOT" in tables[0].replace("  ", " ")
    assert tables[1].splitlines()[1].split() == ["open", "0", "200"]
    assert all(len(line) <= 80 for table in tables for line in table.splitlines())


def test_the_command_says_what_it_measures(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run_overhead.main(["--help"])
    assert ended.value.code == 0
    assert "--rounds" in capsys.readouterr().out


def test_the_driver_that_reports_its_start_is_python() -> None:
    compile(run_overhead.DRIVER, "driver", "exec")
