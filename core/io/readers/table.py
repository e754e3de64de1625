"""The table of file formats, and the one way from a file to what is in it.

A new format is a module here and a line in `READERS`: the command line and the window read the table. Readers
of other packages are found by the entry-point group `nrsfm.readers`:

    [project.entry-points."nrsfm.readers"]
    vicon = "nrsfm_vicon:READER"

The object is a `Reader`, or a function without arguments that returns one. What fails in such a package, when
it is loaded or when it reads, disables its reader and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from ...data.sequence import VIDEO_SUFFIXES, Sequence
from ...foundation.exceptions import InputError
from ...foundation.representation import OneLine
from ..files.contents import is_zip, parse_matrix, read_bytes, reason, refusing_damage
from ..files.reading_options import ReadingOptions
from ..files.variables import LoadedFile, Parts
from .arrays.layouts import parts_of
from .arrays.mat import is_hdf5, load_variables
from .arrays.npz import interpret_npz, load_npz
from .arrays.saved_arrays import interpret_npy, interpret_pickle, load_npy, load_pickle
from .geometry import markers, scenes
from .keypoints import json_poses, sleap
from .tables import wide
from .tables.csv import interpret_csv, is_csv, load_csv

GROUP = "nrsfm.readers"
LONGEST_NAME = 1000  # characters, of arrays, columns and individuals
ARRAY_OPTIONS = ("layout", "tracks", "visible", "threshold", "order", "xy", "size")
NAMED_OPTIONS = (*ARRAY_OPTIONS, "individual")


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
    plugin: str = ""  # the entry point that it is of

    @property
    def reads(self) -> str:
        """What a file is read as, in sentences that refuse it."""
        return f"{self.label} by the reader {self.plugin} of another package" if self.plugin else self.label


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


def _load_mat(path: Path, content: bytes) -> LoadedFile:
    variables = load_variables(content)
    if isinstance(variables.get(wide.FRAME), dict):
        return wide.load_poses(path, content, wide.table_of_frame(variables))
    if sleap.is_project(variables):
        with refusing_damage(path, "a project of SLEAP"):
            variables = sleap.analysis_of(variables, len(content))
    individuals = sleap.individuals_of(variables) if sleap.is_analysis(variables) else ()
    return LoadedFile(path, content, variables, individuals)


def _interpret_mat(file: LoadedFile, options: ReadingOptions) -> Parts:
    return wide.read_poses(file, options) if wide.is_poses(file) else parts_of(file, options)


def _load_text(path: Path, content: bytes) -> LoadedFile:
    return LoadedFile(path, content, {"text": parse_matrix(content, path)})


def _interpret_text(file: LoadedFile, options: ReadingOptions) -> Parts:
    if options.layout is None:
        options = replace(options, layout="interleaved", tracks=options.tracks or "text")
    return parts_of(file, options)


def _begins_with(*marks: bytes) -> Callable[[bytes], bool]:
    return lambda content: content.startswith(marks)


_READERS = (  # in the order in which first bytes are tried
    Reader(
        ".npz", "NumPy arrays", interpret_npz, load_npz, is_zip, self_contained=True, options=ARRAY_OPTIONS,
    ),
    Reader(".npy", "NumPy array", interpret_npy, load_npy, _begins_with(b"\x93NUMPY"), options=ARRAY_OPTIONS),
    Reader(
        ".pkl", "Pickled arrays", interpret_pickle, load_pickle,
        _begins_with(b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),  # of protocol 2 or later
        self_contained=True, options=NAMED_OPTIONS,
    ),
    Reader(
        ".mat", "MATLAB variables", _interpret_mat, _load_mat, _begins_with(b"MATLAB "),  # from version 5 on
        options=NAMED_OPTIONS,
    ),
    Reader(".h5", "HDF5 arrays", _interpret_mat, _load_mat, is_hdf5, options=NAMED_OPTIONS),
    Reader(
        ".csv", "Table of observations", interpret_csv, load_csv, is_csv,
        self_contained=True, options=("visible", "threshold", "size", "individual", "columns"),
    ),
    Reader(
        ".json", "Keypoints (OpenPose, MediaPipe)", json_poses.read_poses, json_poses.load_poses,
        folder=json_poses.is_folder_of_openpose, listed=False,
        options=("tracks", "threshold", "size", "individual"),
    ),
    Reader(".slp", "Project of SLEAP", _interpret_mat, _load_mat, options=("threshold", "individual")),
    Reader(".c3d", "Motion capture", markers.interpret_markers, markers.load_c3d, markers.is_c3d),
    Reader(
        ".out", "Model of Bundler or COLMAP", scenes.read_scene, scenes.load_scene,
        _begins_with(b"# Bundle file"), folder=scenes.is_colmap_folder, listed=False,
    ),
    Reader(".txt", "Matrix as text", _interpret_text, _load_text, options=ARRAY_OPTIONS, listed=False),
)  # fmt: skip
READERS = {reader.suffix: reader for reader in _READERS}


# -- readers of installed packages ---------------------------------------------------------------------------


@cache
def installed_plugins() -> tuple[ReaderPlugin, ...]:
    """Return the readers that installed packages offer, which are in `READERS` from then on."""
    plugins: list[ReaderPlugin] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.module
        reader, problem = _load_plugin(entry)
        if reader is not None and reader.suffix in READERS:
            problem, reader = f"files {reader.suffix} have a reader", None
        if reader is not None:
            READERS[reader.suffix] = reader
        plugins.append(ReaderPlugin(entry.name, package, reader, problem))
    return tuple(plugins)


def _load_plugin(entry: EntryPoint) -> tuple[Reader | None, str]:
    """Return the reader of an entry point, or what is wrong with it."""
    try:
        found = entry.load()
        reader = found() if callable(found) else found
    except (Exception, SystemExit) as error:  # of code that is not this program's
        return None, f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
    if not isinstance(reader, Reader):
        return None, f"{entry.value} is {type(reader).__name__}; accepted is core.io.readers.Reader"
    return replace(reader, plugin=entry.name), ""


def _claims(reader: Reader, check: Callable[[Any], bool], given: Any, failed: list[str]) -> bool:
    """Return what a check of a reader says; that of another package may fail, which `failed` then tells."""
    try:
        return bool(check(given))  # that of an array of several numbers fails
    except (Exception, SystemExit) as error:
        if not reader.plugin:
            raise
        name = f"the reader {reader.plugin} of another package"
        failed.append(f"{name} failed to recognize it ({reason(error)})")
        return False


def installed_readers() -> Mapping[str, Reader]:
    """Return `READERS` with the readers of installed packages."""
    installed_plugins()
    return READERS


# -- from a file to what is in it ----------------------------------------------------------------------------


def load_file(path: Path) -> tuple[Reader, LoadedFile]:
    """Return the content of a file by names, and its reader.

    The reader is found by the first bytes, or by the suffix where these do not decide.
    """
    is_folder = path.is_dir()
    content, suffix = b"" if is_folder else read_bytes(path), path.suffix.lower()
    failed: list[str] = []
    for reader in installed_readers().values():
        check, given = (reader.folder, path) if is_folder else (reader.recognizes, content)
        if _claims(reader, check, given, failed) or (not is_folder and suffix == reader.suffix):
            with refusing_damage(path, reader.reads):
                file = reader.load(path, content)
                longest = max(map(len, (*file.arrays(), *file.individuals, *file.columns)), default=0)
                if longest > LONGEST_NAME:  # a window takes minutes to lay out a name of a million letters
                    raise InputError(
                        f"has a name of {longest} characters inside; accepted are up to {LONGEST_NAME}"
                    )
                return reader, file
    if is_folder:
        raise InputError(f"{path}: is a folder, and no sequence of the formats that can be read")
    if suffix in VIDEO_SUFFIXES:
        raise InputError(
            f"{path}: is a video; `nrsfm track`, or File > Track a video..., follows points through it"
        )
    known = f"{path}: is none of the formats that can be read: {', '.join(READERS)}"
    raise InputError("; ".join((known, *failed)))


def is_sequence_folder(path: Path) -> bool:
    """Return whether a folder is one sequence, as a folder of OpenPose is."""
    return any(_claims(reader, reader.folder, path, []) for reader in installed_readers().values())


def listed_suffixes() -> list[str]:
    """Return the suffixes of the files that a folder lists."""
    return [suffix for suffix, reader in installed_readers().items() if reader.listed]


def accepted_folders() -> str:
    """Return the end of a sentence that refuses a folder."""
    *others, last = listed_suffixes()
    return (
        "accepted is a folder of the NRSfM Challenge, <object>/sequence/{orthogonal,perspective}/<path>.txt, "
        f"the folder above it, or a folder of {', '.join(others)} or {last} files, up to two levels deep"
    )


def is_self_contained(content: bytes) -> bool:
    """Return whether a file of these bytes is read without other files, as npz and csv are.

    The others may have visibility, truth, a companion or a camera in files next to them.
    """
    return any(
        reader.self_contained and _claims(reader, reader.recognizes, content, [])
        for reader in installed_readers().values()
    )
