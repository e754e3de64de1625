"""Atomic writing: a file is written under a temporary name in the same folder, then renamed."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def check_writable(path: Path) -> None:
    """Refuse a path that cannot be written, before the result that is to be written there is computed.

    Parameters
    ----------
    path
        the file that is to be written.

    Raises
    ------
    InputError
        where the folder is absent or not writable, the path is itself a folder, or its name is refused.
    """
    folder = path.parent
    if os.path.isdir(path):
        raise InputError(f"{path} is a folder; name a file to write")
    if not os.path.isdir(folder):
        raise InputError(f"{path} cannot be written: the folder {folder} does not exist")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path} cannot be written: no permission to write in the folder {folder}")
    try:
        path.lstat()
    except FileNotFoundError:
        pass
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the folder of `path`; it replaces `path` if the block ends without an error.

    Parameters
    ----------
    path
        the file to write.

    Yields
    ------
    Path
        the temporary file.

    Raises
    ------
    InputError
        where the folder is absent or not writable, or the disk refuses the bytes.
    """
    check_writable(path)
    temporary = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        yield temporary
        # mkstemp makes files private; a result is an ordinary file with the permissions of the user's umask.
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


@contextmanager
def replacing_many(path: Path) -> Iterator[Path]:
    """Yield a temporary folder; its files move to the folder of `path` if the block ends without an error.

    For several files that belong together: if the block fails, none of them appears.

    Parameters
    ----------
    path
        any of the files to write.

    Yields
    ------
    Path
        the temporary folder.

    Raises
    ------
    InputError
        where the folder is absent or not writable, or the disk refuses the bytes.
    """
    check_writable(path)
    folder = None
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{path.stem}-", dir=path.parent))
        yield folder
        for file in sorted(folder.iterdir()):
            os.replace(file, path.parent / file.name)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def check_outputs(outputs: Iterable[tuple[str, Path]], inputs: Mapping[Path, str]) -> None:
    """Refuse an output that is an input, or another output, by whatever name.

    Parameters
    ----------
    outputs
        the option that names each file to write, and the file.
    inputs
        what each file that is read is, as a sentence has it: "the input".

    Raises
    ------
    InputError
        naming the file and both of its uses.
    """
    taken = dict(inputs)
    for option, path in outputs:
        for other, what in taken.items():
            if _same(path, other):
                raise InputError(f"{option} {path} is {what}, which it would overwrite; name another file")
        taken[path] = f"another output ({option})"


def _same(first: Path, second: Path) -> bool:
    if first.resolve() == second.resolve():
        return True
    # Where upper and lower case are the same, two spellings are one file.
    return first.exists() and second.exists() and first.samefile(second)
