"""Any single byte that is another is found, wherever it is, and never ends in anything but that."""

import random
from pathlib import Path

import orjson
import pytest

from runner.archive.verify import State, verify
from runner.oci import tars
from tests.archive._made import archived, honesty, recorded, trip

pytestmark = pytest.mark.slow

FLIPS = 40
"""Of a seed."""


@pytest.fixture(scope="session")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One with snapshots and a cassette, one with sealed answers."""
    folder = tmp_path_factory.mktemp("flips")
    run = {"move": 1, "trip-alone": 0}
    made = recorded(trip(folder / "trip", runs=run), folder / "recorded")
    sealed = honesty(folder / "heldout", "heldout")
    return archived(made, folder / "a.tar"), archived(sealed, folder / "b.tar")


def flipped(whole: bytes, at: int, chance: random.Random) -> bytes:
    """The bytes with another one at that place, by one bit or by all."""
    other = whole[at] ^ chance.choice([1 << chance.randrange(8), chance.randrange(1, 256)])
    return whole[:at] + bytes([other]) + whole[at + 1 :]


@pytest.mark.parametrize("seed", range(8))
def test_a_flipped_byte_of_an_archive(
    archives: tuple[Path, Path], tmp_path: Path, seed: int
) -> None:
    """Every other one in a member of its own, so that small ones are hit as often as large."""
    path = archives[seed % 2]
    chance, whole = random.Random(seed), path.read_bytes()
    with path.open("rb") as file:
        members = list(tars.members(file))
    spoiled = tmp_path / "spoiled.tar"
    for number in range(FLIPS):
        at = chance.randrange(len(whole))
        if number % 2:
            member = chance.choice(members)
            begin = member.offset - tars.BLOCK
            at = chance.randrange(
                begin, member.offset + member.size + len(tars.padding(member.size))
            )
        spoiled.write_bytes(flipped(whole, at, chance))
        sheet = verify(spoiled).sheet
        assert sheet.of(State.WRONG), f"byte {at} of {path.name}, seed {seed}"
        assert not sheet.holds


@pytest.mark.parametrize("seed", range(4))
def test_an_archive_cut_off_anywhere(
    archives: tuple[Path, Path], tmp_path: Path, seed: int
) -> None:
    chance, whole = random.Random(seed), archives[seed % 2].read_bytes()
    spoiled = tmp_path / "spoiled.tar"
    for length in (chance.randrange(len(whole)) for _ in range(FLIPS)):
        spoiled.write_bytes(whole[:length])
        sheet = verify(spoiled).sheet
        assert not sheet.holds
        assert sheet.of(State.WRONG), f"{length} bytes, seed {seed}"


@pytest.mark.parametrize("seed", range(4))
def test_a_flipped_byte_of_a_report(tmp_path: Path, made: bytes, seed: int) -> None:
    """Unless it says the very same in other letters, as ``1E-7`` does for ``1e-7``."""
    chance, spoiled = random.Random(seed), tmp_path / "report.json"
    for _ in range(FLIPS):
        changed = flipped(made, chance.randrange(len(made)), chance)
        spoiled.write_bytes(changed)
        sheet = verify(spoiled).sheet
        assert not sheet.holds or orjson.loads(changed) == orjson.loads(made)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A report by itself."""
    folder = tmp_path_factory.mktemp("flipped-report")
    return trip(folder, runs={"move": 1, "trip-alone": 1}).path.read_bytes()


def test_bytes_at_random(tmp_path: Path) -> None:
    chance, path = random.Random(7), tmp_path / "noise"
    for _ in range(FLIPS):
        path.write_bytes(chance.randbytes(chance.randrange(4096)))
        assert not verify(path).sheet.holds
