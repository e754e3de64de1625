"""Named arrays, cells and structs of a file, and the checks that every layout makes of them.

Sentences count rows and columns from 1, as MATLAB does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import compress
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from ...data.masks import known_points
from ...data.sequence import GROUND_TRUTH, MIN_FRAMES, MIN_POINTS, CameraModel, checked_intrinsics
from ...foundation.exceptions import InputError
from ...foundation.representation import OneLine
from ...foundation.types import Bools, Floats, Ints
from .reading_options import ReadingOptions

Variables: TypeAlias = dict[str, Any]  # arrays; lists for cells; dicts for structs


@dataclass(frozen=True, eq=False)
class LoadedFile(OneLine):
    """The content of a file, by names, before it is known what each is."""

    path: Path
    content: bytes  # empty for a folder
    variables: Variables  # those that each individual has of its own are a dict by its name
    individuals: tuple[str, ...] = ()  # animals, people or videos, of which one is to be chosen
    columns: tuple[str, ...] = ()  # of a table

    def arrays(self, individual: str = "") -> Variables:
        """Return all variables, those of other individuals than this by names INDIVIDUAL/NAME."""
        found: Variables = {}
        for name, value in self.variables.items():
            own = isinstance(value, dict) and name in self.individuals
            start = "" if name == individual else f"{name}/"
            found |= {f"{start}{key}": each for key, each in value.items()} if own else {name: value}
        return found


@dataclass(frozen=True)
class Layout(OneLine):
    """A layout that is recognized by the names of its variables."""

    summary: str
    matches: Callable[[Variables], object]  # what is true where the variables are of it
    read: Callable[[Variables, Path, ReadingOptions], Parts]


@dataclass(frozen=True, eq=False)
class Parts(OneLine):
    """What a layout makes of a file's variables."""

    tracks: Floats  # (F, 2, P)
    camera: CameraModel
    camera_assumed: bool = False  # whether the file leaves the camera model open
    visible: Bools | None = None  # (F, P); None: wherever the tracks are not NaN
    intrinsics: Floats | None = None  # (3, 3)
    shapes: Floats | None = None  # (F, 3, P) ground truth
    rotations: Floats | None = None  # (F, 3, 3)
    translations: Floats | None = None  # (F, 3)
    edges: Ints | None = None  # (E, 2) from 0
    units: str = "px"
    truth_units: str = "mm"
    truth_name: str = GROUND_TRUTH  # what `shapes` are
    image_size: tuple[int, int] | None = None  # width, height
    point_names: tuple[str, ...] | None = None
    producer: str = ""  # the program whose format it is
    guesses: tuple[str, ...] = ()  # sentences on what the file leaves open
    left_out: tuple[str, ...] = ()  # and on what is not used of it
    provenance: str = ""
    shape: str = "interleaved"  # a key of SHAPES: that of the tracks in the file
    roles: Mapping[str, str] = field(default_factory=dict)  # of the variables in use, the tracks first
    reading: Mapping[str, str] = field(default_factory=dict)  # the reading options in effect

    @property
    def seen(self) -> Bools:
        """(F, P) which points are visible."""
        return known_points(self.tracks) if self.visible is None else self.visible

    @property
    def tracks_name(self) -> str:
        """The variable that holds the tracks."""
        return next(iter(self.roles), "tracks")


def joined(*notes: str) -> str:
    """Return sentences as one, without those that are empty."""
    return "; ".join(filter(None, notes))


def times_size(parts: Parts, size: tuple[int, int], origin: str = "") -> Parts:
    """Return tracks that are relative to the picture in its pixels."""
    scaled = parts.tracks * np.array(size, dtype=np.float64)[:, None]
    note = f"multiplied by the size of the picture {size[0]} x {size[1]}{origin}"
    notes = joined(parts.provenance, note)
    return replace(parts, tracks=scaled, image_size=size, units="px", provenance=notes)


def without_unseen(parts: Parts) -> Parts:
    """Return parts without frames that show no point and points that fewer than 2 frames show.

    No shape can be reconstructed in such a frame, and no depth of such a point. What is given per frame or
    point (truth, cameras, names, edges) follows, and a sentence names what is left out.
    """
    visible = parts.seen
    frames: Bools = np.ones(len(visible), dtype=np.bool_)
    points: Bools = np.ones(visible.shape[1], dtype=np.bool_)
    while True:
        seen, before = visible & frames[:, None] & points, frames.sum() + points.sum()
        frames, points = np.asarray(seen.any(axis=1)), np.asarray(seen.sum(axis=0) >= MIN_FRAMES)
        if frames.sum() + points.sum() == before:
            break
    names = parts.point_names
    too_few = frames.sum() < MIN_FRAMES or points.sum() < MIN_POINTS
    if (frames.all() and points.all()) or too_few or (names is not None and len(names) != len(points)):
        return parts  # what is wrong with it, the sequence says
    notes: list[str] = []
    if not frames.all():
        note = f"frames that show no point are left out: {_listed(~frames)} of {len(frames)}"
        if np.ptp(np.flatnonzero(frames)) >= np.count_nonzero(frames):  # some between others
            note += "; the numbers of those after them no longer equal those of the file"
        notes.append(note)
    if not points.all():
        left_out = _listed(~points) if names is None else ", ".join(compress(names, ~points))
        notes.append(f"points that fewer than 2 frames show are left out: {left_out} of {len(points)}")
    edges = parts.edges
    if edges is not None:
        edges = (np.cumsum(points) - 1)[edges[points[edges].all(axis=1)]]
    return replace(
        parts,
        tracks=parts.tracks[frames][:, :, points],
        visible=visible[np.ix_(frames, points)],
        shapes=None if parts.shapes is None else parts.shapes[frames][:, :, points],
        rotations=None if parts.rotations is None else parts.rotations[frames],
        translations=None if parts.translations is None else parts.translations[frames],
        edges=edges,
        point_names=None if names is None else tuple(compress(names, points)),
        provenance=joined(parts.provenance, *notes),
        left_out=(*parts.left_out, *notes),
    )


def _listed(mask: Bools) -> str:
    """Return the numbers from 1 of what a mask marks, as in "1-10, 57"; the first of many, and how many."""
    numbers = np.flatnonzero(mask) + 1
    runs = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)
    listed = [f"{run[0]}" if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    more = f", ... ({len(numbers)})" if len(listed) > MOST_RUNS else ""
    return ", ".join(listed[:MOST_RUNS]) + more


@dataclass(frozen=True)
class Unread:
    """The mark of a variable whose value is not loaded. `why`: what it is, as sentences have it."""

    why: str


PYTHON_OBJECTS = Unread("Python objects, which are not read")


LARGEST_WHOLE = 2**53  # up to it all whole numbers are exact as floats
MOST_NAMES = 4  # that a sentence lists
MOST_RUNS = 6  # the same
LONGEST_NAME = 24  # characters


def describe(variables: Variables) -> str:
    """Return the names and shapes of variables, as a sentence lists them: the largest where they are many."""
    sizes = {name: np.size(value) if is_array(value) else 0 for name, value in variables.items()}
    largest = sorted(variables, key=lambda name: -sizes[name])[:MOST_NAMES]
    listed = [f"{shortened(name)} {size_of(variables[name])}" for name in sorted(largest)]
    more = len(variables) - len(listed)
    return (", ".join(listed) or "nothing") + (f" and {more} more" if more else "")


def shortened(name: str) -> str:
    """Return a name as sentences have it: short, and without control characters."""
    name = "".join(character if character.isprintable() else "?" for character in name[: LONGEST_NAME + 1])
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."


def size_of(value: Any) -> str:
    """Return the shape of a variable, as sentences have it."""
    if isinstance(value, Unread):
        return value.why
    if isinstance(value, dict):
        names = [shortened(str(name)) for name in list(value)[:MOST_NAMES]]
        return f"struct ({', '.join(names)}{', ...' * (len(value) > MOST_NAMES)})"
    if isinstance(value, list):
        first = f" of {size_of(value[0])}" if value and value[0] is not None else ""
        return f"{len(value)} cells{first}"
    return " x ".join(str(size) for size in np.shape(value)) or "1 number"


def nested_bytes(value: Any, known: dict[int, int]) -> int:
    """Return the bytes of all arrays in lists and dicts, each as often as it is there.

    A small file may name one array a million times.

    `known`: the bytes of values by their identity, which are added to.
    """
    if isinstance(value, np.ndarray):
        return value.nbytes
    if not isinstance(value, list | dict):
        return 0
    if id(value) not in known:
        below = value.values() if isinstance(value, dict) else value
        known[id(value)] = sum(nested_bytes(each, known) for each in below)
    return known[id(value)]


def is_array(value: Any, dimensions: int | None = None) -> TypeGuard[npt.NDArray[Any]]:
    """Return whether a value is an array of numbers, with so many dimensions where they are given."""
    numeric = isinstance(value, np.ndarray) and value.dtype.kind in "biufc"
    return numeric and dimensions in (None, value.ndim)


def numbers(variables: Variables, name: str, *, dimensions: int = 2, missing: bool = False) -> Floats:
    """Return a variable as an array of real numbers, without the axis of a batch.

    `missing`: whether NaN is a missing value.
    """
    if name not in variables:
        raise InputError(f"{shortened(name)} is absent; there are {describe(variables)}")
    value = without_batch(variables[name])
    if not is_array(value, dimensions):
        found = size_of(variables[name])
        raise InputError(f"{name} is {found}; accepted is an array of {dimensions} dimensions")
    array = real_numbers(value, name)
    check_finite(array, name, missing=missing)
    return array


def real_numbers(value: Any, name: str) -> Floats:
    """Return an array of real numbers as floats; NumPy would drop the imaginary parts of others."""
    if not (isinstance(value, np.ndarray) and value.dtype.kind in "biuf"):
        found = "complex numbers" if is_array(value) else size_of(value)
        raise InputError(f"{name} holds {found}; accepted are real ones")
    return np.asarray(value, dtype=np.float64)


def whole_numbers(value: Any, name: str) -> Ints:
    """Return an array of whole numbers, which a file may hold as floats."""
    array = real_numbers(value, name)
    bad = ~(np.abs(array) <= LARGEST_WHOLE) | (array != np.rint(array))
    if bad.any():
        raise InputError(f"{name} holds {array[bad][0]:g}; accepted are whole numbers")
    return array.astype(np.int64)


def check_finite(array: Floats, name: str, *, missing: bool = False) -> None:
    """Refuse infinities, and NaN unless it marks `missing` values."""
    bad = np.isinf(array) if missing else ~np.isfinite(array)
    if bad.any():
        where = tuple(np.argwhere(bad)[0])
        place = ", ".join(str(index + 1) for index in where)
        accepted = "finite numbers, and NaN where a point is missing" if missing else "finite numbers"
        raise InputError(f"{name}({place}) is {array[where]}; accepted are {accepted}")


def check_same_points(first: Floats, second: Floats, names: tuple[str, str]) -> None:
    """Refuse two (F, rows, P) arrays of different numbers of frames or points."""
    one, other = (first.shape[0], first.shape[2]), (second.shape[0], second.shape[2])
    if one != other:
        raise InputError(
            f"{names[0]} has {one[0]} frames of {one[1]} points, {names[1]} has {other[0]} of {other[1]}; "
            "both must agree"
        )


def cells(value: Any, name: str, rows: int, *, missing: bool = False) -> Floats:
    """Return F cells of rows x P as (F, rows, P); `missing`: whether NaN is a missing value."""
    if not isinstance(value, list) or not value:
        raise InputError(f"{name} is {size_of(value)}; accepted are cells of {rows} x points, one per frame")
    for number, cell in enumerate(value, 1):
        if not is_array(cell, 2) or cell.shape[0] != rows or cell.shape != np.shape(value[0]):
            found = "empty" if cell is None else size_of(cell)
            raise InputError(
                f"cell {number} of {name} is {found}; accepted is {rows} x points, all of one size"
            )
    array = real_numbers(np.stack(value), name)
    check_finite(array, name, missing=missing)
    return array


def pixels(shapes: Floats, intrinsics: Floats, name: str) -> Floats:
    """Return the (F, 2, P) projection of shapes (F, 3, P) in camera coordinates, NaN where they are.

    `intrinsics` is (3, 3), or (F, 3, 3) with one for each frame.
    """
    behind: Bools = np.asarray(shapes[:, 2] <= 0)
    if behind.any():
        frame, point = np.argwhere(behind)[0]
        raise InputError(
            f"{name} has depth {shapes[frame, 2, point]:g} at frame {frame + 1}, point {point + 1}; "
            "accepted are points in front of the camera"
        )
    image: Floats = intrinsics @ shapes
    return image[:, :2] / image[:, 2:]


SAME_CAMERA = 1e-3  # of the focal length: largest difference of matrices that are one


def in_one_camera(tracks: Floats, matrices: Floats) -> tuple[Floats, Floats, str]:
    """Put the tracks of frames that have a K each into one camera, which looks where theirs do.

    `tracks`: (F, 2, P); `matrices`: (F, 3, 3), K of each frame. Returns the tracks, the entrywise median of
    the matrices, and a sentence on both; "" where all are the same.
    """
    one: Floats = np.median(matrices, axis=0)
    if np.abs(matrices - one).max() <= SAME_CAMERA * one[0, 0]:
        return tracks, one, ""
    moved = one @ np.linalg.inv(matrices)
    image = moved[:, :, :2] @ tracks + moved[:, :, 2:]
    focal = matrices[:, 0, 0]
    note = f"each frame has a K of its own, f from {focal.min():.5g} to {focal.max():.5g}: the tracks are "
    return image[:, :2] / image[:, 2:], one, note + "put into the median of them"


INTRINSICS = ("K", "KK", "intrinsics", "camera_matrix")


def intrinsics_of(variables: Variables) -> Floats | None:
    """Return the (3, 3) camera matrix of a file with 1 as its last entry; None where it has none."""
    name = intrinsics_name(variables)
    if name is None:
        return None
    # + 0.0 turns the negative zeros that RQ factorizations leave into zeros.
    return checked_intrinsics(numbers(variables, name), name) + 0.0


def intrinsics_name(variables: Variables) -> str | None:
    """Return the name of the variable that holds the camera matrix."""
    for name in INTRINSICS:
        value = variables.get(name)
        if is_array(value, 2) and value.shape == (3, 3):
            return name
    return None


def without_batch(value: Any) -> Any:
    """Return an array of 4 dimensions without a first one of length 1, anything else as it is."""
    return value[0] if isinstance(value, np.ndarray) and value.ndim == 4 and len(value) == 1 else value
