"""Atomic writing: a file is written under a temporary name in the same folder, then renamed.

Its bytes are on the disk before it is renamed, and the new name is before the writing counts as done. A
symbolic link stays one: what it leads to is replaced, and a file that is replaced leaves its permissions and
its owner to the new one.

Temporary names hold the machine, the process and when that began: `.nrsfm-9f86d081-4711-88421-x7f3k2qa.npz`.
What a process left that was killed is removed when this machine next reads or writes a file in the folder.

Files that belong together are written into a temporary folder. No file system renames several files at once,
so the folder has a list of what is renamed, and the files that were there before. If the renaming fails, they
are put back; if the process is killed while it renames, the next that reads or writes a file in the folder
puts them back. That one does not trust the list, for a folder from elsewhere can have one: it takes only
those of its own user, moves files from the temporary folder to the one it is in, and follows no link. So what
links led to stays new after a kill.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import re
import secrets
import shutil
import stat
import time
import zlib
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .exceptions import InputError
from .outputs import check_writable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_TEMPORARY = re.compile(
    r"\.nrsfm-(?P<machine>[0-9a-f]{8})-(?P<process>\d+)-(?P<began>\d+)-[0-9a-f]{16}(\..*)?"
)
_LONGEST_SUFFIX = 32  # a name has at most 255 bytes
_NEW, _OLD, _RENAMES = "new", "old", "renames.json"  # of several files: what is in their temporary folder
_LONGEST_LIST = 50_000_000  # bytes, of several hundred thousand names
_SCANNING = 0.01  # of the time, at most, goes to looking for temporary files


@contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside `path`; it replaces `path` if the block ends without an error.

    Raises InputError where `check_writable` refuses the path, or the disk refuses the bytes.
    """
    target = check_writable(path)
    temporary = target.parent / _temporary_name(target.suffix)
    try:
        with _refusing(path):
            remove_temporaries(target.parent)
            os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666))
            _let_owner(temporary, 0o600)
            yield temporary
            _adopt(temporary, target, private=private)
            _to_disk(temporary)
            os.replace(temporary, target)
            _names_to_disk(target.parent)
    finally:
        with suppress(OSError):
            temporary.unlink()


@contextmanager
def replacing_many(path: Path, *, removed: Collection[str] = ()) -> Iterator[Path]:
    """Yield a temporary folder; its files move to the folder of `path` if the block ends without an error.

    For several files that belong together: if the block fails, none of them appears, and those that were
    there under the same names stay.

    Raises InputError where `check_writable` refuses one of the files, or the disk refuses the bytes.
    """
    check_writable(path)
    parent = Path(os.path.realpath(path.parent))
    folder = parent / _temporary_name()
    try:
        with _refusing(path):
            remove_temporaries(parent)
            for each in (folder, folder / _NEW, folder / _OLD):
                each.mkdir(0o700)
                _let_owner(each, 0o700)
            yield folder / _NEW
            _rename_all(folder, removed)
    finally:
        _discard(folder, through_links=True)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Turn what the operating system refuses into a sentence."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error


def _let_owner(path: Path, permissions: int) -> None:
    """Let the owner of a new file or folder read and write it, whatever the umask takes away."""
    found = stat.S_IMODE(path.stat().st_mode)
    if found & permissions != permissions:
        path.chmod(found | permissions)


def _adopt(temporary: Path, target: Path, *, private: bool = False) -> None:
    """Give a file the permissions and the owner of the one that it replaces."""
    try:
        found = target.stat()
    except FileNotFoundError:
        return
    if hasattr(os, "chown"):
        own = temporary.stat()
        if (own.st_uid, own.st_gid) != (found.st_uid, found.st_gid):
            with suppress(PermissionError):  # only the superuser gives files away
                os.chown(temporary, found.st_uid, found.st_gid)
    with suppress(PermissionError):  # a file system without permissions of files may refuse to change them
        temporary.chmod(found.st_mode & (0o600 if private else 0o777))


def _to_disk(file: Path) -> None:
    """Wait until the bytes of a file are on the disk, where its file system can."""
    handle = os.open(file, os.O_RDWR)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def _names_to_disk(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# -- several files -------------------------------------------------------------------------------------------


def _rename_all(folder: Path, removed: Collection[str]) -> None:
    """Move the new files of a temporary folder to where it is, and remove others there.

    Where it fails in between, `_discard` undoes it.
    """
    new, old, renames = folder / _NEW, folder / _OLD, folder / _RENAMES
    targets = {file: check_writable(folder.parent / file.name) for file in sorted(new.iterdir())}
    for file, target in targets.items():
        _let_owner(file, 0o600)
        _adopt(file, target)
        _to_disk(file)
        with suppress(FileNotFoundError):
            _keep(target, old / file.name)
    gone = [folder.parent / name for name in removed if not (new / name).exists()]
    gone = [file for file in gone if _is_regular(file)]
    for file in gone:
        _keep(file, old / file.name)
    listed = {file.name: _mark(file) for file in targets} | {file.name: None for file in gone}
    with replacing(renames) as temporary:
        temporary.write_text(json.dumps(listed), encoding="ascii")
    for each in (new, old, folder.parent):
        _names_to_disk(each)
    for file, target in targets.items():
        os.replace(file, target)
    for file in gone:
        file.unlink()
    for each in {folder.parent, *(target.parent for target in targets.values())}:
        _names_to_disk(each)
    renames.unlink()  # from here on the new files stay


def _mark(file: Path) -> list[int] | None:
    """Return what a file keeps when it is renamed, and no other file there has; None where there is none."""
    try:
        found = file.lstat()
    except FileNotFoundError:
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ino]


def _keep(file: Path, kept: Path) -> None:
    """Give a file a second name, or a copy where the file system has no second names."""
    try:
        os.link(file, kept)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copy2(file, kept)
        _to_disk(kept)


def _discard(folder: Path, *, through_links: bool) -> None:
    """Remove a temporary folder when what was renamed of it is undone, where not all of it was.

    Where that fails, the folder stays for the next that looks.
    """
    with suppress(OSError, RecursionError):  # a hostile folder may be of any depth
        _put_back(folder, through_links=through_links)
        shutil.rmtree(folder)


def _put_back(folder: Path, *, through_links: bool) -> None:
    """Undo the list of a temporary folder; what somebody else has written meanwhile stays."""
    renames, old = folder / _RENAMES, folder / _OLD
    for name, mark in _listed(renames).items():
        kept, target = old / name, folder.parent / name
        if through_links:
            target = Path(os.path.realpath(target))
        if _mark(target) == mark:
            if not old.is_symlink() and _is_regular(kept):
                os.replace(kept, target)
            elif mark is not None:
                target.unlink()
    renames.unlink(missing_ok=True)


def _is_regular(file: Path) -> bool:
    try:
        return stat.S_ISREG(file.lstat().st_mode)
    except FileNotFoundError:
        return False


def _listed(renames: Path) -> dict[str, Any]:
    """Return the list of what is renamed; nothing where there is none, or it is not one of this module."""
    try:
        if not _is_regular(renames) or renames.stat().st_size > _LONGEST_LIST:
            return {}
        listed = json.loads(renames.read_text(encoding="ascii"))
        if not isinstance(listed, dict):
            return {}
        return {name: mark for name, mark in listed.items() if _is_name(name)}
    except (FileNotFoundError, ValueError, RecursionError):
        return {}


def _is_name(name: str) -> bool:
    return (
        name == os.path.basename(name)
        and name not in ("", os.curdir, os.pardir)
        and b"\0" not in os.fsencode(name)
    )


# -- what processes left that were killed --------------------------------------------------------------------

_next_scan: dict[Path, float] = {}  # of a folder, by the clock of `time.monotonic`


def remove_temporaries(folder: Path) -> None:
    """Remove the temporary files of processes of this machine that have ended, and undo what they left half.

    A folder in which many files are written is not listed for each of them.
    """
    began = time.monotonic()
    if began < _next_scan.get(folder, began):
        return
    with suppress(OSError):  # a folder may be written that may not be listed
        with os.scandir(folder) as entries:
            left = [entry for entry in entries if _is_left(entry.name)]
        for entry in left:
            path = Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                if _is_own(entry):
                    _discard(path, through_links=False)
            else:
                with suppress(OSError):
                    path.unlink()
    ended = time.monotonic()
    _next_scan[folder] = ended + (ended - began) / _SCANNING


def _is_left(name: str) -> bool:
    """Return whether a temporary file is of a process of this machine that has ended."""
    found = _TEMPORARY.fullmatch(name)
    if found is None or found["machine"] != _machine():
        return False
    return _began(int(found["process"])) != int(found["began"])


def _is_own(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry belongs to the user of this process, where the system has users."""
    return not hasattr(os, "geteuid") or entry.stat(follow_symlinks=False).st_uid == os.geteuid()


def _temporary_name(suffix: str = "") -> str:
    """Return a new name; its suffix is that of the file, by which libraries choose the format."""
    if len(os.fsencode(suffix)) > _LONGEST_SUFFIX:
        suffix = ""
    process = os.getpid()
    return f".nrsfm-{_machine()}-{process}-{_began(process)}-{secrets.token_hex(8)}{suffix}"


@cache
def _machine() -> str:
    """Return what names the machine and its processes, which a container of the same name counts anew."""
    processes = ""
    with suppress(OSError):  # of a system without them
        processes = os.readlink("/proc/self/ns/pid")
    return f"{zlib.crc32(f'{platform.node()} {processes}'.encode()):08x}"


def _began(process: int) -> int | None:
    """Return when a process began, in a unit of the system; None where there is no such process.

    Linux counts from its own start, so that the time is the same after the clock was set.
    """
    try:
        with open(f"/proc/{process}/stat", "rb") as stream:
            fields = stream.read().rpartition(b")")[2].split()
        return None if fields[0] in b"ZX" else int(fields[19])  # one that was killed may wait for its parent
    except OSError:
        if os.path.exists("/proc/self/stat"):
            return None
    import psutil

    try:
        return int(psutil.Process(process).create_time())
    except psutil.NoSuchProcess:
        return None
