"""Which files may be written: not what is no file, is read-only, is an input, or is written twice."""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType

from .exceptions import InputError

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def kind_of_file(mode: int) -> str:
    """Return what a path is."""
    return "" if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "no file")


def check_writable(path: Path) -> Path:
    """Refuse a path that cannot be written, before the result that is to be written there is computed."""
    try:
        target = Path(os.path.realpath(path))
        found = _status(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error
    except ValueError as error:  # a zero byte
        raise InputError(f"{str(path)!r} cannot be written: {error}") from error
    folder = target.parent
    where = path.parent if target.name == path.name and not path.is_symlink() else folder
    if not os.path.isdir(folder):
        problem = _no_folder(where) or f"the folder {where} does not exist"
        raise InputError(f"{path} cannot be written: {problem}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{path} cannot be written: no permission to write in the folder {where}")
    if found is not None:
        kind = kind_of_file(found.st_mode)
        if kind:
            raise InputError(f"{path} is {kind}; name a file to write")
        # The permissions of the superuser are not asked for: a file that nobody may write is meant to stay.
        if not found.st_mode & 0o222 or not os.access(target, os.W_OK):
            raise InputError(f"{path} cannot be written: the file is read-only")
    use = _first_use(target, _protected.get())
    if use is not None:
        raise InputError(_overwriting(path, use))
    return target


def saved_elsewhere(
    refusal: InputError, what: str, suffix: str, write: Callable[[Path], object]
) -> InputError:
    """Write what cannot be written where it belongs elsewhere; return a sentence that says so."""
    path = write_elsewhere(what, suffix, write)
    rest = f"The {what} is saved in {path}" if path is not None else f"The {what} is lost"
    return InputError(f"{str(refusal).rstrip('.')}. {rest}")


def write_elsewhere(what: str, suffix: str, write: Callable[[Path], object]) -> Path | None:
    """Write a private file to the temporary folder, or another; return it, None where none can be written."""
    for folder in (tempfile.gettempdir, Path.home, Path.cwd):
        with suppress(InputError, OSError, RuntimeError):  # there is no such folder, or it is full, too
            path = Path(folder(), f"nrsfm-{what}-{secrets.token_hex(8)}{suffix}")
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            try:
                write(path)
            except BaseException:
                path.unlink()
                raise
            return path
    return None


def check_replaceable(files: Iterable[Path]) -> None:
    """Refuse what cannot be written of files, which may be absent, before they are computed."""
    for file in files:
        if os.path.lexists(file):
            check_writable(file)


def make_folder(folder: Path) -> Path:
    """Return a folder, which is made where it is absent, also behind a symbolic link."""
    try:
        os.makedirs(os.path.realpath(folder), exist_ok=True)
    except (OSError, ValueError) as error:  # a ValueError of a zero byte
        problem = _no_folder(folder) or getattr(error, "strerror", None) or error
        raise InputError(f"{folder} cannot be made: {problem}") from error
    return folder


def _no_folder(folder: Path) -> str:
    """Return what on the way to a folder is none, "" where nothing is."""
    for each in (folder, *folder.parents):
        with suppress(OSError, ValueError):
            found = _status(each)
            if found is not None and not stat.S_ISDIR(found.st_mode):
                return f"{each} is {kind_of_file(found.st_mode) or 'a file'}"
    return ""


def _status(path: Path) -> os.stat_result | None:
    """Return the status of the file behind a path, None where there is none."""
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


_protected: ContextVar[Mapping[object, str]] = ContextVar("protected", default=MappingProxyType({}))


@contextmanager
def protecting(inputs: Mapping[Path, str]) -> Iterator[None]:
    """Refuse in the block to write a file that is an input, by whatever name and whoever writes it.

    For files whose names follow from others: those of a series, of a report, of a folder of runs.
    """
    before = _protected.set({**_protected.get(), **_uses(inputs)})
    try:
        yield
    finally:
        _protected.reset(before)


def check_outputs(outputs: Iterable[tuple[str, Path]], inputs: Mapping[Path, str]) -> None:
    """Refuse an output that cannot be written, that is an input, or another output, by whatever name."""
    uses = _uses(inputs)
    for option, path in outputs:
        target = check_writable(path)
        use = _first_use(target, uses)
        if use is not None:
            raise InputError(_overwriting(f"{option} {path}", use))
        uses |= _uses({target: f"another output ({option})"})


def _overwriting(file: object, use: str) -> str:
    return f"{file} is {use}, which would be overwritten; write elsewhere"


def _uses(files: Mapping[Path, str]) -> dict[object, str]:
    return {identity: what for path, what in files.items() for identity in _identities(path)}


def _first_use(target: Path, uses: Mapping[object, str]) -> str | None:
    """Return what a file is, None where it is none of those that are known."""
    return next((uses[identity] for identity in _identities(target) if identity in uses), None)


def _identities(path: Path) -> list[object]:
    """Return the path without links, and what the file system knows it by, whatever its names are.

    A file that is not there yet is known by its folder, which can be mounted at several places.
    """
    try:
        found = _status(path)
        real = Path(os.path.realpath(path))
        folder = _status(real.parent)
    except (OSError, ValueError):  # what cannot be read is not overwritten
        return []
    known: list[object] = [str(real)]
    if folder is not None:
        known.append((folder.st_dev, folder.st_ino, real.name))
    if found is not None:
        known.append((found.st_dev, found.st_ino))
    return known
