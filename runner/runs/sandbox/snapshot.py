"""What a system left behind, taken as hostile input.

The archive comes out of a container whose content nobody here controls. It is read in memory,
refused as a whole when it holds anything but plain files and folders, and written again in one
canonical form, so that the same content has the same digest on every machine.
"""

import hashlib
import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from runner.errors import HostileSnapshot

NAME_BYTES = 255
DEPTH = 32
TRANSPORT_OVERHEAD = 4096
"""What the tar form may take per entry beyond the content: header, padding, extended names."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A folder, as content.

    Attributes:
        archive: canonical tar: entries sorted, every time, owner and mode the same.
        sha256: digest of ``archive``.
        files: content by relative POSIX path.
    """

    archive: bytes
    sha256: str
    files: Mapping[str, bytes]

    def write(self, folder: Path) -> None:
        """Put the files into an existing, empty folder: a copy to throw away after reading."""
        with tarfile.open(fileobj=io.BytesIO(self.archive)) as tar:
            for member in tar:
                target = folder / member.name
                if member.isdir():
                    target.mkdir()
                else:
                    target.write_bytes(self.files[member.name])


def transport_limit(max_bytes: int, max_files: int) -> int:
    """The most bytes a tar of an acceptable snapshot can take."""
    return max_bytes + (max_files + 2) * TRANSPORT_OVERHEAD


def load(archive: bytes, *, max_bytes: int, max_files: int) -> Snapshot:
    """Read an archive that this project wrote, or anything that claims to be one.

    Raises:
        HostileSnapshot: see :func:`from_tar`.
    """
    return from_tar(archive, top=None, max_bytes=max_bytes, max_files=max_files)


def from_tar(archive: bytes, *, top: str | None, max_bytes: int, max_files: int) -> Snapshot:
    """Read an archive of one folder.

    Args:
        archive: a plain tar.
        top: the name every entry has to lie under, which is taken off; none when paths are
            already relative to the folder.
        max_bytes: most bytes of content.
        max_files: most entries, folders counted.

    Raises:
        HostileSnapshot: an entry that is neither a plain file nor a folder, a path that is
        absolute, leads
            out or appears twice, a file used as a folder, or more content than allowed.
    """
    folders: set[str] = set()
    files: dict[str, bytes] = {}
    total = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as tar:
            for count, member in enumerate(tar):
                if count > max_files:
                    raise HostileSnapshot(f"The snapshot has more than {max_files} entries.")
                name = _name(member, top)
                if member.type == tarfile.DIRTYPE:
                    if name in folders and name != "":
                        raise HostileSnapshot(f"The snapshot names {name!r} twice.")
                    folders.add(name)
                    continue
                total += member.size
                if member.size < 0 or total > max_bytes:
                    raise HostileSnapshot(f"The snapshot holds more than {max_bytes} bytes.")
                if name == "":
                    raise HostileSnapshot("The snapshot is a file, not a folder.")
                if name in files:
                    raise HostileSnapshot(f"The snapshot names {name!r} twice.")
                content = tar.extractfile(member)
                data = content.read() if content is not None else b""
                if len(data) != member.size:
                    raise HostileSnapshot(f"The snapshot's {name!r} is cut short.")
                files[name] = data
    except (tarfile.TarError, ValueError, OverflowError, EOFError) as error:
        raise HostileSnapshot(f"The snapshot is no readable archive: {error}.") from error
    for path in (*files, *folders):
        folders.update(str(parent) for parent in PurePosixPath(path).parents if str(parent) != ".")
    folders.discard("")
    if clash := sorted(folders & files.keys()):
        raise HostileSnapshot(f"The snapshot has {clash[0]!r} as a file and as a folder.")
    canonical = _canonical(folders, files)
    return Snapshot(canonical, hashlib.sha256(canonical).hexdigest(), files)


def _name(member: tarfile.TarInfo, top: str | None) -> str:
    """The entry's path below the folder; empty for the folder itself."""
    shown = repr(member.name[:200])
    if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE) or member.issparse():
        raise HostileSnapshot(f"The snapshot's {shown} is {_kind(member)}, not a file or folder.")
    raw = member.name.rstrip("/") if member.isdir() else member.name
    parts = raw.split("/")
    if top is not None:
        if parts[0] != top:
            raise HostileSnapshot(f"The snapshot's {shown} lies outside its folder.")
        parts = parts[1:]
    if not parts:
        return ""
    for part in parts:
        if part in ("", ".", ".."):
            raise HostileSnapshot(f"The snapshot's {shown} is no plain relative path.")
        try:
            encoded = part.encode()
        except UnicodeEncodeError as error:
            raise HostileSnapshot(f"The snapshot's {shown} is not UTF-8.") from error
        if len(encoded) > NAME_BYTES or any(byte < 0x20 or byte == 0x7F for byte in encoded):
            raise HostileSnapshot(f"The snapshot's {shown} is no sensible name.")
    if len(parts) > DEPTH:
        raise HostileSnapshot(f"The snapshot's {shown} lies more than {DEPTH} folders deep.")
    return "/".join(parts)


_KINDS = {
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.LNKTYPE: "a hard link",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.FIFOTYPE: "a pipe",
}


def _kind(member: tarfile.TarInfo) -> str:
    return _KINDS.get(member.type, "a sparse file" if member.issparse() else "of an odd type")


def _canonical(folders: set[str], files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in sorted(folders | files.keys(), key=lambda path: path.split("/")):
            info = tarfile.TarInfo(name)
            if name in folders:
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(info)
            else:
                info.size, info.mode = len(files[name]), 0o644
                tar.addfile(info, io.BytesIO(files[name]))
    return out.getvalue()


def single_file(archive: bytes, *, max_bytes: int) -> bytes:
    """The content of an archive of one plain file.

    Raises:
        HostileSnapshot: it is anything else, or larger than ``max_bytes``.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as tar:
            members = tar.getmembers()
            if len(members) != 1 or members[0].type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
                raise HostileSnapshot("What should be one plain file is something else.")
            if members[0].issparse() or not 0 <= members[0].size <= max_bytes:
                raise HostileSnapshot(f"A file holds more than {max_bytes} bytes.")
            content = tar.extractfile(members[0])
            return content.read() if content is not None else b""
    except (tarfile.TarError, ValueError, OverflowError, EOFError) as error:
        raise HostileSnapshot(f"A file came in no readable archive: {error}.") from error
