"""Moments as commits of a git repository that is there whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from dulwich.index import build_index_from_tree
from dulwich.objects import Blob, Commit, ObjectID, ShaFile, Tree
from dulwich.refs import Ref
from dulwich.repo import Repo

from runner.errors import CannotStart, UsageError
from runner.reports.history._life import Life, Moment
from runner.runs.disk import give_to_owner, make_folder

_FILE, _FOLDER = 0o100644, 0o040000
_LAST_SECOND = 2**31 - 1
"""The latest moment that every git can read; a clock in a report may show anything."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A run as it was written.

    Attributes:
        life: what it was made from.
        tip: the id of its last commit.
    """

    life: Life
    tip: str


def write(lives: Sequence[Life], author: str, folder: Path) -> tuple[Branch, ...]:
    """Make a repository of runs, a branch each; the first is what lies in the folder.

    It is made under another name beside the folder and takes its name when it is whole.

    Args:
        lives: at least one.
        author: of every commit, as git names people.
        folder: not there yet, or empty.

    Raises:
        UsageError: there is something in the folder.
        CannotStart: it cannot be written.
    """
    _refuse_what_is_there(folder)
    folder = folder.resolve()
    making: Path | None = None
    try:
        make_folder(folder.parent)
        making = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name[:40]}-"))
        branches = _made(lives, author, making)
        for path in (making, *making.rglob("*")):
            give_to_owner(path)
        making.chmod(0o777 & ~_umask())
        making.rename(folder)
    except OSError as error:
        raise CannotStart(
            f"A repository cannot be written at {folder}: {error.strerror or error}.",
            hint="Choose a new folder on a disk with room, such as --git life.",
        ) from error
    finally:
        if making is not None and making.exists():
            shutil.rmtree(making, ignore_errors=True)
    return branches


def _refuse_what_is_there(folder: Path) -> None:
    hint = "Choose another folder for --git: nothing in it is ever changed."
    try:
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise UsageError(f"{folder} is there, and is no folder.", hint=hint)
        if not folder.exists():
            return
        if any(folder.iterdir()):
            raise UsageError(f"{folder} is not empty.", hint=hint)
        # Another folder takes its place, which a shell that stands in it would not see.
        if folder.samefile(Path.cwd()):
            raise UsageError(f"{folder} is the folder you are in.", hint=hint)
    except OSError as error:
        raise CannotStart(f"{folder} cannot be read: {error.strerror or error}.") from error


def _made(lives: Sequence[Life], author: str, folder: Path) -> tuple[Branch, ...]:
    with closing(Repo.init(folder)) as repo:
        objects: dict[ObjectID, ShaFile] = {}
        branches = []
        for life in lives:
            tip = _chain(life.moments, author.encode(), objects)
            branches.append((life, tip))
        repo.object_store.add_objects([(each, None) for each in objects.values()])
        for life, tip in branches:
            repo.refs[_ref(life)] = tip
        first, tip = branches[0]
        repo.refs.set_symbolic_ref(Ref(b"HEAD"), _ref(first))
        config = repo.get_config()
        # File names of any script are to be read, and bytes are to stay what they are.
        config.set((b"core",), b"quotePath", b"false")
        config.set((b"core",), b"autocrlf", b"false")
        config.write_to_path()
        commit = objects[tip]
        assert isinstance(commit, Commit)
        build_index_from_tree(str(folder), repo.index_path(), repo.object_store, commit.tree)
    for log in (folder / ".git" / "logs", folder / ".git" / "hooks"):
        shutil.rmtree(log, ignore_errors=True)  # of the moment it was made, and of nobody
    return tuple(Branch(life, tip.decode()) for life, tip in branches)


def _ref(life: Life) -> Ref:
    return Ref(f"refs/heads/{life.branch}".encode())


def _chain(moments: Sequence[Moment], author: bytes, objects: dict[ObjectID, ShaFile]) -> ObjectID:
    """The commits of a run, oldest first; returns the id of the last."""
    last: ObjectID | None = None
    for moment in moments:
        commit = Commit()
        commit.tree = _tree(moment.files, objects)
        commit.parents = [] if last is None else [last]
        commit.author = commit.committer = author
        commit.author_time = commit.commit_time = _seconds(moment.at)
        commit.author_timezone = commit.commit_timezone = 0
        commit.encoding = b"UTF-8"
        commit.message = moment.message.encode()
        last = _add(commit, objects)
    assert last is not None
    return last


def _tree(files: Mapping[str, bytes], objects: dict[ObjectID, ShaFile]) -> ObjectID:
    """Folders of one level, which is all there are."""
    folders: dict[str, Tree] = {}
    for path, data in files.items():
        folder, _, name = path.partition("/")
        tree = folders.setdefault(folder, Tree())
        tree.add(name.encode(), _FILE, _add(Blob.from_string(data), objects))
    root = Tree()
    for folder, tree in folders.items():
        root.add(folder.encode(), _FOLDER, _add(tree, objects))
    return _add(root, objects)


def _add(made: ShaFile, objects: dict[ObjectID, ShaFile]) -> ObjectID:
    objects[made.id] = made
    return made.id


def _seconds(at: datetime) -> int:
    return min(max(int(at.timestamp()), 0), _LAST_SECOND)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
