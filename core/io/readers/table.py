"""The table of file formats, and the one way from a file to what is in it.

A new format is a module here and a line in `READERS`: the command line and the window read the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from ...data.sequence import VIDEO_SUFFIXES
from ...foundation.exceptions import InputError
from ..files.contents import is_zip, parse_matrix, read_bytes, refusing_damage
from ..files.reading_options import ReadingOptions
from ..files.variables import LoadedFile, Parts
from .arrays.layouts import parts_of
from .arrays.mat import is_hdf5, is_mat, load_variables
from .arrays.npz import interpret_npz, load_npz
from .arrays.saved_arrays import interpret_npy, interpret_pickle, is_npy, is_pickle, load_npy, load_pickle
from .geometry import markers, scenes
from .keypoints import json_poses, sleap
from .reader import Reader, ReaderPlugin, find_plugins
from .tables.csv import LoadedTable, interpret_csv, is_csv, load_csv, load_poses
from .tables.deeplabcut import FRAME, table_of_frame

LONGEST_NAME = 1000  # characters, of arrays, columns and individuals
ARRAY_OPTIONS = ("layout", "tracks", "visible", "threshold", "order", "xy", "size")
NAMED_OPTIONS = (*ARRAY_OPTIONS, "individual")


def _load_mat(path: Path, content: bytes) -> LoadedFile:
    variables = load_variables(content, path)
    if isinstance(variables.get(FRAME), dict):
        return load_poses(path, content, table_of_frame(variables, path))
    if sleap.is_project(variables):
        variables = sleap.analysis_of(variables, len(content))
    individuals = sleap.individuals_of(variables) if sleap.is_analysis(variables) else ()
    return LoadedFile(path, content, variables, individuals)


def _interpret_mat(file: LoadedFile, options: ReadingOptions) -> Parts:
    return interpret_csv(file, options) if isinstance(file, LoadedTable) else parts_of(file, options)


def _load_text(path: Path, content: bytes) -> LoadedFile:
    return LoadedFile(path, content, {"text": parse_matrix(content, path)})


def _interpret_text(file: LoadedFile, options: ReadingOptions) -> Parts:
    if options.layout is None:
        options = replace(options, layout="interleaved", tracks=options.tracks or "text")
    return parts_of(file, options)


_READERS = (  # in the order in which first bytes are tried
    Reader(
        ".npz", "NumPy arrays", interpret_npz, load_npz, is_zip, self_contained=True, options=ARRAY_OPTIONS
    ),
    Reader(".npy", "NumPy array", interpret_npy, load_npy, is_npy, options=ARRAY_OPTIONS),
    Reader(
        ".pkl",
        "Pickled arrays",
        interpret_pickle,
        load_pickle,
        is_pickle,
        self_contained=True,
        options=NAMED_OPTIONS,
    ),
    Reader(".mat", "MATLAB variables", _interpret_mat, _load_mat, is_mat, options=NAMED_OPTIONS),
    Reader(".h5", "HDF5 arrays", _interpret_mat, _load_mat, is_hdf5, options=NAMED_OPTIONS),
    Reader(
        ".csv",
        "Table of observations",
        interpret_csv,
        load_csv,
        is_csv,
        self_contained=True,
        options=("visible", "threshold", "size", "individual", "columns"),
    ),
    Reader(
        ".json",
        "Keypoints (OpenPose, MediaPipe)",
        json_poses.read_poses,
        json_poses.load_poses,
        options=("tracks", "threshold", "size", "individual"),
        folder=json_poses.is_folder_of_openpose,
        listed=False,
    ),
    Reader(".slp", "Project of SLEAP", _interpret_mat, _load_mat, options=("threshold", "individual")),
    Reader(".c3d", "Motion capture", markers.interpret_markers, markers.load_c3d, markers.is_c3d),
    Reader(".trc", "Motion capture as text", markers.interpret_markers, markers.load_trc, markers.is_trc),
    Reader(
        ".out",
        "Model of Bundler or COLMAP",
        scenes.read_scene,
        scenes.load_scene,
        scenes.is_bundle,
        folder=scenes.is_colmap_folder,
        listed=False,
    ),
    Reader(".txt", "Matrix as text", _interpret_text, _load_text, options=ARRAY_OPTIONS, listed=False),
)
READERS = {reader.suffix: reader for reader in _READERS}


@cache
def installed_plugins() -> tuple[ReaderPlugin, ...]:
    """Return the readers of installed packages, which are in `READERS` from then on."""
    plugins = find_plugins(READERS)
    READERS.update({plugin.reader.suffix: plugin.reader for plugin in plugins if plugin.reader is not None})
    return plugins


def installed_readers() -> Mapping[str, Reader]:
    """Return `READERS` with the readers of installed packages."""
    installed_plugins()
    return READERS


def load_file(path: Path) -> tuple[Reader, LoadedFile]:
    """Return the content of a file by names, and its reader.

    The reader is found by the first bytes, or by the suffix where these do not decide.
    """
    if path.is_dir():
        reader = reader_of_folder(path)
        if reader is None:
            raise InputError(f"{path}: is a folder, and no sequence of the formats that can be read")
        with refusing_damage(path):
            return reader, _with_short_names(reader.load(path, b""))
    content, suffix = read_bytes(path), path.suffix.lower()
    for reader in installed_readers().values():
        if reader.recognizes(content) or suffix == reader.suffix:
            with refusing_damage(path):
                return reader, _with_short_names(reader.load(path, content))
    if suffix in VIDEO_SUFFIXES:
        raise InputError(
            f"{path}: is a video; `nrsfm track`, or File > Track a video..., follows points through it"
        )
    raise InputError(f"{path}: is none of the formats that can be read: {', '.join(READERS)}")


def _with_short_names(file: LoadedFile) -> LoadedFile:
    """Return what was loaded, or refuse it: a window takes minutes to lay out a name of a million letters."""
    longest = max(map(len, (*file.variables, *file.individuals, *file.columns)), default=0)
    if longest > LONGEST_NAME:
        raise InputError(f"has a name of {longest} characters inside; accepted are up to {LONGEST_NAME}")
    return file


def reader_of_folder(path: Path) -> Reader | None:
    """Return the reader of a folder that is one sequence, None where it is none."""
    return next((reader for reader in installed_readers().values() if reader.folder(path)), None)


def is_sequence_folder(path: Path) -> bool:
    """Return whether a folder is one sequence, as a folder of OpenPose is."""
    return reader_of_folder(path) is not None


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
        reader.self_contained and reader.recognizes(content) for reader in installed_readers().values()
    )
