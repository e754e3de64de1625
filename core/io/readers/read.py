"""Sequences from files and folders, and what was understood of a file before it is opened."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...data.masks import known_points
from ...data.sequence import CameraModel, GroundTruth, Sequence
from ...foundation.exceptions import InputError
from ...foundation.representation import OneLine
from ...foundation.types import Bools
from ..files.contents import check_camera, digest, refusing_damage, sequence_name
from ..files.reading_options import NO_MASK, READING_OPTIONS, ReadingOptions
from ..files.variables import LoadedFile, Parts, Variables, joined, size_of, without_unseen
from . import challenge
from .challenge import ChallengeFile, challenge_file, find, resolve
from .table import Reader, accepted_folders, is_sequence_folder, load_file

CHALLENGE = "NRSfM Challenge"
OWN = "nrsfm"
PIXELS = 20.0  # units that tracks in pixels extend over at least
BELOW = 0.05  # of their extent, by which tracks in pixels may leave the picture at its first row or column


@dataclass(frozen=True)
class ArrayEntry(OneLine):
    """One array of a file, and what it is taken for."""

    name: str
    size: str  # "60 x 41 x 2", "12 cells of 3 x 41"
    dtype: str  # "float32"; "" for what is no array
    # "tracks", "visibility", "intrinsics", "cameras", "truth", "names", "edges", "scores", "unit", "frames"
    # or "not read"; "" where the tracks were not found.
    role: str = ""


@dataclass(frozen=True, eq=False)
class FileContents(OneLine):
    """What was understood of a file, which `inspect_file` returns.

    Parameters
    ----------
    path, producer
        the file, and what wrote it: "CoTracker", "NumPy arrays", ...
    arrays
        each with its name, its size, its type and what it is taken for.
    sequence, problem
        what `read_sequence` returns, or None and the sentence that it raises.
    guesses, left_out
        sentences on what the file leaves open, and on what is not used of it.
    individuals, columns
        those of which one is to be chosen, and those of a table.
    reading
        the reading options in effect, given or found.
    """

    path: Path
    producer: str = ""
    arrays: tuple[ArrayEntry, ...] = ()
    sequence: Sequence | None = None
    problem: str = ""
    guesses: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    individuals: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    reading: Mapping[str, str] = field(default_factory=dict)

    @property
    def states_all(self) -> bool:
        """Whether the format states what each array is: this program's or the Challenge's."""
        return self.producer in (CHALLENGE, OWN)

    @property
    def remarks(self) -> tuple[str, ...]:
        """All sentences on it."""
        return (*self.left_out, *self.guesses)

    @property
    def clear(self) -> bool:
        """Whether the file could be read and nothing was guessed."""
        return self.sequence is not None and not self.guesses


def read_sequence(
    path: str | os.PathLike[str],
    *,
    camera: CameraModel | str | None = None,
    layout: str | None = None,
    frame_base: int = 1,
    path_name: str | None = None,
    tracks: str | None = None,
    visible: str | None = None,
    threshold: float | None = None,
    order: str | None = None,
    xy: str | None = None,
    size: str | None = None,
    individual: str | None = None,
    columns: str | None = None,
) -> Sequence:
    """Read the tracks of one camera, and what files next to theirs hold about them.

    Parameters
    ----------
    path
        a file of a format in `READERS`, the folder of one NRSfM Challenge object, or "sample:NAME" with a
        name that `sample_path` accepts, of which that of an object stands for its folder.
    camera
        which of an object's cameras to read (the default: perspective where it is there). For a file that
        does not state its camera model: the model to assume (`provenance` records the default).
    layout
        name of the layout of the arrays of a `.npz`, `.npy`, `.pkl`, `.mat`, `.h5` or single `.txt`, where
        several or none fit: a key of `core.io.readers.LAYOUTS`, or of `SHAPES` there for the array `tracks`.
    frame_base
        number of the first frame in the Challenge's `gt_frame_N`: 1 or 0.
    path_name
        which of an object's camera paths to read; the default is the first there, "circle" in the Challenge.
    tracks
        the array of the tracks, where a file holds several or it is not recognized.
    visible
        the array of the visibility: "NAME" where 1 is seen, "~NAME" where 1 is hidden, "none" for none.
    threshold
        of scores: a point is seen from it on.
    order
        of the axes of the tracks: "tnxy" has the frames first, "ntxy" the points.
    xy
        "yx" where the y coordinate comes first.
    size
        width and height of the picture in pixels, "1280x720".
    individual
        one of several animals, people or videos in a file, by its name.
    columns
        of a table: "frame=..,point=..,x=..,y=..", with ",visible=.." where it has one.

    Returns
    -------
    Sequence
        with everything that the files give.

    Raises
    ------
    InputError
        one sentence with the file, the variable or row, what was found and what is accepted.

    Examples
    --------
    >>> import core
    >>> core.read_sequence("sample:balloon/circle")
    Sequence('balloon circle', perspective, 45 frames, 96 points)
    """
    options = ReadingOptions(
        camera=camera,
        layout=layout,
        frame_base=frame_base,
        tracks=tracks,
        visible=visible,
        xy=xy,
        size=size,
        threshold=threshold,
        order=order,
        individual=individual,
        columns=columns,
    )
    path = resolve(Path(path))
    item = _challenge_item(path, options, path_name)
    return read_file(path, options) if item is None else _read_challenge(item, options)


def inspect_file(path: str | os.PathLike[str], **reading: Any) -> FileContents:
    """Return what a file holds and how it is understood; what is wrong with it is a sentence in the answer.

    Parameters
    ----------
    path
        as `read_sequence` accepts it.
    **reading
        the reading options of `read_sequence`.

    Returns
    -------
    FileContents
        with the sequence that `read_sequence` returns with the same options, or the problem.

    Examples
    --------
    >>> import tempfile, pathlib, core
    >>> from core.io.readers import inspect_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "paper.csv")
    ...     core.write_csv(core.simulate("paper", frames=12, points=20), file)
    ...     inspect_file(file).sequence.frame_count
    12
    """
    found = FileContents(Path(path))
    try:
        options = ReadingOptions(**reading)
        found = replace(found, path=resolve(found.path))
        item = _challenge_item(found.path, options)
        if item is not None:
            return _of_sequence(found, CHALLENGE, _read_challenge(item, options))
        reader, file = load_file(found.path)
        found = replace(
            found,
            producer=reader.label,
            arrays=_entries(file.arrays(), {}),
            individuals=file.individuals,
            columns=file.columns,
        )
        sequence, parts = _interpreted(reader, file, options)
        if parts is None:
            return _of_sequence(found, OWN, sequence)
        reading = {name: str(value) for name, value in sequence.reading.items()} | dict(parts.reading)
        camera = {"camera": sequence.camera.value} if parts.camera_assumed else {}
        return replace(
            found,
            producer=parts.producer or reader.label,
            arrays=_entries(file.arrays(parts.reading.get("individual", "")), parts.roles),
            guesses=parts.guesses,
            left_out=parts.left_out,
            reading=reading | camera,
            sequence=sequence,
        )
    except InputError as error:
        return replace(found, problem=str(error))


def _of_sequence(found: FileContents, producer: str, sequence: Sequence) -> FileContents:
    """Return the contents of a file in a format that states what each array is."""
    roles = {"tracks": "tracks", "visible": "visibility", "intrinsics": "intrinsics"}
    roles |= {"rotations": "cameras", "truth": "truth", "edges": "edges"}
    arrays = {name: getattr(sequence, name) for name in roles if getattr(sequence, name) is not None}
    if sequence.truth is not None:
        arrays["truth"] = sequence.truth.points
    return replace(found, producer=producer, arrays=_entries(arrays, roles), sequence=sequence)


def _entries(variables: Variables, roles: Mapping[str, str]) -> tuple[ArrayEntry, ...]:
    """Return every array with its role: that which was read first, then the others by name."""
    names = [name for name in roles if name in variables] + sorted(set(variables) - set(roles))
    return tuple(
        ArrayEntry(
            name,
            size_of(variables[name]),
            str(variables[name].dtype) if isinstance(variables[name], np.ndarray) else "",
            roles.get(name, "not read" if roles else ""),
        )
        for name in names
    )


# -- the Challenge -------------------------------------------------------------------------------------------


def _challenge_item(
    path: Path, options: ReadingOptions, path_name: str | None = None
) -> ChallengeFile | None:
    """Return the sequence of the Challenge that a path is, None where it is a file of the table.

    A file in the Challenge's folders that is read by other options is read without what lies around it there.
    """
    if path.is_dir() and not is_sequence_folder(path):
        return _chosen(path, options.camera_model, path_name)
    plain = not path.is_dir() and not options.given().keys() - {"camera", "frame_base"}
    item = challenge_file(path) if plain else None
    if path_name not in (None, None if item is None else item.path_name):
        raise InputError(
            f"{path}: is one sequence; a path ({path_name}) chooses among those of an object's folder"
        )
    return item


def _chosen(folder: Path, camera: CameraModel | None, path_name: str | None) -> ChallengeFile:
    """Return the one sequence of a folder that the camera and path ask for."""
    found = find(folder)
    if not found:
        raise InputError(f"{folder}: holds no sequence of the Challenge; {accepted_folders()}")
    objects = list(dict.fromkeys(item.root for item in found))
    if len(objects) > 1:
        names = ", ".join(root.name for root in objects)
        raise InputError(f"{folder}: holds {len(objects)} objects ({names}); accepted is the folder of one")
    wanted = [item for item in found if camera in (None, item.camera) and path_name in (None, item.path_name)]
    if not wanted:
        there = ", ".join(f"{item.camera.value}/{item.path_name}" for item in found)
        asked = "/".join(filter(None, (camera and camera.value, path_name)))
        raise InputError(f"{folder}: has no {asked}; there are {there}")
    return wanted[0]


def _read_challenge(item: ChallengeFile, options: ReadingOptions) -> Sequence:
    check_camera(item.camera, options.camera_model, item.file)
    reading = {"frame_base": options.frame_base} if options.frame_base != 1 else {}
    with refusing_damage(item.file):
        return replace(challenge.read(item, options.frame_base), reading=reading)


# -- the formats of the table --------------------------------------------------------------------------------


def read_file(path: Path, options: ReadingOptions) -> Sequence:
    """Return the sequence in a file of a format in the table."""
    return _interpreted(*load_file(path), options)[0]


def _interpreted(reader: Reader, file: LoadedFile, options: ReadingOptions) -> tuple[Sequence, Parts | None]:
    """Return the sequence in the content of a file, and its parts where the file does not state all."""
    options = replace(options, frame_base=1)  # only the Challenge's truth has a number of a frame
    given = options.given()
    for name in given:
        if name not in (*reader.options, "camera"):
            accepted = ", ".join(each for each in READING_OPTIONS if each in (*reader.options, "camera"))
            raise InputError(
                f"{file.path}: {name} is {getattr(options, name)!r}; a {reader.suffix} file accepts only "
                f"{accepted}"
            )
    with refusing_damage(file.path, reader.reads):
        found = reader.interpret(file, options)
        if isinstance(found, Sequence):
            sequence, parts = found, None
        else:
            parts = _complete(found, options)
            sequence = _sequence_of(parts, file, options)
    return replace(sequence, reading=given) if given else sequence, parts


def _complete(parts: Parts, options: ReadingOptions) -> Parts:
    """Return parts without frames and points that cannot be reconstructed, and with a camera model.

    Tracks in pixels are a perspective camera's, whose focal length is unknown where the file has no K; other
    tracks without K are orthogonal.
    """
    parts = without_unseen(_without_zeros(parts, options))
    if not parts.camera_assumed or options.camera is not None:
        return parts
    perspective, guesses = parts.camera is CameraModel.PERSPECTIVE, parts.guesses
    if not perspective and _look_like_pixels(parts):
        perspective = True
        guesses += ("the numbers look like pixels of a camera with perspective (--camera orthogonal if not)",)
    model = CameraModel.PERSPECTIVE if perspective else CameraModel.ORTHOGONAL
    unknown = " with an unknown focal length" if perspective and parts.intrinsics is None else ""
    note = f"the file does not name its camera: {model.value} is assumed{unknown} (camera=, --camera)"
    return replace(parts, camera=model, guesses=guesses, provenance=joined(parts.provenance, note))


def _without_zeros(parts: Parts, options: ReadingOptions) -> Parts:
    """Return parts whose points at (0, 0) are hidden, where no mask says what is: many programs write so."""
    if options.visible == NO_MASK or {"visibility", "scores"} & set(parts.roles.values()):
        return parts
    zero: Bools = np.asarray((parts.tracks == 0).all(axis=1))
    visible = parts.seen
    others = parts.tracks.transpose(0, 2, 1)[visible & ~zero]
    if not (visible & zero).any() or not others.size or others.min() < 0:
        return parts
    share = (visible & zero).mean()
    guess = f"{share:.1%} of the points are at (0, 0) and count as hidden (--visible none: they are seen)"
    tracks = np.where(zero[:, None], np.nan, parts.tracks)
    return replace(parts, tracks=tracks, visible=visible & ~zero, guesses=(*parts.guesses, guess))


def _look_like_pixels(parts: Parts) -> bool:
    """Return whether coordinates lie in a picture with first pixel (0, 0): not centered, and not small."""
    known = parts.tracks.transpose(1, 0, 2)[:, known_points(parts.tracks)]
    if known.size == 0:
        return False
    extent = float(np.ptp(known, axis=1).max())
    return bool(extent > PIXELS and (known.min(axis=1) >= -BELOW * extent).all())


def _sequence_of(parts: Parts, file: LoadedFile, options: ReadingOptions) -> Sequence:
    model = parts.camera
    if parts.camera_assumed:
        model = options.camera_model or model
    else:
        check_camera(model, options.camera_model, file.path)
    perspective = model is CameraModel.PERSPECTIVE
    return Sequence(
        parts.tracks,
        parts.seen,
        model,
        sequence_name(file.path),
        intrinsics=parts.intrinsics if perspective else None,
        truth=None if parts.shapes is None else GroundTruth.of_all_frames(parts.shapes),
        rotations=parts.rotations,
        translations=parts.translations,
        edges=parts.edges,
        units="px" if perspective else parts.units,
        truth_units=parts.truth_units,
        truth_name=parts.truth_name,
        image_size=options.image_size or parts.image_size,
        point_names=parts.point_names,
        provenance=parts.provenance,
        source=file.path.absolute(),
        digest=digest(file.content) if file.content else "",
    )
