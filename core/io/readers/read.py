"""Sequences from files and folders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...foundation.exceptions import InputError
from ..files.contents import check_camera, refusing_damage
from ..files.reading_options import ReadingOptions
from . import challenge
from .assembly import as_sequence
from .challenge import ChallengeFile, challenge_file, find
from .samples import resolve
from .table import accepted_folders, interpret_file, is_sequence_folder, load_file

if TYPE_CHECKING:
    import os

    from ...data.sequence import CameraModel, Sequence


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
        name that `sample_path` accepts.
    camera
        which of an object's cameras to read (the default: perspective where it is there). For a file that
        does not state its camera model: the model to assume (`provenance` records the default).
    layout
        name of the layout of a `.mat`, `.npz` or single `.txt`, where its variables fit several or none: a
        key of `core.io.readers.LAYOUTS`, or of `core.io.readers.SHAPES` with ":" and the variable. After
        another ":", the variable that holds the visibility: "frames-points-xy:tracks:visible".
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
        threshold=threshold,
        order=order,
        xy=xy,
        size=size,
        individual=individual,
        columns=columns,
    )
    path = resolve(Path(path))
    if path.is_dir() and not is_sequence_folder(path):
        return read_challenge(_chosen(path, options.camera_model, path_name), options)
    item = challenge_file(path)
    if item is not None and reads_as_challenge(options):
        return read_challenge(item, options)
    return read_file(path, options)


def reads_as_challenge(options: ReadingOptions) -> bool:
    """Return whether a file in the Challenge's folders is read with what lies around it there."""
    return not options.given().keys() - {"camera", "frame_base"}


def read_challenge(item: ChallengeFile, options: ReadingOptions) -> Sequence:
    """Return a sequence of the Challenge. Raises InputError with the file at fault."""
    check_camera(item.camera, options.camera_model, item.file)
    reading = {"frame_base": options.frame_base} if options.frame_base != 1 else {}
    with refusing_damage(item.file):
        return replace(challenge.read(item, options.frame_base), reading=reading)


def read_file(path: Path, options: ReadingOptions) -> Sequence:
    """Return the sequence in a file of a format in the table.

    Raises InputError where the file is not what it should be.
    """
    options = replace(options, frame_base=1)  # only the Challenge's truth has a number of a frame
    reader, file = load_file(path)
    return as_sequence(interpret_file(reader, file, options), file, options)


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
        asked = "/".join((camera.value if camera else "any", path_name or "any"))
        raise InputError(f"{folder}: has no {asked}; there are {there}")
    return wanted[0]
