"""One file format: a row of the table of readers, from this program or an installed package.

Readers of other packages are found by the entry-point group `nrsfm.readers`:

    [project.entry-points."nrsfm.readers"]
    vicon = "nrsfm_vicon:READER"

The object is a `Reader`, or a function without arguments that returns one. What fails in such a package, when
it is loaded or when it reads, disables its reader and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from ...data.sequence import Sequence
from ...foundation.exceptions import InputError
from ...foundation.representation import OneLine
from ..files.reading_options import ReadingOptions
from ..files.variables import LoadedFile, Parts

GROUP = "nrsfm.readers"


@dataclass(frozen=True)
class Reader(OneLine):
    """One file format.

    `load` finds what is in the bytes of a file; `interpret` finds the tracks among it. Both raise InputError
    where the file is not what it should be.
    """

    suffix: str
    label: str  # in a file dialog
    interpret: Callable[[LoadedFile, ReadingOptions], Parts | Sequence]
    load: Callable[[Path, bytes], LoadedFile] = lambda path, content: LoadedFile(path, content, {})
    recognizes: Callable[[bytes], bool] = lambda _: False  # whether the first bytes are of this format
    self_contained: bool = False  # whether no other file (visibility, truth, camera) is read with it
    options: tuple[str, ...] = ()  # reading options that it accepts besides the camera
    folder: Callable[[Path], bool] = lambda _: False  # whether a folder is one sequence of this format
    listed: bool = True  # whether a folder lists files of the suffix; many texts are no tracks


@dataclass(frozen=True)
class ReaderPlugin(OneLine):
    """A reader of an installed package, or what is wrong with it."""

    name: str  # of the entry point
    package: str  # its name and version
    reader: Reader | None
    problem: str = ""

    def __str__(self) -> str:
        """Return a sentence on it."""
        if self.reader is None:
            return f"{self.name} ({self.package}) is left out: {self.problem}"
        return f"{self.name} ({self.package}) reads {self.reader.suffix}, {self.reader.label}"


def find_plugins(taken: Container[str]) -> tuple[ReaderPlugin, ...]:
    """Return the readers that installed packages offer."""
    plugins: list[ReaderPlugin] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.module
        reader, problem = _load(entry)
        suffixes = [plugin.reader.suffix for plugin in plugins if plugin.reader is not None]
        if reader is not None and (reader.suffix in taken or reader.suffix in suffixes):
            problem, reader = f"files {reader.suffix} have a reader", None
        plugins.append(ReaderPlugin(entry.name, package, reader, problem))
    return tuple(plugins)


def _load(entry: EntryPoint) -> tuple[Reader | None, str]:
    """Return the reader of an entry point, or what is wrong with it."""
    try:
        found = entry.load()
        reader = found() if callable(found) else found
    except (Exception, SystemExit) as error:  # of code that is not this program's
        return None, _failure(error)
    if not isinstance(reader, Reader):
        return None, f"{entry.value} is {type(reader).__name__}; accepted is core.io.readers.Reader"
    return _guarded(reader, entry.name), ""


def _failure(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"


def _guarded(reader: Reader, name: str) -> Reader:
    """Return a reader whose own errors are of the files that it reads, and of no other."""

    def guarded(function: Callable[..., Any], *, denies: bool = False) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except (Exception, SystemExit) as error:
                if denies:
                    return False
                if isinstance(error, InputError):
                    raise
                raise InputError(f"the reader {name} of another package fails ({_failure(error)})") from error

        return call

    return replace(
        reader,
        load=guarded(reader.load),
        interpret=guarded(reader.interpret),
        recognizes=guarded(reader.recognizes, denies=True),
        folder=guarded(reader.folder, denies=True),
    )
