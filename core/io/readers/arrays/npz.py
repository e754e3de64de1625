"""A sequence in one `.npz` of plain arrays: every field, every bit; and the foreign `.npz` files.

The entries are `format`, "nrsfm-sequence 1", and the fields of `Sequence` that are there, in their shapes.
Those of the truth and the companion are truth_frames, truth_points, truth_reference, companion_tracks and
companion_visible. The point_names are one text, a line for each, and the video is named from the folder of
the file where it is there or below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ....data.sequence import GROUND_TRUTH, CameraModel, GroundTruth, Observations, Sequence
from ....foundation.atomic import replacing
from ....foundation.exceptions import InputError
from ....foundation.types import Bools, Floats
from ...files.contents import check_camera, digest, load_arrays, names_in, naming, reason, sequence_name
from ...files.named_paths import named_path
from ...files.reading_options import ReadingOptions
from ...files.variables import PYTHON_OBJECTS, LoadedFile, Parts, without_unseen
from .layouts import parts_of

FORMAT = "nrsfm-sequence 1"
_TEXTS = ("camera", "name", "units", "truth_units", "provenance")
_REAL, _WHOLE = "biuf", "iu"  # kinds of numbers


def load_npz(path: Path, content: bytes) -> LoadedFile:
    """Return the arrays of an `.npz` by name; of those that would need unpickling only a mark."""
    arrays = load_arrays(content, path)
    return LoadedFile(path, content, dict.fromkeys(names_in(content, path), PYTHON_OBJECTS) | arrays)


def interpret_npz(file: LoadedFile, options: ReadingOptions) -> Parts | Sequence:
    """Return the sequence that `write_npz` wrote, or what a foreign file's arrays are.

    `source` and `digest` of a sequence are those of the file.
    """
    arrays = file.variables
    if "format" not in arrays or options.given().keys() - {"camera"}:
        if {"B", "C", "weights"} <= arrays.keys():
            raise InputError(
                "is a reconstruction, not a sequence; `nrsfm evaluate` and `nrsfm export` read it"
            )
        return parts_of(file, options)
    if str(arrays["format"]) != FORMAT:
        raise InputError(f"format is {str(arrays['format'])[:40]!r}; accepted is {FORMAT!r}")
    sequence = sequence_from(arrays)
    check_camera(sequence.camera, options.camera_model, file.path)
    video = None if sequence.video is None else named_path(str(sequence.video), file.path)
    return replace(sequence, source=file.path.absolute(), digest=digest(file.content), video=video)


def sequence_from(arrays: Mapping[str, Any]) -> Sequence:
    """Return the sequence of the entries that `entries_of` returned; it names no file."""
    tracks, visible = _get(arrays, "tracks", _REAL), _get(arrays, "visible", _REAL)
    others: dict[str, Any] = {key: str(_get(arrays, key)) for key in _TEXTS}
    for key, (kinds, size, convert) in _OPTIONAL.items():
        if key in arrays:
            others[key] = convert(_get(arrays, key, kinds, size))
    if "companion_tracks" in arrays:
        companion = (_get(arrays, f"companion_{key}", _REAL) for key in ("tracks", "visible"))
        others["companion"] = Observations(*companion)
    return Sequence(tracks, visible, truth=_truth(arrays), **others)


def _get(arrays: Mapping[str, Any], key: str, kinds: str = "", size: int = 0) -> npt.NDArray[Any]:
    """Return an entry, of one of some kinds of numbers, and of so many where a size is given."""
    if key not in arrays:
        raise InputError(f"{key} is absent; a file of format {FORMAT!r} needs it")
    entry: npt.NDArray[Any] = np.asarray(arrays[key])
    if kinds and entry.dtype.kind not in kinds:
        numbers = "real" if kinds == _REAL else "whole"
        raise InputError(f"{key} holds {entry.dtype}; accepted are {numbers} numbers")
    if size and entry.size != size:
        accepted = "is one number" if size == 1 else f"are {size} numbers"
        raise InputError(f"{key} has shape {entry.shape}; accepted {accepted}")
    return entry


def _truth(arrays: Mapping[str, Any]) -> GroundTruth | None:
    if "truth_points" not in arrays:
        return None
    frames = _get(arrays, "truth_frames", _WHOLE)
    if frames.ndim != 1:
        raise InputError(f"truth_frames has shape {frames.shape}; accepted is (frames,)")
    reference = int(_get(arrays, "truth_reference", _WHOLE, 1).item())
    return GroundTruth(frames, _get(arrays, "truth_points", _REAL), reference)


# The other entries by their names, which are those of the fields: kinds and count of numbers, conversion.
_OPTIONAL: dict[str, tuple[str, int, Callable[[npt.NDArray[Any]], Any]]] = {
    **dict.fromkeys(("intrinsics", "rotations", "translations"), (_REAL, 0, np.asarray)),
    **dict.fromkeys(("edges", "faces", "video_frames"), (_WHOLE, 0, np.asarray)),
    "truth_name": ("", 0, str),
    "frame_rate": (_REAL, 1, lambda entry: float(entry.item())),
    "image_size": (_WHOLE, 2, lambda entry: tuple(entry.ravel().tolist())),
    "video": ("", 0, lambda entry: Path(str(entry))),
    "point_names": ("", 0, lambda entry: tuple(str(entry).split("\n"))),
}


def entries_of(sequence: Sequence) -> dict[str, Any]:
    """Return every field of a sequence as the arrays and texts of its file, without the format."""
    keys = ("tracks", "visible", *_TEXTS, *_OPTIONAL)
    entries = {key: getattr(sequence, key) for key in keys if getattr(sequence, key) is not None}
    entries["camera"] = sequence.camera.value
    if sequence.truth is not None:
        entries |= {f"truth_{name}": value for name, value in vars(sequence.truth).items()}
    if sequence.companion is not None:
        entries |= {f"companion_{name}": value for name, value in vars(sequence.companion).items()}
    if sequence.truth_name == GROUND_TRUTH:
        del entries["truth_name"]
    if sequence.image_size is not None:
        entries["image_size"] = np.array(sequence.image_size)
    if sequence.video is not None:
        entries["video"] = str(sequence.video.absolute())
    if sequence.point_names is not None:
        entries["point_names"] = "\n".join(sequence.point_names)
    return entries


def write_npz(sequence: Sequence, path: str | Path) -> None:
    """Write all of a sequence; `read_sequence` returns the same values, bit for bit.

    Parameters
    ----------
    sequence
        the sequence of the tracks.
    path
        the file, which is replaced where it exists.

    Raises
    ------
    InputError
        where the file cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib, core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     core.write_npz(sequence, pathlib.Path(folder, "paper.npz"))
    ...     core.read_sequence(pathlib.Path(folder, "paper.npz"))
    Sequence('paper circle', perspective, 12 frames, 20 points)
    """
    entries = {"format": FORMAT} | entries_of(sequence)
    folder = Path(path).absolute().parent
    if sequence.video is not None and sequence.video.absolute().is_relative_to(folder):
        entries["video"] = sequence.video.absolute().relative_to(folder).as_posix()  # both may be moved
    with replacing(Path(path)) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **entries)


def write_tracks(
    path: str | Path,
    tracks: npt.ArrayLike,
    visible: npt.ArrayLike | None = None,
    *,
    size: tuple[int, int] | None = None,
    intrinsics: npt.ArrayLike | None = None,
    names: Iterable[str] | None = None,
    video: str | Path | None = None,
) -> Sequence:
    """Write the tracks of a point tracker as a sequence that this program opens without a question.

    Frames that show no point and points that fewer than 2 frames show are left out; `provenance` names them.

    Parameters
    ----------
    path
        the file, which ends in `.npz` and is replaced where it exists.
    tracks
        (frames, points, 2), x and y in pixels of the video, NaN where a point is missing; axes of length 1
        before these are dropped. Tensors are copied to the memory of the processor.
    visible
        (frames, points) of True and False, or of 1 and 0: whether a point is seen; the default is wherever
        its track is finite. An axis of length 1 before or after these is dropped.
    size
        width and height of the video in pixels; the middle of the picture follows from it.
    intrinsics
        (3, 3) K of the camera in pixels, where it is known.
    names
        of the points, where they have any.
    video
        the file of the video, which is then shown behind the tracks.

    Returns
    -------
    Sequence
        what was written.

    Raises
    ------
    InputError
        where an array does not have such a shape, or the file cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib, core, numpy as np
    >>> tracks = np.random.default_rng(0).uniform(100, 500, size=(12, 20, 2))
    >>> visible = np.ones((12, 20), dtype=bool)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     core.write_tracks(pathlib.Path(folder, "cloth.npz"), tracks, visible, size=(640, 480))
    Sequence('cloth', perspective, 12 frames, 20 points)
    """
    path = Path(path)
    if path.suffix.lower() != ".npz":
        raise InputError(f"{path}: tracks are written as .npz; accepted is a name with this suffix")
    with naming(path):
        places = _without_unit_axes(_array(tracks, "tracks"), 3)
        if places.ndim != 3 or places.shape[2] != 2:
            shape = _array(tracks, "tracks").shape
            hint = "; of tracks with a depth give [..., :2]" if shape[-1:] == (3,) else ""
            raise InputError(f"tracks have shape {shape}; accepted is one order, (frames, points, 2){hint}")
        finite: Bools = np.asarray(np.isfinite(places).all(axis=2))
        seen = finite if visible is None else _flags(visible, places.shape[:2])
        if size is not None and seen.any() and 0 <= places[seen].min() <= places[seen].max() <= 1:
            raise InputError(
                f"tracks lie between {places[seen].min():.3g} and {places[seen].max():.3g}; accepted are "
                f"pixels: tracks * {size} where they are relative to the picture"
            )
        parts = without_unseen(
            Parts(
                places.transpose(0, 2, 1),
                CameraModel.PERSPECTIVE,
                visible=seen,
                point_names=None if names is None else tuple(names),
            )
        )
        assert parts.visible is not None  # it is given above
        sequence = Sequence(
            parts.tracks,
            parts.visible,
            CameraModel.PERSPECTIVE,
            sequence_name(path),
            intrinsics=None if intrinsics is None else _array(intrinsics, "intrinsics"),
            image_size=size,
            video=None if video is None else Path(video).absolute(),
            point_names=parts.point_names,
            provenance=parts.provenance,
        )
    write_npz(sequence, path)
    return sequence


def _array(value: Any, name: str) -> Floats:
    """Return numbers, or a tensor of them on any device, as an array."""
    for method in ("detach", "cpu"):  # of PyTorch
        value = getattr(value, method, lambda same=value: same)()
    try:
        array: Floats = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} are no array of numbers ({reason(error)})") from None
    return array


def _without_unit_axes(array: Floats, dimensions: int) -> Floats:
    """Return an array without the first axes of length 1 that are too many, such as that of a batch."""
    while array.ndim > dimensions and array.shape[0] == 1:
        array = array[0]
    return array


def _flags(visible: npt.ArrayLike, size: tuple[int, ...]) -> Bools:
    """Return which points (F, P) are visible."""
    given = _array(visible, "visible")
    flags = _without_unit_axes(given[..., 0] if given.ndim > 2 and given.shape[-1] == 1 else given, 2)
    if flags.shape != size:
        hint = ""
        if flags.shape == size[::-1]:
            hint = "; if the points come first, give tracks.swapaxes(0, 1) and visible.T"
        raise InputError(
            f"visible has shape {given.shape}; accepted is {size} with tracks of {(*size, 2)}{hint}"
        )
    if not np.isin(flags, (0, 1)).all():
        raise InputError(
            f"visible holds numbers from {np.nanmin(flags):.3g} to {np.nanmax(flags):.3g}; accepted are True "
            "and False, such as confidence > 0.5"
        )
    seen: Bools = flags != 0
    return seen
