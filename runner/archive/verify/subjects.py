"""What a report is about, read again from the inputs of its archive.

So a result can be held to what was asked by a bench that has other files by now.
"""

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from runner.archive.verify.evidence import File
from runner.archive.verify.kept import unpacked
from runner.errors import DamagedArchive
from runner.suites.honesty_learning import Lesson
from runner.suites.honesty_learning.load import FILE as PAIRS
from runner.suites.honesty_learning.load import parse_pairs
from runner.suites.memory_honesty import Exam, PageStatus, make_vault, parse_questions
from runner.suites.registry import AnySubject
from runner.suites.trip_vs_move import Case, load_case
from runner.suites.update_gate import Gate, load_gate

_AS_WRITTEN = "front-matter"


def hold(subject: AnySubject, inputs: tuple[File, ...]) -> bool:
    """Hold what was asked to the files of an archive.

    Returns:
        Whether all of it could be; not where pages were given otherwise than they are written.

    Raises:
        DamagedArchive: they say something else.
        BenchError: they cannot be read.
    """
    files = {file.title: file for file in inputs}
    match subject:
        case Case():
            data = _data(files, f"cases/{subject.name}.toml")
            with _folder({f"{subject.name}.toml": data}) as folder:
                _same(subject, load_case(subject.name, subject.variant, folder=folder))
        case Gate():
            sets = {f"{name}.toml": _data(files, f"pairs/{name}.toml") for name in subject.kinds}
            with _folder(sets) as folder:
                _same(subject, load_gate(subject.kinds, subject.samples, folder=folder))
        case Exam():
            title = f"honesty/{subject.set}.jsonl"
            asked = parse_questions(_data(files, title), title)
            if subject.questions:
                _same(subject.questions, asked)
            return subject.marker == _AS_WRITTEN and _pages(subject.vault, subject.pages, files)
        case Lesson():
            pairs = parse_pairs(_data(files, f"honesty/{PAIRS}"), PAIRS)
            _same(subject.pairs, tuple(one for one in pairs if one.vault == subject.vault))
            return _pages(subject.vault, subject.pages, files)
    return True


def _pages(vault: str, told: tuple[PageStatus, ...], files: Mapping[str, File]) -> bool:
    """Which of a vault's pages were replaced, by the pages themselves."""
    start = f"honesty/{vault}/"
    texts = {
        title.removeprefix(start): file.get().decode()
        for title, file in files.items()
        if title.startswith(start)
    }
    _same(told, make_vault(vault, texts).statuses)
    return True


def _data(files: Mapping[str, File], title: str) -> bytes:
    for name in (title, f"{title}.gz"):
        if name in files:
            data = files[name].get()
            return data if name == title else unpacked(name, data)
    raise DamagedArchive(f"The archive holds no {title}.")


def _same(told: object, there: object) -> None:
    if told != there:
        raise DamagedArchive("What was asked is not what the files in the archive say.")


@contextlib.contextmanager
def _folder(files: Mapping[str, bytes]) -> Iterator[Path]:
    """Files in a folder of their own, for as long as they are read."""
    with tempfile.TemporaryDirectory(prefix="memory-bench-") as name:
        for title, data in files.items():
            (Path(name) / Path(title).name).write_bytes(data)
        yield Path(name)
