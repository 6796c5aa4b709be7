"""Who is dead, told by a lock."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from runner.errors import CannotStart
from runner.runs.sandbox._lease import Domain, folder
from runner.runs.sandbox._reaper import FOREIGN_AGE, _dead, _Left

HOLDER = """
import sys, time
from pathlib import Path
from runner.runs.sandbox import Domain
lease = Domain.at(Path(sys.argv[1])).take()
print(lease.name, flush=True)
time.sleep(60)
"""


def test_where_leases_lie(tmp_path: Path) -> None:
    assert folder({"BENCH_LEASES": "/l"}, tmp_path) == Path("/l")
    assert folder({"XDG_STATE_HOME": "/s"}, tmp_path) == Path("/s/memory-bench/leases")
    assert folder({}, tmp_path) == tmp_path / ".local/state/memory-bench/leases"


def test_a_lease_lives_until_it_is_released(tmp_path: Path) -> None:
    domain = Domain.at(tmp_path / "new" / "leases")
    one, other = domain.take(), domain.take()
    assert not domain.dead(one.name)
    assert set(domain.living()) == {one.name, other.name}
    assert one.labels("run", "system")["memory-bench.lease"] == one.name
    one.release()
    one.release()
    assert domain.dead(one.name)
    assert domain.living() == (other.name,)
    other.release()
    assert domain.files() == ()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_lease_dies_with_its_owner(number: signal.Signals, tmp_path: Path) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    name = owner.stdout.readline().strip()
    domain = Domain.at(tmp_path)
    assert domain.living() == (name,)
    owner.send_signal(number)
    owner.wait()
    assert domain.dead(name)
    assert domain.living() == ()
    assert domain.files() == (name,)
    domain.forget(name)
    assert domain.files() == ()


def test_those_who_ask_do_not_look_alive(tmp_path: Path) -> None:
    domain = Domain.at(tmp_path)
    lease = domain.take()
    os.close(lease._handle)
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(domain.dead, [lease.name] * 500))


def test_a_program_that_is_started_does_not_keep_the_lease(tmp_path: Path) -> None:
    domain = Domain.at(tmp_path)
    lease = domain.take()
    with subprocess.Popen(["sleep", "60"], close_fds=False) as child:
        os.close(lease._handle)
        assert domain.dead(lease.name)
        child.kill()


def test_a_folder_is_one_domain_however_many_come_first(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        ids = {domain.id for domain in pool.map(Domain.at, [tmp_path] * 50)}
    assert len(ids) == 1
    assert Domain.at(tmp_path / "other").id not in ids
    assert sorted(path.name for path in tmp_path.iterdir()) == ["domain", "other"]


def test_a_folder_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotStart, match="BENCH_LEASES"):
        Domain.at(tmp_path / "file")
    domain = Domain.at(tmp_path / "gone")
    (tmp_path / "gone" / "domain").unlink()
    (tmp_path / "gone").rmdir()
    with pytest.raises(CannotStart, match="gone"):
        domain.take()


def test_a_name_from_a_label_is_no_path(tmp_path: Path) -> None:
    domain = Domain.at(tmp_path / "leases")
    (tmp_path / "x.lease").write_text("")
    assert domain.dead("../x")
    domain.forget("../x")
    assert (tmp_path / "x.lease").exists()


def test_strangers_are_dead_when_still_and_old(tmp_path: Path) -> None:
    domain = Domain.at(tmp_path)
    old = datetime.now(UTC) - FOREIGN_AGE - timedelta(seconds=1)
    assert _dead(domain, "abc", _Left("elsewhere", youngest=old))
    assert not _dead(domain, "abc", _Left("elsewhere", youngest=old, running=True))
    assert not _dead(domain, "abc", _Left("elsewhere", youngest=datetime.now(UTC)))
    lease = domain.take()
    assert not _dead(domain, lease.name, _Left(domain.id, youngest=old))
    lease.release()
    assert _dead(domain, lease.name, _Left(domain.id, youngest=datetime.now(UTC), running=True))
