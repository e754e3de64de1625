"""Atomic writing: a file is written under a temporary name in the same folder, then renamed.

Its bytes are on the disk before it is renamed, and the new name is before the writing counts as done. A
symbolic link stays one: what it leads to is replaced, and a file that is replaced leaves its permissions and
its owner to the new one.

Files that belong together are written into a temporary folder, and renamed one after the other when all are
complete. If one cannot be renamed, those before it are put back.

Temporary names hold the machine and the process: `.nrsfm-9f86d081-4711-x7f3k2qa.npz`. What a process left
that was killed is removed when this machine next writes a file in the folder.
"""

from __future__ import annotations

import errno
import os
import platform
import re
import secrets
import shutil
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from .exceptions import InputError
from .outputs import check_writable

_TEMPORARY = re.compile(r"\.nrsfm-(?P<machine>[0-9a-f]{8})-(?P<process>\d{1,9})-[0-9a-f]{16}(\..*)?")
_LONGEST_SUFFIX = 32  # a name has at most 255 bytes
_NEW, _OLD = "new", "old"  # of several files: what is in their temporary folder


@contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside `path`; it replaces `path` if the block ends without an error."""
    target = check_writable(path)
    temporary = target.parent / _temporary_name(target.suffix)
    try:
        with _refusing(path):
            remove_temporaries(target.parent)
            os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666))
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
    there under the same names stay. `removed`: names of files that go when the new ones appear.
    """
    check_writable(path)
    parent = Path(os.path.realpath(path.parent))
    folder = parent / _temporary_name()
    try:
        with _refusing(path):
            remove_temporaries(parent)
            for each in (folder, folder / _NEW, folder / _OLD):
                each.mkdir(0o700)
            yield folder / _NEW
            _rename_all(folder, removed)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Turn what the operating system refuses into a sentence."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error


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


def _rename_all(folder: Path, removed: Collection[str]) -> None:
    """Move the new files of a temporary folder to where it is, and remove others there: all, or none."""
    new, old = folder / _NEW, folder / _OLD
    targets = {file: check_writable(folder.parent / file.name) for file in sorted(new.iterdir())}
    others = [folder.parent / name for name in removed if not (new / name).exists()]
    gone = [file for file in others if file.is_file() and not file.is_symlink()]
    for file, target in targets.items():
        _adopt(file, target)
        _to_disk(file)
    before = {target: old / file.name for file, target in targets.items()}
    before |= {file: old / file.name for file in gone}
    for file, kept in before.items():
        with suppress(FileNotFoundError):
            try:
                os.link(file, kept)
            except OSError:  # there is no such file, or its file system has no second names
                shutil.copy2(file, kept)
    try:
        for file, target in targets.items():
            os.replace(file, target)
        for file in gone:
            file.unlink()
    except BaseException:
        for file, kept in before.items():
            with suppress(OSError):
                if kept.exists():
                    os.replace(kept, file)
                else:
                    file.unlink()
        raise
    for each in {file.parent for file in before}:
        _names_to_disk(each)


def remove_temporaries(folder: Path) -> None:
    """Remove the temporary files of processes of this machine that have ended."""
    with suppress(OSError):  # a folder may be written that may not be listed
        for path in [Path(entry.path) for entry in os.scandir(folder) if _is_left(entry.name)]:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _is_left(name: str) -> bool:
    """Return whether a temporary file is of a process of this machine that has ended."""
    found = _TEMPORARY.fullmatch(name)
    if found is None or found["machine"] != _machine():
        return False
    import psutil  # slow to load

    return not psutil.pid_exists(int(found["process"]))


def _temporary_name(suffix: str = "") -> str:
    """Return a new name; its suffix is that of the file, by which libraries choose the format."""
    if len(os.fsencode(suffix)) > _LONGEST_SUFFIX:
        suffix = ""
    return f".nrsfm-{_machine()}-{os.getpid()}-{secrets.token_hex(8)}{suffix}"


@cache
def _machine() -> str:
    """Return what names the machine and its processes, which a container of the same name counts anew."""
    processes = ""
    with suppress(OSError):  # of a system without them
        processes = os.readlink("/proc/self/ns/pid")
    return f"{zlib.crc32(f'{platform.node()} {processes}'.encode()):08x}"
